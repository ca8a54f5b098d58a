package expo

import "strings"

// Limits on what is read of one page.
const (
	MaxPage    = 16 << 20 // bytes
	MaxLine    = 64 << 10 // bytes
	MaxSamples = 200_000
	maxLabels  = 128 // of one sample
)

// Type is the metric type that a TYPE line declares, in lower case, such as "counter".
// OpenMetrics and exporters of their own add more than the names below; they are kept.
type Type string

// The types that readers here tell apart.
const (
	Counter   Type = "counter"
	Gauge     Type = "gauge"
	Histogram Type = "histogram"
	Summary   Type = "summary"
	Info      Type = "info"
	Untyped   Type = "untyped"
)

// Label is one name and value.
type Label struct {
	Name, Value string
}

// Sample is one line of a page.
type Sample struct {
	Name   string // as written, suffixes such as _bucket included
	Labels []Label
	Value  float64 // may be NaN or infinite, as written
}

// Label returns the value of a label and whether the sample has it.
func (s *Sample) Label(name string) (string, bool) {
	for i := range s.Labels {
		if s.Labels[i].Name == name {
			return s.Labels[i].Value, true
		}
	}
	return "", false
}

// Page is what was understood of one metrics page.
type Page struct {
	Samples []Sample
	// Types maps a family's name to its declared type. The first declaration counts.
	Types map[string]Type
	// Bad is the number of lines that were not understood, FirstBad the first of them,
	// cut to a readable length.
	Bad      int
	FirstBad string
	// Truncated says which limit cut the page; "" when none did.
	Truncated string

	byName map[string][]int
}

// Get returns the samples with exactly this name, in page order. The slice is shared by
// all callers. The page is safe for concurrent readers.
func (p *Page) Get(name string) []*Sample {
	at := p.byName[name]
	if len(at) == 0 {
		return nil
	}
	out := make([]*Sample, len(at))
	for i, k := range at {
		out[i] = &p.Samples[k]
	}
	return out
}

// Has reports whether the page has a sample of exactly this name.
func (p *Page) Has(name string) bool { return len(p.byName[name]) > 0 }

// Type returns the declared type of the family that a sample name belongs to, looking
// through the suffixes _total, _bucket, _sum, _count, _info and _created; Untyped when none
// was declared.
func (p *Page) Type(name string) Type {
	if t, ok := p.Types[name]; ok {
		return t
	}
	for _, suffix := range []string{"_total", "_bucket", "_sum", "_count", "_info", "_created"} {
		if base, ok := strings.CutSuffix(name, suffix); ok {
			if t, ok := p.Types[base]; ok {
				return t
			}
		}
	}
	return Untyped
}

// HasPrefix reports whether a sample name of the page starts with prefix.
func (p *Page) HasPrefix(prefix string) bool {
	for name := range p.byName {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}
