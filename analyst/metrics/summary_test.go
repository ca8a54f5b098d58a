package metrics

import "testing"

// A mean has an interval only where the sample supports one, and never one that reaches
// below 0 for values that cannot.
func TestMeanInterval(t *testing.T) {
	for _, tc := range []struct {
		what   string
		values []float64
		want   bool
	}{
		{"three observations are too few", []float64{500, 2000, 3900}, false},
		{"one wild value among six would take the interval below 0", []float64{1, 900, 1, 1, 1, 1}, false},
		{"eight observations that agree are enough", []float64{10, 12, 10, 12, 10, 12, 10, 12}, true},
	} {
		m := Describe(Def{ID: "e2e"}, "", tc.values, 0).Stats["mean"]
		if !m.Value.Known() || m.Low.Known() != tc.want || m.High.Known() != tc.want || (m.Reason == "") != tc.want {
			t.Errorf("%s: got %+v; want an interval: %v", tc.what, m, tc.want)
		}
	}
}
