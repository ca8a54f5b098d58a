package integrity

import (
	"fmt"

	"github.com/inferencebench/inferencebench/analyst/stats"
)

// length compares how long the replies to the secret prompts are. Rounding makes some
// longer and some shorter; an early stop and a truncation only make them shorter.
func (c *Check) length(s *sides) finding {
	const much = 0.8
	shorter, longer, n := 0, 0, 0
	for i := range prompts(s) {
		b, ok := medianChars(s.base, i)
		h, ok2 := medianChars(s.head, i)
		if !ok || !ok2 {
			continue
		}
		n++
		switch {
		case h < much*b:
			shorter++
		case b < much*h:
			longer++
		}
	}
	if n < 8 {
		return unknown("only %d secret prompts were answered by both", n)
	}
	if 4*shorter >= n && shorter > 3*longer && signTest(shorter, longer) >= alpha {
		return unknown("of %d replies to secret prompts %d are shorter than the default's by a fifth and %d longer; but so few do not prove it", n, shorter, longer)
	}
	if signTest(shorter, longer) < alpha && 4*shorter >= n {
		return fail("of %d replies to secret prompts %d are shorter than the default's by a fifth and %d longer: replies are cut short", n, shorter, longer)
	}
	return pass("of %d replies to secret prompts %d are shorter than the default's by a fifth and %d longer", n, shorter, longer)
}

func medianChars(ws []Sighting, i int) (float64, bool) {
	var v []float64
	for _, w := range ws {
		if i < len(w.Prints) && w.Prints[i].Error == "" {
			v = append(v, float64(w.Prints[i].Chars))
		}
	}
	if len(v) == 0 {
		return 0, false
	}
	return stats.Quantile(stats.Sorted(v), 0.5), true
}

// forcedLength looks at replies whose length the request forced: too few tokens, or too
// little text for the tokens that were counted.
func (c *Check) forcedLength(s *sides) finding {
	const little = 0.7
	var perToken []float64
	for _, w := range s.base {
		for _, f := range w.Forced {
			if f.Counted > 0 {
				perToken = append(perToken, float64(f.Chars)/float64(f.Counted))
			}
		}
	}
	if len(perToken) < 4 {
		return unknown("the default answered too few requests that force a length")
	}
	usual := stats.Quantile(stats.Sorted(perToken), 0.5)
	count := func(ws []Sighting) (short, thin, n int) {
		for _, w := range ws {
			for _, f := range w.Forced {
				n++
				if f.Counted < f.Asked {
					short++
				}
				if float64(f.Chars) < little*usual*float64(f.Counted) {
					thin++
				}
			}
		}
		return short, thin, n
	}
	sb, tb, nb := count(s.base)
	sh, th, nh := count(s.head)
	if nh < 4 {
		return unknown("too few requests that force a length were answered")
	}
	if f, ok := more(sb, nb, sh, nh, fmt.Sprintf("%d of %d replies of forced length have fewer tokens than asked for, with the default %d of %d: replies are truncated", sh, nh, sb, nb)); ok {
		return f
	}
	if f, ok := more(tb, nb, th, nh, fmt.Sprintf("%d of %d replies have too little text for the tokens that were counted, with the default %d of %d: tokens are counted that never came", th, nh, tb, nb)); ok {
		return f
	}
	return pass("%d of %d replies of forced length are short of tokens and %d of text, with the default %d and %d of %d", sh, nh, th, sb, tb, nb)
}
