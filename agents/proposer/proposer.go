// Package proposer asks a model for configurations that a tuning study should measure.
//
// The model sees a digest: the settings that may change, what limits the server, and the
// trials so far. It answers with settings, a hypothesis, an interval of the gain and a
// falsifier, all checked here against what the study allows. It has no other say: whether a
// proposal is worth a trial, and what came of it, is decided elsewhere.
package proposer

import (
	"context"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strings"
	"unicode"

	"github.com/inferencebench/inferencebench/agents/llm"
	"github.com/inferencebench/inferencebench/prompts"
)

// Role is the role of the calls in a transcript.
const Role = "proposer"

// Setting is one thing that may change.
type Setting struct {
	Name   string
	Values []string // as typed; never empty
	Now    string   // what the server runs with when it is left out, "" where not known
	Effect string
}

// Input is what the model is told.
type Input struct {
	Goal     string
	Limits   []string
	Settings []Setting
	Findings string // one a line
	History  string // one trial a line
	Want     int    // most proposals, 1 to 5; 0 is 3
}

// Suggestion is a proposal whose settings are allowed. Its texts are bounded, printable
// and a single line; they come from outside all the same.
type Suggestion struct {
	Settings   map[string]string
	Hypothesis string
	Low, High  float64 // of the gain over the default, as fractions
	Falsifier  string
}

// Proposer asks one model. Caller is required. It is safe for concurrent use.
type Proposer struct {
	Caller *llm.Caller
	// Secrets are removed from all that the model is told and that it says.
	Secrets []string
}

// answer is what the prompt's schema describes.
type answer struct {
	Proposals []struct {
		Settings   map[string]string `json:"settings"`
		Hypothesis string            `json:"hypothesis"`
		Low        float64           `json:"gain_low"`
		High       float64           `json:"gain_high"`
		Falsifier  string            `json:"falsifier"`
	} `json:"proposals"`
}

// Bounds of what a gain may be said to be.
const (
	leastGain = -1
	mostGain  = 20
)

// Suggest asks for proposals. allow says what is wrong with settings, or nil; the model gets
// one chance to mend what it objects to, and what it objects to then is dropped. The error
// is that of the call, or says that nothing was left.
func (p *Proposer) Suggest(ctx context.Context, in Input, allow func(map[string]string) error) ([]Suggestion, error) {
	prompt, err := prompts.Propose()
	if err != nil {
		return nil, err
	}
	if in.Want < 1 || in.Want > 5 {
		in.Want = 3
	}
	var got answer
	var out []Suggestion
	attempt := 0
	err = p.Caller.Ask(ctx, Role, prompt, map[string]any{
		"Goal": p.clean(in.Goal), "Limits": p.clean(limits(in.Limits)), "Space": p.clean(list(in.Settings)), "Want": in.Want,
		"Findings": prompts.Data{Label: "findings", Text: p.clean(orNone(in.Findings)), Max: 4000},
		"History":  prompts.Data{Label: "trials", Text: p.clean(orNone(in.History)), Max: 9000},
	}, &got, func() error {
		attempt++
		out = out[:0]
		var wrong []error
		for i, c := range got.Proposals {
			if err := check(c.Settings, c.Low, c.High, c.Hypothesis, c.Falsifier, allow); err != nil {
				wrong = append(wrong, fmt.Errorf("proposal %d: %w", i+1, err))
				continue
			}
			if len(out) < in.Want {
				out = append(out, Suggestion{c.Settings, p.line(c.Hypothesis, 400), c.Low, c.High, p.line(c.Falsifier, 300)})
			}
		}
		got = answer{} // a repair starts from nothing
		if len(wrong) > 0 && (attempt == 1 || len(out) == 0) {
			return errors.Join(wrong...)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func check(settings map[string]string, low, high float64, hypothesis, falsifier string, allow func(map[string]string) error) error {
	switch {
	case len(settings) == 0:
		return errors.New("it changes nothing")
	case math.IsNaN(low) || math.IsNaN(high) || low > high || low < leastGain || high > mostGain:
		return fmt.Errorf("the gain from %g to %g is no interval between %d and %d", low, high, leastGain, mostGain)
	case strings.TrimSpace(hypothesis) == "" || strings.TrimSpace(falsifier) == "":
		return errors.New("it lacks a hypothesis or a falsifier")
	}
	return allow(settings)
}

// tokens look like keys of the providers that are known; they go even where nobody named
// them as secrets.
var tokens = regexp.MustCompile(`(?i)\b(bearer\s+[a-z0-9._~+/=-]{8,}|(sk|hf|gsk|xai|ghp|glpat|AIza|nvapi)[-_][a-z0-9_-]{8,})`)

const removed = "[removed]"

// clean removes secrets.
func (p *Proposer) clean(s string) string {
	for _, x := range p.Secrets {
		if len(x) >= 4 {
			s = strings.ReplaceAll(s, x, removed)
		}
	}
	return tokens.ReplaceAllString(s, removed)
}

// line is a model's text as one printable line of at most n bytes.
func (p *Proposer) line(s string, n int) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, ""))
	s = p.clean(strings.Join(strings.Fields(s), " "))
	if len(s) > n {
		s = strings.ToValidUTF8(s[:n], "") + "…"
	}
	return s
}

func list(settings []Setting) string {
	var b strings.Builder
	for _, k := range settings {
		fmt.Fprintf(&b, "- %s: one of %s", k.Name, strings.Join(k.Values, ", "))
		if k.Now != "" {
			fmt.Fprintf(&b, "; now %s", k.Now)
		}
		if k.Effect != "" {
			fmt.Fprintf(&b, ". %s", k.Effect)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func limits(l []string) string {
	if len(l) == 0 {
		return "none"
	}
	return strings.Join(l, "; ")
}

func orNone(s string) string {
	if strings.TrimSpace(s) == "" {
		return "none"
	}
	return s
}
