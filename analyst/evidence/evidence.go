// Package evidence collects the computed facts that findings may cite, each under an id.
package evidence

import (
	"fmt"
	"math"

	"github.com/inferencebench/inferencebench/archive"
)

// The signal families. Two facts of one family are not independent.
const (
	Client = "client"
	Engine = "engine"
	GPU    = "gpu"
	Host   = "host"
)

// Fact is a number with the id of its evidence. The zero Fact is unknown.
type Fact struct {
	V  float64
	OK bool
	ID string
}

// Or returns the value, or d when it is unknown.
func (f Fact) Or(d float64) float64 {
	if f.OK {
		return f.V
	}
	return d
}

// Above reports whether the fact is known and greater than x.
func (f Fact) Above(x float64) bool { return f.OK && f.V > x }

// Below reports whether the fact is known and less than x.
func (f Fact) Below(x float64) bool { return f.OK && f.V < x }

// Book is the list of evidence of one analysis, in the order in which it was found. The
// zero Book is ready.
type Book struct {
	rows []archive.Evidence
	// Scope and the window are given to rows that do not name their own.
	Scope    string
	From, To archive.Instant
}

// Add gives e an id and keeps it. A value that is unknown or not finite is not evidence:
// the fact returned for it is unknown.
func (b *Book) Add(e archive.Evidence) Fact {
	v, ok := e.Value.Get()
	if !ok || math.IsNaN(v) || math.IsInf(v, 0) {
		return Fact{}
	}
	if e.Scope == "" {
		e.Scope = b.Scope
	}
	if !e.From.Known() && !e.To.Known() {
		e.From, e.To = b.From, b.To
	}
	e.ID = fmt.Sprintf("E%d", len(b.rows)+1)
	b.rows = append(b.rows, e)
	return Fact{V: v, OK: true, ID: e.ID}
}

// Note adds a fact from its parts. The text is completed with the value and its unit
// where it holds a verb for one.
func (b *Book) Note(family, metric, unit string, v float64, method, text string) Fact {
	return b.Add(archive.Evidence{Family: family, Metric: metric, Unit: unit, Value: archive.Some(v), Method: method, Text: text})
}

// Rows returns the evidence.
func (b *Book) Rows() []archive.Evidence { return b.rows }

// Row returns the evidence with an id.
func (b *Book) Row(id string) (archive.Evidence, bool) {
	for _, r := range b.rows {
		if r.ID == id {
			return r, true
		}
	}
	return archive.Evidence{}, false
}
