package integrity

import (
	"encoding/json"
	"fmt"

	"github.com/inferencebench/inferencebench/analyst/roofline"
	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/tuner"
	"github.com/inferencebench/inferencebench/tuner/space"
)

// CheckConfig is what a Check knows beside the trials. The zero value checks everything
// but physics.
type CheckConfig struct {
	// CacheKnobs are the knobs that may change prefix reuse. Where a challenger sets one, reuse
	// that the server owns up to is what was asked for.
	CacheKnobs []string
	// Setup is device and model under an assignment, as favourable as the assignment
	// allows; ok is false where they are not known. nil knows none. See [Lenient].
	Setup func(space.Assignment) (setup roofline.Setup, ok bool)
}

// Check judges sightings. It implements tuner.Check.
type Check struct{ c CheckConfig }

// NewCheck makes a check.
func NewCheck(c CheckConfig) *Check { return &Check{c} }

// Name implements tuner.Check.
func (c *Check) Name() string { return Name }

// sides are the sightings and assignments of baseline and challenger.
type sides struct {
	base, head []Sighting
	// config is the challenger's, baseConfig the default's.
	config, baseConfig space.Assignment
}

// inquiry is one thing that a check asks.
type inquiry struct {
	name string
	ask  func(*Check, *sides) finding
}

// finding is an answer: passed, failed or unknown, and a sentence.
type finding struct {
	passed archive.Opt[bool]
	text   string
}

func pass(format string, args ...any) finding {
	return finding{archive.Some(true), fmt.Sprintf(format, args...)}
}
func fail(format string, args ...any) finding {
	return finding{archive.Some(false), fmt.Sprintf(format, args...)}
}
func unknown(format string, args ...any) finding {
	return finding{text: fmt.Sprintf(format, args...)}
}

var inquiries = [...]inquiry{
	{"model", (*Check).model},
	{"canned", (*Check).canned},
	{"memory", (*Check).memory},
	{"length", (*Check).length},
	{"forced_length", (*Check).forcedLength},
	{"system_prompt", (*Check).systemPrompt},
	{"prefix_reuse", (*Check).prefixReuse},
	{"own_work", (*Check).ownWork},
	{"identity", (*Check).identity},
	{"physics", (*Check).physics},
}

// Judge implements tuner.Check: one verdict a question on what observers saw, and two on
// the runs of the trials themselves.
func (c *Check) Judge(baseline, challenger []tuner.Trial) []tuner.Verdict {
	out := c.runs(baseline, challenger)
	add := func(name string, f finding) {
		out = append(out, tuner.Verdict{Check: Name + "/" + name, Passed: f.passed, Message: f.text})
	}
	s := sides{base: sightings(baseline), head: sightings(challenger)}
	if len(baseline) > 0 {
		s.baseConfig = baseline[0].Config
	}
	if len(challenger) > 0 {
		s.config = challenger[len(challenger)-1].Config
	}
	if len(s.base) == 0 || len(s.head) == 0 {
		who := "the default"
		if len(s.base) > 0 {
			who = "this configuration"
		}
		add("observed", unknown("nothing was seen of %s on the live server, so its replies could not be compared", who))
		return out
	}
	for _, q := range inquiries {
		add(q.name, q.ask(c, &s))
	}
	return out
}

// sightings are what observers saw in trials. What cannot be read was not seen.
func sightings(trials []tuner.Trial) []Sighting {
	var out []Sighting
	for _, t := range trials {
		raw, ok := t.Observed[Name]
		var s Sighting
		if ok && json.Unmarshal(raw, &s) == nil && s.Error == "" && len(s.Prints) > 0 {
			out = append(out, s)
		}
	}
	return out
}

// The sizes of an error of the first kind. A check asks ten questions of a challenger; the
// exact tests are conservative, and a difference must be large besides.
const alpha = 1e-3

// more compares shares of two samples, k1 of n1 of the default's and k2 of n2 of the
// challenger's: fail where the second is larger by more than chance explains and makes up
// over half, unknown where it looks so and the samples are too small to be sure, and
// otherwise nothing.
func more(k1, n1, k2, n2 int, what string) (finding, bool) {
	if 2*k2 <= n2 || float64(k2)/float64(n2) < float64(k1)/float64(n1)+0.4 {
		return finding{}, false
	}
	if fisherMore(k1, n1, k2, n2) < alpha {
		return fail("%s", what), true
	}
	return unknown("%s; but so few observations do not prove it", what), true
}
