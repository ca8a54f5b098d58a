package space

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/inferencebench/inferencebench/engines"
)

// Options narrow what an engine's knobs make a space of.
type Options struct {
	// Narrow names the knobs to search and their values; no values means the ones that the
	// adapter suggests. A nil map takes every knob with suggestions.
	Narrow map[string][]string
	// Settings are the server's effective settings by knob name: what unset means.
	Settings map[string]string
	// Supported reports whether the installed server knows a flag; nil means all.
	Supported func(name string) bool
	// Keep lists knobs that are set by other means and must not be touched.
	Keep []string
}

// FromKnobs makes a space of an engine's knobs. The error joins every knob that cannot be
// searched as asked. Each knob can also be left unset. Excludes and With of the knobs
// become constraints.
func FromKnobs(knobs []engines.Knob, opt Options) (*Space, error) {
	s := &Space{}
	var errs []error
	for name := range opt.Narrow {
		if !slices.ContainsFunc(knobs, func(k engines.Knob) bool { return k.Name == name }) {
			errs = append(errs, fmt.Errorf("%s: the adapter knows no such knob", name))
		}
	}
	for i := range knobs {
		k := &knobs[i]
		values, asked := opt.Narrow[k.Name]
		if slices.Contains(opt.Keep, k.Name) || (opt.Narrow != nil && !asked) {
			continue
		}
		if opt.Supported != nil && !opt.Supported(k.Name) {
			if asked {
				errs = append(errs, fmt.Errorf("%s: the installed server does not know it", k.Name))
			}
			continue
		}
		if len(values) == 0 {
			values = k.Search
		}
		if len(values) == 0 && asked {
			values = k.Values
		}
		if len(values) == 0 {
			if asked {
				errs = append(errs, fmt.Errorf("%s: no values to try are known; name some", k.Name))
			}
			continue
		}
		d, err := dim(k, values, opt.Settings[k.Name])
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if len(d.Values) > 1 {
			s.Dims = append(s.Dims, d)
		}
	}
	if len(errs) > 0 {
		slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
		return nil, errors.Join(errs...)
	}
	s.relations(knobs)
	return s, nil
}

// dim is a knob as a dimension: its values checked, sorted where they have an order, the
// one that equals the setting in force left to "unset".
func dim(k *engines.Knob, values []string, now string) (Dim, error) {
	d := Dim{Name: k.Name, Live: k.Live, Quality: slices.Contains(k.Risks, "quality"), Relieves: k.Relieves}
	for _, v := range values {
		if err := k.Allows(v); err != nil {
			return d, err
		}
	}
	if now == "" && k.Allows(k.Default) == nil {
		now = k.Default
	}
	d.Unset = now
	d.Ordered = k.Type == "int" || k.Type == "float"
	vals := slices.DeleteFunc(slices.Clone(values), func(v string) bool { return same(v, now, d.Ordered) })
	if !d.Ordered {
		d.Values = append([]string{""}, vals...)
		return d, nil
	}
	slices.SortStableFunc(vals, func(x, y string) int { return cmpNumbers(x, y) })
	at := 0
	if _, err := strconv.ParseFloat(now, 64); err == nil {
		at, _ = slices.BinarySearchFunc(vals, now, cmpNumbers)
	} else {
		d.Unset = ""
	}
	d.Values = slices.Insert(vals, at, "")
	return d, nil
}

func same(v, now string, number bool) bool {
	return v == now || (number && now != "" && cmpNumbers(v, now) == 0)
}

// cmpNumbers compares two numbers as typed; what is no number is below all numbers.
func cmpNumbers(x, y string) int {
	a, aerr := strconv.ParseFloat(x, 64)
	b, berr := strconv.ParseFloat(y, 64)
	switch {
	case aerr != nil || berr != nil:
		return strings.Compare(x, y)
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// relations turns what the knobs say of each other into constraints.
func (s *Space) relations(knobs []engines.Knob) {
	has := func(name string) bool { return slices.ContainsFunc(s.Dims, func(d Dim) bool { return d.Name == name }) }
	for _, k := range knobs {
		if !has(k.Name) {
			continue
		}
		for _, x := range k.Excludes {
			if has(x) {
				s.Constraints = append(s.Constraints, Excludes(k.Name, x))
			}
		}
		for _, w := range k.With {
			if has(w) {
				s.Constraints = append(s.Constraints, Needs(k.Name, w))
			}
		}
	}
	if has("--max-num-batched-tokens") && has("--max-num-seqs") {
		s.Constraints = append(s.Constraints, AtLeast(s.Value, "--max-num-batched-tokens", "--max-num-seqs"))
	}
}
