package live

import (
	"fmt"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/inferencebench/inferencebench/campaign"
)

// Kept is what a study's record tells of the settings of its target that may hold keys, so
// that it can go on: names, and the variables that values come from. No value is in it.
type Kept struct {
	// Headers maps the name of each header to the text whose variables make its value.
	Headers map[string]string `json:"headers,omitempty"`
	// Proxy is the proxy's address without user and password.
	Proxy string `json:"proxy,omitempty"`
}

// HeaderVariable is the variable in which a study that goes on looks for the value of a header
// that its file had in plain text.
func HeaderVariable(name string) string {
	return "INFERENCEBENCH_HEADER_" + strings.ToUpper(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, name))
}

// reference is a value that holds nothing but a variable, behind the name of a scheme perhaps.
var reference = regexp.MustCompile(`^((?:Bearer|Basic|Token|ApiKey|Api-Key) +)?\$(?:\{[A-Za-z_][A-Za-z0-9_]*\}|[A-Za-z_][A-Za-z0-9_]*)$`)

// keep is what a target may leave in a study's record.
func keep(t *campaign.Target) Kept {
	var k Kept
	for name, value := range t.Headers {
		if k.Headers == nil {
			k.Headers = map[string]string{}
		}
		if !reference.MatchString(value) {
			value = "${" + HeaderVariable(name) + "}"
		}
		k.Headers[name] = value
	}
	if u, err := url.Parse(t.Proxy); err == nil && u.User == nil {
		k.Proxy = t.Proxy
	}
	return k
}

// Record returns the file as it is kept beside the journal.
func (f *File) Record() *File {
	out := *f
	out.Kept = keep(&f.Target)
	return &out
}

// Recall brings back what Record kept. The error names every variable that is not set, with
// the header that it is for.
func (f *File) Recall(getenv func(string) string) error {
	f.Target.Headers, f.Target.Proxy = f.Kept.Headers, f.Kept.Proxy
	var missing []string
	for name, value := range f.Kept.Headers {
		os.Expand(value, func(env string) string {
			if getenv(env) == "" {
				missing = append(missing, fmt.Sprintf("%s (the header %s)", env, name))
			}
			return ""
		})
	}
	if len(missing) == 0 {
		return nil
	}
	slices.Sort(missing)
	return fmt.Errorf("the study sends headers whose values are not recorded; set the environment variables %s", strings.Join(missing, ", "))
}
