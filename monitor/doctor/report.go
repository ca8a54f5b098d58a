package doctor

import (
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/inferencebench/inferencebench/archive"
)

// State grades a check.
type State string

// The states.
const (
	OK      State = "ok"
	Warn    State = "warn"    // a measurement may be disturbed, or will see less
	Fail    State = "fail"    // a run makes no sense like this
	Unknown State = "unknown" // could not be found out
)

// Check is one thing that was looked at.
type Check struct {
	ID string `json:"id"` // stable, such as "open_files"
	// Group is "server", "client", "host" or "gpu".
	Group string `json:"group"`
	State State  `json:"state"`
	// Found is what was seen, Fix what to do about it; Fix is "" when there is nothing to do.
	Found string `json:"found"`
	Fix   string `json:"fix,omitempty"`
}

// SignalState says whether a signal can be seen.
type SignalState string

// The states of a signal.
const (
	Seen   SignalState = "seen"
	Off    SignalState = "off"    // the server could show it, but does not
	Absent SignalState = "absent" // this server does not have it
)

// Signal is one thing to see of the engine.
type Signal struct {
	Name  string      `json:"name"`
	Means string      `json:"means"`
	State SignalState `json:"state"`
	From  string      `json:"from,omitempty"` // the name on the server's page
	Note  string      `json:"note,omitempty"` // what to mind when reading it
	Fix   string      `json:"fix,omitempty"`  // how to switch it on
}

// Report is everything that was found.
type Report struct {
	Server  archive.Server `json:"server"`
	Models  []string       `json:"models,omitempty"`
	Host    archive.Host   `json:"host"`
	GPUs    []archive.GPU  `json:"gpus,omitempty"`
	Checks  []Check        `json:"checks"`
	Signals []Signal       `json:"signals,omitempty"`
	// Quirks are what to mind about this server, one sentence each.
	Quirks []string `json:"quirks,omitempty"`
}

// Worst is the gravest state of the checks; unknown ones do not count.
func (r *Report) Worst() State {
	worst := OK
	for _, c := range r.Checks {
		switch {
		case c.State == Fail:
			return Fail
		case c.State == Warn:
			worst = Warn
		}
	}
	return worst
}

// Annotations are the warnings, for a manifest.
func (r *Report) Annotations() (out []archive.Annotation) {
	for _, c := range r.Checks {
		if c.State == Warn || c.State == Fail {
			text := c.Found
			if c.Fix != "" {
				text += "; " + c.Fix
			}
			out = append(out, archive.Annotation{Code: "doctor_" + c.ID, Message: text})
		}
	}
	return out
}

// Write prints the report for people, without colours.
func (r *Report) Write(w io.Writer) error {
	var b strings.Builder
	if r.Server.URL != "" {
		fmt.Fprintf(&b, "Server   %s\n", r.Server.URL)
		fmt.Fprintf(&b, "  engine   %s", r.Server.Engine)
		if r.Server.Version != "" {
			fmt.Fprintf(&b, " %s", r.Server.Version)
		}
		b.WriteByte('\n')
		if len(r.Models) > 0 {
			fmt.Fprintf(&b, "  models   %s\n", strings.Join(r.Models, ", "))
		}
		if n, ok := r.Server.MaxModelLen.Get(); ok {
			fmt.Fprintf(&b, "  context  %d tokens\n", n)
		}
		if r.Server.MetricsURL != "" {
			fmt.Fprintf(&b, "  metrics  %s\n", r.Server.MetricsURL)
		}
		for _, k := range sortedKeys(r.Server.Settings) {
			fmt.Fprintf(&b, "  set      %s = %s\n", k, r.Server.Settings[k])
		}
	}
	mark := map[State]string{OK: "ok  ", Warn: "WARN", Fail: "FAIL", Unknown: "?   "}
	b.WriteString("\nChecks\n")
	for _, c := range r.Checks {
		fmt.Fprintf(&b, "  %s  %-7s %s\n", mark[c.State], c.Group, c.Found)
		if c.Fix != "" {
			fmt.Fprintf(&b, "                %s\n", c.Fix)
		}
	}
	if len(r.Signals) > 0 {
		seen := 0
		for _, s := range r.Signals {
			if s.State == Seen {
				seen++
			}
		}
		fmt.Fprintf(&b, "\nSignals of the engine: %d seen\n", seen)
		for _, s := range r.Signals {
			line := fmt.Sprintf("  %-6s  %-28s %s", s.State, s.Name, s.Means)
			if s.From != "" {
				line = fmt.Sprintf("  %-6s  %-28s %s", s.State, s.Name, s.From)
			}
			b.WriteString(line + "\n")
			if s.Fix != "" {
				fmt.Fprintf(&b, "          %-28s %s\n", "", s.Fix)
			}
		}
	}
	if len(r.Quirks) > 0 {
		b.WriteString("\nWorth knowing\n")
		for _, q := range r.Quirks {
			fmt.Fprintf(&b, "  - %s\n", q)
		}
	}
	_, err := io.WriteString(w, shown(b.String()))
	return err
}

// shown is a page for a terminal: what the server says in it, such as the names of its
// models, cannot move the cursor, colour text or turn its direction.
func shown(page string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029') {
			return -1
		}
		return r
	}, strings.ToValidUTF8(page, "\uFFFD"))
}
