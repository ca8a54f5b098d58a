package stats

// mostItems bounds what LeastItems looks for.
const mostItems = 1 << 20

// LeastItems is how many items a gate of this margin needs to pass at best: when the
// candidate answers every one as the baseline did. It is 0 for a margin that no number of
// items below a million shows.
func LeastItems(margin float64) int {
	s := NewSequence(margin)
	for n := 1; n <= mostItems; n++ {
		s.Add(1, 1)
		if s.PassValue() >= Threshold {
			return n
		}
	}
	return 0
}
