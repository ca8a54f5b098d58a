package tasks

import (
	"errors"
	"fmt"
	"math"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/tasks/prose"
	"github.com/inferencebench/inferencebench/tasks/token"
)

// Options configure [NewGenerator]. The zero Options are a general assistant's mix of
// single-turn English requests of natural length.
type Options struct {
	// Seed makes the plan: kinds, lengths, turns, pauses and texts.
	Seed uint64
	// Salt goes into the nonces and into nothing else. A run that passes its own id gets
	// the same plan as another run of the same seed, but no prompt that the other's
	// prefix cache could hold.
	Salt string
	// ReusePrompts leaves the nonces out, so that a second run of the same seed repeats
	// the prompts of the first.
	ReusePrompts bool

	// Mix are the task kinds; [DefaultMix] when empty.
	Mix []Share
	// Langs are languages and their weights; English alone when empty.
	Langs []LangShare
	// Structure is the share of prompts, 0 to 1, whose material is of an awkward kind:
	// tables, code, formulas, JSON, odd white space, repeated lines, pictographs.
	Structure float64

	// ISL is the length of a session's first prompt in tokens: system message, user
	// message and chat template together. When not given, prompts have the natural
	// length of their task, log-normal with a median of 100 tokens (mu 4.6, sigma 0.9).
	ISL Length
	// OSL is the output limit of every turn in tokens. When not given, no limit is set.
	OSL Length
	// Correlation, −1 to 1, couples the ranks of a first turn's ISL and OSL.
	Correlation float64
	// IgnoreEOS asks the server for exactly OSL tokens.
	IgnoreEOS bool
	// Turns is how many turns a session has; 1 when not given.
	Turns Length
	// FollowUp is the length of a later user message alone, in tokens; log-normal with a
	// median of 67 tokens (mu 4.2, sigma 1.1, within 12 and 2,000) when not given.
	FollowUp Length
	// Think is the pause before every later turn.
	Think Pause
	// SharedPrefixTokens is the length of a system message that all sessions share; 0
	// sends no system message.
	SharedPrefixTokens int

	// Temperature is sent with every turn; unknown leaves it to the server.
	Temperature archive.Opt[float64]

	// Counter counts tokens; [token.Estimator] when nil.
	Counter token.Counter
	// TemplateTokens is what the chat template adds to a first prompt, and half of it to
	// each later turn; [DefaultTemplateTokens] when 0, nothing when negative.
	TemplateTokens int
}

// LangShare is the weight of one language.
type LangShare struct {
	Lang   prose.Lang
	Weight float64
}

// DefaultTemplateTokens is the allowance for the chat template of a first prompt: role
// marks, separators and the generation prompt.
const DefaultTemplateTokens = 8

// Validate reports everything that is wrong with the options, joined.
func (o *Options) Validate() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	for _, s := range o.Mix {
		if lookupKind(s.Task) == nil {
			bad("mix: no task kind is called %q; use one of %v", s.Task, Kinds())
		}
		if !(s.Weight > 0) || math.IsInf(s.Weight, 0) {
			bad("mix: the weight of %s is %g; it must be above 0", s.Task, s.Weight)
		}
	}
	for _, l := range o.Langs {
		if l.Lang != prose.English && l.Lang != prose.Chinese {
			bad("languages: %q is not one of %v", l.Lang, prose.Langs())
		}
		if !(l.Weight > 0) || math.IsInf(l.Weight, 0) {
			bad("languages: the weight of %s is %g; it must be above 0", l.Lang, l.Weight)
		}
	}
	if !(o.Structure >= 0 && o.Structure <= 1) {
		bad("structure is %g; it is a share from 0 to 1", o.Structure)
	}
	if !(o.Correlation >= -1 && o.Correlation <= 1) {
		bad("correlation is %g; it is between -1 and 1", o.Correlation)
	}
	if o.SharedPrefixTokens < 0 || o.SharedPrefixTokens > maxLength {
		bad("shared prefix is %d tokens; it is between 0 and %d", o.SharedPrefixTokens, maxLength)
	}
	if o.IgnoreEOS && !o.OSL.Given() {
		bad("ignore_eos needs an output length; give osl")
	}
	for _, l := range []struct {
		name string
		Length
	}{{"isl", o.ISL}, {"osl", o.OSL}, {"turns", o.Turns}, {"follow-up", o.FollowUp}} {
		if l.shape == shapeTable {
			if err := l.table.Validate(); err != nil {
				bad("%s: %w", l.name, err)
			}
		}
	}
	return errors.Join(errs...)
}
