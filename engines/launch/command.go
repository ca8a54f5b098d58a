package launch

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/inferencebench/inferencebench/engines"
)

// Command is a launch command under settings: base with the flags of values in place of
// those that it has of the same names, under either of a knob's names, and the variables to
// add to its environment. Words of base that are no knob of values stay as they are.
//
// The errors name every setting that is not a knob of the adapter, has a value that the knob
// does not allow, or cannot be set by a launch command.
func Command(base []string, a *engines.Adapter, values map[string]string) (argv, env []string, err error) {
	argv = slices.Clone(base)
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(values)) {
		value := values[name]
		i := slices.IndexFunc(a.Knobs, func(k engines.Knob) bool { return k.Name == name })
		if i < 0 {
			errs = append(errs, fmt.Errorf("%s is no known setting of %s", name, a.Title))
			continue
		}
		knob := &a.Knobs[i]
		if err := knob.Allows(value); err != nil {
			errs = append(errs, err)
			continue
		}
		if strings.ContainsRune(value, 0) {
			errs = append(errs, fmt.Errorf("%s: a value holds a zero byte", name))
			continue
		}
		switch knob.Surface {
		case "", "flag":
			argv = append(Without(argv, knob), words(knob, a.Launch.Off, value)...)
		case "env":
			env = append(env, name+"="+value)
		default:
			errs = append(errs, fmt.Errorf("%s is set in the server's own %s, which a launch command cannot change", name, knob.Surface))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, nil, err
	}
	return argv, env, nil
}

// words is how one setting is typed.
func words(knob *engines.Knob, off, value string) []string {
	switch {
	case knob.Type == "bool" && value == "true":
		return []string{knob.Name}
	case knob.Type == "bool" && off == engines.OffAbsent:
		return nil
	case knob.Type == "bool":
		return []string{negation(knob.Name)}
	case strings.HasPrefix(value, "-"):
		return []string{knob.Name + "=" + value} // alone it would read as a flag
	default:
		return []string{knob.Name, value}
	}
}

// negation is the flag that switches a switch off.
func negation(name string) string { return "--no-" + strings.TrimPrefix(name, "--") }

// Without is a command without a knob's flag, under any of its names, with its value.
func Without(argv []string, knob *engines.Knob) []string {
	var out []string
	for i := 0; i < len(argv); i++ {
		flag, _, joined := strings.Cut(argv[i], "=")
		switch {
		case !names(flag, knob):
			out = append(out, argv[i])
		case joined || i+1 >= len(argv):
		case knob.Type == "bool":
			if next := argv[i+1]; next == "true" || next == "false" {
				i++
			}
		case knob.Type == "list":
			for i+1 < len(argv) && !strings.HasPrefix(argv[i+1], "-") {
				i++
			}
		default:
			i++
		}
	}
	return out
}

// names reports whether a flag is the knob's, or its negation. Words of a long flag may be
// joined by underscores, as argparse of vLLM and SGLang takes them.
func names(flag string, knob *engines.Knob) bool {
	if !strings.HasPrefix(flag, "-") {
		return false
	}
	if strings.HasPrefix(flag, "--") {
		flag = strings.ReplaceAll(flag, "_", "-")
	}
	return flag == knob.Name || knob.Short != "" && flag == knob.Short || knob.Type == "bool" && flag == negation(knob.Name)
}

// Set returns what a launch command sets of these knobs, name to value as typed.
func Set(argv []string, knobs []engines.Knob) map[string]string {
	out := map[string]string{}
	for i := range knobs {
		knob := &knobs[i]
		for j, word := range argv {
			flag, value, joined := strings.Cut(word, "=")
			switch {
			case !names(flag, knob):
			case joined:
				out[knob.Name] = value
			case knob.Type == "bool" && strings.HasPrefix(flag, "--no-") && !strings.HasPrefix(knob.Name, "--no-"):
				out[knob.Name] = "false"
			case knob.Type == "bool":
				out[knob.Name] = "true"
				if j+1 < len(argv) && argv[j+1] == "false" {
					out[knob.Name] = "false"
				}
			case j+1 < len(argv):
				out[knob.Name] = argv[j+1]
			}
		}
	}
	return out
}
