package report

import (
	"fmt"

	"github.com/inferencebench/inferencebench/analyst/compare"
)

// tolerance is how small a change is called the same.
const tolerance = 0.03

// Tested compares every run with the first by package compare and words the differences
// for CompareHTML. What the data cannot support is left out. The error is one of reading
// the records.
func Tested(runs []Compared) ([]Difference, error) {
	samples := make([]*compare.Sample, len(runs))
	for i, r := range runs {
		s, err := compare.Collect(r.Run)
		if err != nil {
			return nil, fmt.Errorf("report: %w", err)
		}
		samples[i] = s
	}
	var out []Difference
	for i := 1; i < len(samples); i++ {
		for _, d := range compare.Compare(samples[0], samples[i]) {
			text := fmt.Sprintf("%s [%s, %s]", signed(d.Change), signed(d.Low), signed(d.High))
			out = append(out, Difference{Metric: d.Metric, Stat: d.Stat, Run: i, Text: text, Verdict: d.Verdict(tolerance), Method: d.Method})
		}
	}
	return out, nil
}

// signed writes a relative change as a percentage with its sign.
func signed(v float64) string {
	p := 100 * v
	dec := 1
	if p >= 100 || p <= -100 {
		dec = 0
	}
	s := fmt.Sprintf("%+.*f%%", dec, p)
	if p < 0 {
		s = "−" + s[1:]
	}
	return s
}
