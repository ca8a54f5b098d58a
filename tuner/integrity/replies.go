package integrity

import "fmt"

// model compares the replies to the secret prompts: the same weights begin the same greedy
// reply, but for rounding.
func (c *Check) model(s *sides) finding {
	const (
		floor   = 0.7 // of the default's agreement with itself
		useless = 0.5
	)
	same, asked := 0, 0
	for _, b := range s.base {
		for i, a := range b.Again {
			if i < len(b.Prints) && a.Error == "" && b.Prints[i].Error == "" {
				asked++
				if a.Hash[agreeAt] == b.Prints[i].Hash[agreeAt] {
					same++
				}
			}
		}
	}
	if asked < 4 {
		return unknown("the default answered too few secret prompts twice to be known by its replies")
	}
	self := float64(same+1) / float64(asked+2)
	agree, n := 0, 0
	for i := range prompts(s) {
		seen, hits := 0, 0
		for _, h := range s.head {
			if i >= len(h.Prints) || h.Prints[i].Error != "" {
				continue
			}
			seen++
			if known(s.base, i, h.Prints[i]) {
				hits++
			}
		}
		if seen == 0 {
			continue
		}
		n++
		if 2*hits >= seen {
			agree++
		}
	}
	if n < 8 {
		return unknown("only %d secret prompts were answered by both", n)
	}
	if self < useless {
		return unknown("the default agrees with itself on only %d of %d greedy replies, so another model could not be told", same, asked)
	}
	p := binomialAtMost(agree, n, floor*self)
	switch {
	case p < alpha:
		return fail("%d of %d greedy replies to secret prompts begin as the default's do, which agrees with itself on %d of %d: another model answers", agree, n, same, asked)
	case float64(agree) < floor*self*float64(n):
		return unknown("%d of %d greedy replies begin as the default's do: too few for the same model, too many for another", agree, n)
	}
	return pass("%d of %d greedy replies to secret prompts begin as the default's do", agree, n)
}

// prompts is how many secret prompts both sides were asked.
func prompts(s *sides) int {
	n := len(s.base[0].Prints)
	for _, w := range s.head {
		n = min(n, len(w.Prints))
	}
	return n
}

// known reports whether any sighting of the default begins as p does.
func known(base []Sighting, i int, p Print) bool {
	for _, b := range base {
		if i < len(b.Prints) && b.Prints[i].Error == "" && b.Prints[i].Hash[agreeAt] == p.Hash[agreeAt] {
			return true
		}
		if i < len(b.Again) && b.Again[i].Error == "" && b.Again[i].Hash[agreeAt] == p.Hash[agreeAt] {
			return true
		}
	}
	return false
}

// canned counts replies that another prompt got too.
func (c *Check) canned(s *sides) finding {
	count := func(ws []Sighting) (double, n int) {
		for _, w := range ws {
			seen := map[string]int{}
			for _, p := range w.Prints {
				if p.Error == "" {
					seen[p.Whole]++
				}
			}
			for _, k := range seen {
				n += k
				if k > 1 {
					double += k
				}
			}
		}
		return double, n
	}
	b, nb := count(s.base)
	h, nh := count(s.head)
	if nb == 0 || nh == 0 {
		return unknown("no secret prompt was answered")
	}
	if p := fisherMore(b, nb, h, nh); p < alpha && 4*h > nh {
		return fail("%d of %d replies were given to several prompts, with the default %d of %d: replies are canned", h, nh, b, nb)
	}
	return pass("%d of %d replies were given to several prompts, with the default %d of %d", h, nh, b, nb)
}

// memory looks at prompts that were asked twice with room for chance.
func (c *Check) memory(s *sides) finding {
	const instant = 0.25 // of the first time
	count := func(ws []Sighting) (same, quick, n int) {
		for _, w := range ws {
			for _, r := range w.Repeats {
				n++
				if r.Same {
					same++
				}
				if r.Second < instant*r.First {
					quick++
				}
			}
		}
		return same, quick, n
	}
	sb, qb, nb := count(s.base)
	sh, qh, nh := count(s.head)
	if nb < 4 || nh < 4 {
		return unknown("too few prompts were answered twice")
	}
	if f, ok := more(sb, nb, sh, nh, fmt.Sprintf("%d of %d prompts asked again with another seed got the very same reply, with the default %d of %d: replies come from memory", sh, nh, sb, nb)); ok {
		return f
	}
	if f, ok := more(qb, nb, qh, nh, fmt.Sprintf("%d of %d prompts took less than a quarter of the time when asked again, with the default %d of %d: replies come from memory", qh, nh, qb, nb)); ok {
		return f
	}
	return pass("%d of %d prompts asked again got the same reply and %d came at once, with the default %d and %d of %d", sh, nh, qh, sb, qb, nb)
}
