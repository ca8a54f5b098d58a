package engines

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
)

// check reports everything that is wrong with a knob by itself: what a search is told to
// try must be of the knob's type and within its bounds.
func (k *Knob) check() error {
	var errs []error
	bad := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("knob %s: "+format, append([]any{k.Name}, args...)...))
	}
	if k.Name == "" || k.Effect == "" {
		bad("needs name and effect")
	}
	if !slices.Contains([]string{"", "flag", "env", "yaml", "request"}, k.Surface) {
		bad("unknown surface %q", k.Surface)
	}
	if !slices.Contains([]string{"int", "float", "bool", "enum", "string", "list", "json"}, k.Type) {
		bad("unknown type %q", k.Type)
	}
	causes, risks := Causes(), Risks()
	for _, c := range k.Relieves {
		if causes[c] == "" {
			bad("relieves unknown cause %q", c)
		}
	}
	for _, r := range k.Risks {
		if risks[r] == "" {
			bad("has unknown risk %q", r)
		}
	}
	for _, v := range k.Search {
		if err := k.Allows(v); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// Allows reports whether a value, as typed, is of the knob's type, within its bounds, and
// one of its values where those are listed.
func (k *Knob) Allows(value string) error {
	no := func(why string) error { return fmt.Errorf("knob %s: %q is %s", k.Name, value, why) }
	switch k.Type {
	case "int", "float":
		x, err := strconv.ParseFloat(value, 64)
		if k.Type == "int" {
			var n int64
			n, err = strconv.ParseInt(value, 10, 64)
			x = float64(n)
		}
		switch {
		case err != nil || !usable(x):
			return no("no " + k.Type)
		case k.Min != nil && x < *k.Min:
			return no(fmt.Sprintf("below %v", *k.Min))
		case k.Max != nil && x > *k.Max:
			return no(fmt.Sprintf("above %v", *k.Max))
		}
	case "bool":
		if value != "true" && value != "false" {
			return no("neither true nor false")
		}
	case "enum":
		if len(k.Values) > 0 && !slices.Contains(k.Values, value) {
			return no("not allowed; allowed are " + fmt.Sprint(k.Values))
		}
	}
	return nil
}

func (l *LogPattern) check() error {
	if !slices.Contains([]string{"info", "warning", "error", "fatal"}, l.Severity) {
		return fmt.Errorf("log pattern %s has severity %q", l.ID, l.Severity)
	}
	re, err := regexp.Compile(l.Regex)
	if err != nil {
		return fmt.Errorf("log pattern %s: %w", l.ID, err)
	}
	if l.ID == "" || l.Means == "" || len(l.Fields) > re.NumSubexp() {
		return fmt.Errorf("log pattern %q needs an id, a meaning, and no more fields than groups", l.ID)
	}
	return nil
}
