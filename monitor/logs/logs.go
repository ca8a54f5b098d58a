// Package logs follows a server's log and turns the lines that its adapter knows into dated
// events.
//
// A log holds prompts, paths and sometimes keys, so no line is ever kept: an event says
// what the line means and holds the numbers that the pattern names.
package logs

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/engines"
)

// EventKind is the kind of event that a known line becomes. Fields: id, count, and those
// that the pattern names.
const EventKind = "engine_log"

// MaxLine is how much of one line is read.
const MaxLine = 64 << 10

// quiet is how long a pattern that was reported keeps still; what matches meanwhile is
// counted.
const quiet = 10 * time.Second

// Match is one known line.
type Match struct {
	Pattern engines.LogPattern
	Fields  map[string]string
	// Count is how many lines matched since the pattern was last reported, this one
	// included.
	Count int
}

// Matcher knows the lines of one server. It is used by one goroutine at a time.
type Matcher struct {
	patterns []compiled
}

type compiled struct {
	engines.LogPattern
	re    *regexp.Regexp
	last  archive.Instant
	count int
}

// NewMatcher knows the lines of the adapter and those common to all. a may be nil.
func NewMatcher(a *engines.Adapter) *Matcher {
	var list []engines.LogPattern
	if a != nil {
		list = append(list, a.Logs...)
	}
	list = append(list, engines.CommonLogs()...)
	m := &Matcher{}
	for _, l := range list {
		// The data is checked when it is loaded; a pattern that does not compile is not in it.
		if re, err := regexp.Compile(l.Regex); err == nil {
			m.patterns = append(m.patterns, compiled{LogPattern: l, re: re})
		}
	}
	return m
}

// Line looks at one line at the time now. It returns the first pattern that matches,
// unless that was reported less than ten seconds ago.
func (m *Matcher) Line(line string, now archive.Instant) (Match, bool) {
	if len(line) > MaxLine {
		line = line[:MaxLine]
	}
	for i := range m.patterns {
		p := &m.patterns[i]
		got := p.re.FindStringSubmatch(line)
		if got == nil {
			continue
		}
		p.count++
		if p.last.Known() && now.Sub(p.last) < quiet {
			return Match{}, false
		}
		out := Match{Pattern: p.LogPattern, Fields: map[string]string{}, Count: p.count}
		p.last, p.count = now, 0
		for k, name := range p.Fields {
			if v := got[k+1]; len(v) <= 64 {
				out.Fields[name] = strings.ReplaceAll(v, ",", "")
			}
		}
		return out, true
	}
	return Match{}, false
}

// Event makes an event of a match.
func (m Match) Event(now archive.Instant) archive.Event {
	sev := map[string]archive.Severity{"info": archive.SeverityInfo, "warning": archive.SeverityWarning}[m.Pattern.Severity]
	if sev == "" {
		sev = archive.SeverityError
	}
	fields := map[string]any{"id": m.Pattern.ID, "count": m.Count}
	for k, v := range m.Fields {
		fields[k] = v
	}
	msg := "the server's log: " + m.Pattern.Means
	if m.Count > 1 {
		msg += fmt.Sprintf(" (%d lines)", m.Count)
	}
	return archive.Event{T: now, Kind: EventKind, Severity: sev, Source: "monitor", Message: msg, Fields: fields}
}
