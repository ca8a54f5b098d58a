package propose

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/inferencebench/inferencebench/tuner"
	"github.com/inferencebench/inferencebench/tuner/space"
)

// SourceRules is the source of proposals of Rules.
const SourceRules = "rules"

// Rules proposes moves of knobs that relieve what the analyst found, starting from the best
// configuration so far: one step, two steps, and the first moves of the surest cause
// together. It is safe for concurrent use.
type Rules struct {
	space    *space.Space
	goal     tuner.Goal
	findings Findings
}

// NewRules makes the proposer. findings is asked at each turn.
func NewRules(s *space.Space, goal tuner.Goal, findings Findings) *Rules {
	return &Rules{s, goal, findings}
}

// Name is "rules".
func (*Rules) Name() string { return SourceRules }

// Ask implements tuner.Strategy. It uses no randomness.
func (r *Rules) Ask(_ *rand.Rand, history []tuner.Trial, n int) []tuner.Proposal {
	from, ok := incumbent(r.goal, history)
	if !ok {
		return nil
	}
	seen := tried(history)
	low, high := expectation(r.goal, history, SourceRules)
	var out []tuner.Proposal
	add := func(a space.Assignment, c Cause, what string) {
		p, err := r.space.Point(a)
		if err != nil || !r.space.Feasible(p) || seen[a.Key()] {
			return
		}
		seen[a.Key()] = true
		out = append(out, tuner.Proposal{
			Config: a, Source: SourceRules, Rung: 1,
			Hypothesis: fmt.Sprintf("%s (score %.2f): %s relieves it.", sentence(c.Title), c.Score, what),
			Predicted:  &tuner.Interval{Low: low, High: high},
			Falsifier:  fmt.Sprintf("No gain over the default, or the same finding as before: %s.", c.Title),
		})
	}
	for _, c := range Causes(r.findings(history)) {
		both := maps.Clone(from)
		var words []string
		for _, d := range r.space.Dims {
			if !slices.Contains(d.Relieves, c.Name) && !named(also[c.Name], d.Name) {
				continue
			}
			for i, v := range moves(d, from[d.Name], c.Name) {
				a := maps.Clone(from)
				put(a, d.Name, v)
				if i == 0 && len(words) < 2 && !d.Quality {
					put(both, d.Name, v)
					words = append(words, say(d, from[d.Name], v))
				}
				add(a, c, say(d, from[d.Name], v))
			}
		}
		if len(words) == 2 {
			add(both, c, strings.Join(words, " and "))
		}
	}
	return out[:min(n, len(out))]
}

func put(a space.Assignment, name, value string) {
	if value == "" {
		delete(a, name)
		return
	}
	a[name] = value
}

func say(d space.Dim, from, to string) string {
	words := func(v string) string {
		switch {
		case v != "":
			return v
		case d.Unset != "":
			return d.Unset
		}
		return "the server's own choice"
	}
	return fmt.Sprintf("%s %s in place of %s", d.Name, words(to), words(from))
}

func sentence(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// moves are the values of a knob to try against a cause, nearest first.
func moves(d space.Dim, now, cause string) []string {
	at := slices.Index(d.Values, now)
	if at < 0 {
		return nil
	}
	if !d.Ordered {
		var out []string
		for _, v := range d.Values {
			if v != "" && v != now && !backwards(d.Name, v) {
				out = append(out, v)
			}
		}
		return out
	}
	if now == "" && d.Unset == "" { // where unset stands is not known: try the middle and around
		var real []string
		for _, v := range d.Values {
			if v != "" {
				real = append(real, v)
			}
		}
		mid := len(real) / 2
		switch direction(cause, d.Name) {
		case +1:
			return real[mid:]
		case -1:
			down := slices.Clone(real[:mid])
			slices.Reverse(down)
			return down
		}
		return real[mid : mid+1]
	}
	var out []string
	for step := 1; step <= 2; step++ {
		for _, way := range []int{+1, -1} {
			if dir := direction(cause, d.Name); dir != 0 && dir != way {
				continue
			}
			if i := at + way*step; i >= 0 && i < len(d.Values) {
				out = append(out, d.Values[i])
			}
		}
	}
	return out
}

// backwards reports whether a switch's value turns off what helps.
func backwards(name, value string) bool {
	negative := strings.Contains(name, "disable") || strings.Contains(name, "enforce-eager")
	off, on := value == "false" || value == "off", value == "true" || value == "on"
	return off && !negative || on && negative
}

// also lists parts of the names of knobs that relieve a cause as a side effect, beside those
// that say so: fewer requests at once stop a full cache from thrashing.
var also = map[string][]string{
	"kv_capacity": {"max-num-seqs", "max-running-requests"},
}

// lower lists, for each cause, parts of the names of numeric knobs that relieve it when they
// are turned down. All others are turned up, but for those of either.
var lower = map[string][]string{
	"kv_capacity":  {"max-num-seqs", "max-model-len", "context-length", "max-running-requests"},
	"interference": {"batched-tokens", "chunked-prefill-size", "ubatch-size", "prefill-max-requests", "max-prefill"},
	"prefix_reuse": {"block-size", "page-size", "slot-prompt-similarity"},
	"overload":     {"queued"},
	"spec_decode":  {"spec", "draft"},
	"batch_cap":    {"conservativeness"},
}

// either lists parts of names of knobs whose best side depends on the machine.
var either = []string{"threads", "watermark", "long-prefill"}

// direction is +1 where a numeric knob relieves a cause when turned up, -1 when turned down,
// and 0 where either may help.
func direction(cause, knob string) int {
	switch {
	case named(lower[cause], knob):
		return -1
	case named(either, knob):
		return 0
	}
	return +1
}

func named(parts []string, knob string) bool {
	return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(knob, p) })
}
