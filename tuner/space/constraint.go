package space

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/inferencebench/inferencebench/sim"
)

// Lookup returns what a knob is under an assignment: the value set, or else what unset
// means. It is not known where neither is.
type Lookup func(a Assignment, knob string) (string, bool)

// Value looks a knob up in the space: its value under the assignment, or what unset means.
// Knobs that are no part of the space are not known.
func (s *Space) Value(a Assignment, knob string) (string, bool) {
	if v, ok := a[knob]; ok {
		return v, true
	}
	i := slices.IndexFunc(s.Dims, func(d Dim) bool { return d.Name == knob })
	if i < 0 || s.Dims[i].Unset == "" {
		return "", false
	}
	return s.Dims[i].Unset, true
}

func (l Lookup) number(a Assignment, knob string) (float64, bool) {
	v, ok := l(a, knob)
	if !ok {
		return 0, false
	}
	f, err := strconv.ParseFloat(v, 64)
	return f, err == nil
}

// AtLeast demands that one number is not below another, such as the tokens of a step not
// below the sequences. Where either is not known it demands nothing.
func AtLeast(look Lookup, big, small string) Constraint {
	return Constraint{Name: big + " ≥ " + small, Check: func(a Assignment) error {
		b, bok := look.number(a, big)
		s, sok := look.number(a, small)
		if bok && sok && b < s {
			return fmt.Errorf("%s is %g and must be at least %s, which is %g", big, b, small, s)
		}
		return nil
	}}
}

// Divides demands that a knob's number divides a fixed one, such as the tensor-parallel size
// the attention heads. Where it is not known it demands nothing.
func Divides(look Lookup, knob string, n int, of string) Constraint {
	return Constraint{Name: knob + " divides " + of, Check: func(a Assignment) error {
		v, ok := look.number(a, knob)
		if !ok {
			return nil
		}
		if k := int(v); k < 1 || float64(k) != v || n%k != 0 {
			return fmt.Errorf("%s is %g and must divide the %d %s", knob, v, n, of)
		}
		return nil
	}}
}

// Excludes forbids to set two knobs together.
func Excludes(x, y string) Constraint {
	return Constraint{Name: x + " without " + y, Check: func(a Assignment) error {
		_, xok := a[x]
		_, yok := a[y]
		if xok && yok {
			return fmt.Errorf("%s cannot be set together with %s", x, y)
		}
		return nil
	}}
}

// Needs demands that whoever sets x sets y too.
func Needs(x, y string) Constraint {
	return Constraint{Name: x + " with " + y, Check: func(a Assignment) error {
		_, xok := a[x]
		_, yok := a[y]
		if xok && !yok {
			return fmt.Errorf("%s needs %s to be set", x, y)
		}
		return nil
	}}
}

// Budget is what the memory of a device must hold.
type Budget struct {
	// Config turns an assignment into the engine that it would launch, or says why none
	// would start.
	Config func(Assignment) (sim.Config, error)
	// LongestRequest is prompt and answer of the longest request, in tokens.
	LongestRequest int
	// MeanRequest is the mean tokens of a request under way, and Running how many are
	// expected to run at once.
	MeanRequest, Running float64
	// Margin is what the arithmetic may be wrong by, as a share of the device's memory.
	// A configuration is ruled out only if it does not fit even with that much more.
	Margin float64
}

// Spare is how much more room for the cache than the mean load fills is demanded, so that
// it is not preempted all the time.
const Spare = 1.2

// KVBudget demands that the KV cache, which is what weights and runtime leave of the memory,
// holds the longest request, and [Spare] times the requests that run at once:
//
//	cache tokens ≥ longest request
//	cache tokens ≥ 1.2 · mean tokens of a request · min(running, --max-num-seqs)
//
// The first is a fact about starting; the second rules out what would thrash.
func KVBudget(b Budget) Constraint {
	return Constraint{Name: "KV cache", Check: func(a Assignment) error {
		cfg, err := b.Config(a)
		if err != nil {
			return err
		}
		cfg = cfg.Resolved()
		cfg.GPU.Reserved -= b.Margin * cfg.GPU.Memory
		mem, err := cfg.Memory()
		if err != nil {
			return err
		}
		if mem.Tokens < b.LongestRequest {
			return fmt.Errorf("it holds %d tokens, and the longest request is %d", mem.Tokens, b.LongestRequest)
		}
		n := min(b.Running, float64(cfg.MaxNumSeqs))
		if need := Spare * b.MeanRequest * n; float64(mem.Tokens) < need {
			return fmt.Errorf("it holds %d tokens, and %.0f requests of %.0f tokens at once need %.0f", mem.Tokens, n, b.MeanRequest, need)
		}
		return nil
	}}
}
