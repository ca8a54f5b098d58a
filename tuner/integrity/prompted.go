package integrity

import (
	"fmt"
	"strings"
)

// systemPrompt looks at what system messages do: a word that they demand, whether replies
// depend on them at all, and whether the server counts their tokens.
func (c *Check) systemPrompt(s *sides) finding {
	const (
		weak    = 0.3  // below this share the default itself does not follow
		dropped = 0.75 // of the default's prompt tokens a character
	)
	sum := func(ws []Sighting) (obeyed, asked, deaf, pairs int, prompt float64) {
		k := 0
		for _, w := range ws {
			obeyed, asked = obeyed+w.Canary.Obeyed, asked+w.Canary.Asked
			deaf, pairs = deaf+w.Canary.Deaf, pairs+w.Canary.Pairs
			if w.Canary.Prompt > 0 {
				prompt += w.Canary.Prompt
				k++
			}
		}
		return obeyed, asked, deaf, pairs, prompt / float64(max(k, 1))
	}
	ob, nb, db, pb, tb := sum(s.base)
	oh, nh, dh, ph, th := sum(s.head)
	if nb < 4 || nh < 4 {
		return unknown("too few requests with a system message were answered")
	}
	if tb > 0 && th > 0 && th < dropped*tb {
		return fail("the server counts %.0f %% of the prompt tokens that it counts with the default for the same text: part of the prompt is dropped", 100*th/tb)
	}
	if f, ok := more(db, pb, dh, ph, fmt.Sprintf("%d of %d questions got the same reply under two system messages, with the default %d of %d: system messages are dropped", dh, ph, db, pb)); ok {
		return f
	}
	// Not obeying is counted, so that the test is of more of it.
	if f, ok := more(nb-ob, nb, nh-oh, nh, fmt.Sprintf("%d of %d replies follow the system message, with the default %d of %d: system messages are dropped", oh, nh, ob, nb)); ok {
		return f
	}
	if float64(ob) < weak*float64(nb) && tb == 0 && 2*db > pb {
		return unknown("the default follows system messages in %d of %d replies and counts no prompt tokens, so their loss would not show", ob, nb)
	}
	return pass("%d of %d replies follow the system message, with the default %d of %d", oh, nh, ob, nb)
}

// prefixReuse looks for reuse of prefixes that settings and counters deny.
func (c *Check) prefixReuse(s *sides) finding {
	const much = 0.75 // of the time to first token without reuse
	gather := func(ws []Sighting) (p Prefix) {
		p.Cached, p.Hits = -1, -1
		for _, w := range ws {
			p.Cold, p.Warm = append(p.Cold, w.Prefix.Cold...), append(p.Warm, w.Prefix.Warm...)
			if w.Prefix.Cached >= 0 {
				p.Cached = max(p.Cached, 0) + w.Prefix.Cached
			}
			if w.Prefix.Hits >= 0 {
				p.Hits = max(p.Hits, 0) + w.Prefix.Hits
			}
			p.Claim = w.Prefix.Claim
		}
		return p
	}
	b, h := gather(s.base), gather(s.head)
	if len(h.Cold) < 4 || len(h.Warm) < 4 {
		return unknown("too few long prompts were answered")
	}
	ratio := middle(h.Warm) / middle(h.Cold)
	if !reuses(h, much) {
		return pass("a prefix sent again takes %.0f %% of the time to first token of a new one", 100*ratio)
	}
	owned := h.Cached > 0 || h.Hits > 0
	denied := h.Claim == "off" || !owned && (h.Cached == 0 || h.Hits == 0)
	switch {
	case denied:
		return fail("a prefix sent again takes %.0f %% of the time to first token of a new one, while the server %s: a cache is hidden", 100*ratio, denial(h))
	case owned || h.Claim == "on":
		return pass("a prefix sent again takes %.0f %% of the time to first token of a new one, and the server says that it reuses prefixes", 100*ratio)
	case reuses(b, much):
		return pass("a prefix sent again takes %.0f %% of the time to first token of a new one, as with the default", 100*ratio)
	}
	for _, k := range c.c.CacheKnobs {
		if _, set := s.config[k]; set {
			return pass("a prefix sent again takes %.0f %% of the time to first token of a new one, as %s asks for", 100*ratio, k)
		}
	}
	return fail("a prefix sent again takes %.0f %% of the time to first token of a new one, which the default does not do and no setting asks for: a cache is hidden", 100*ratio)
}

// alphaReuse is what the smallest plan can reach: that all of four are faster than all of
// four others. Reuse alone is no fault; what is one is its denial.
const alphaReuse = 0.015

// reuses reports whether warm prompts are faster, by more than chance explains.
func reuses(p Prefix, much float64) bool {
	if len(p.Cold) < 4 || len(p.Warm) < 4 || middle(p.Warm) >= much*middle(p.Cold) {
		return false
	}
	return rankSum(p.Warm, p.Cold) < alphaReuse
}

func denial(p Prefix) string {
	var says []string
	if p.Claim == "off" {
		says = append(says, "says that prefix caching is off")
	}
	if p.Cached == 0 {
		says = append(says, "reports no cached tokens")
	}
	if p.Hits == 0 {
		says = append(says, "counts no hits")
	}
	return strings.Join(says, " and ")
}
