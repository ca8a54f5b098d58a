// Package dialect writes the simulated engine's state as the metrics page of a real engine,
// under that engine's names, labels and buckets, so that real scrapers are exercised.
package dialect

import (
	"fmt"
	"strconv"

	"github.com/inferencebench/inferencebench/sim"
)

// Source is one engine behind a server: its state and the labels of its series.
type Source struct {
	Model string // as served
	Index int    // engine number, 0 for the first
	State sim.Snapshot
}

// page builds Prometheus text exposition.
type page struct {
	b []byte
}

func (p *page) head(name, kind, help string) {
	p.b = fmt.Appendf(p.b, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

// value writes one series. labels are the rendered pairs without braces, "" for none.
func (p *page) value(name, labels string, v float64) {
	p.b = append(p.b, name...)
	if labels != "" {
		p.b = append(p.b, '{')
		p.b = append(p.b, labels...)
		p.b = append(p.b, '}')
	}
	p.b = append(p.b, ' ')
	p.b = strconv.AppendFloat(p.b, v, 'g', -1, 64)
	p.b = append(p.b, '\n')
}

func (p *page) histogram(name, labels string, h sim.Histogram) {
	cum := int64(0)
	sep := ""
	if labels != "" {
		sep = ","
	}
	for i, n := range h.Counts {
		cum += n
		le := "+Inf"
		if i < len(h.Bounds) {
			le = Bound(h.Bounds[i])
		}
		p.value(name+"_bucket", labels+sep+`le="`+le+`"`, float64(cum))
	}
	p.value(name+"_sum", labels, h.Sum)
	p.value(name+"_count", labels, float64(h.N))
}

// Bound is how the Python client prints a bucket's upper bound: always with a point.
func Bound(v float64) string {
	s := strconv.FormatFloat(v, 'f', -1, 64)
	for i := range len(s) {
		if s[i] == '.' {
			return s
		}
	}
	return s + ".0"
}

// label renders one pair with the value escaped.
func label(name, value string) string {
	b := append([]byte(name), '=', '"')
	for i := range len(value) {
		switch c := value[i]; c {
		case '\\', '"':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, '\\', 'n')
		default:
			b = append(b, c)
		}
	}
	return string(append(b, '"'))
}
