package stats

import "testing"

// The least number of items passes a gate where all answers agree, and one item less does not.
func TestLeastItems(t *testing.T) {
	for _, margin := range []float64{0.02, 0.05, 0.2} {
		n := LeastItems(margin)
		if n < 2 {
			t.Fatalf("margin %g: %d items", margin, n)
		}
		for _, c := range []struct {
			items int
			want  GateVerdict
		}{{n, GatePass}, {n - 1, GateUndecided}} {
			s := NewSequence(margin)
			for range c.items {
				s.Add(1, 1)
			}
			if got := s.Result().Verdict; got != c.want {
				t.Errorf("margin %g with %d items: %s, want %s", margin, c.items, got, c.want)
			}
		}
	}
}
