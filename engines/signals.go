package engines

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/engines/expo"
)

// ErrNotMetrics is returned for a page with no line of metrics in it, such as a web page.
var ErrNotMetrics = errors.New("not a metrics page")

// Reading is what an adapter made of one metrics page.
type Reading struct {
	// Values maps canonical names, with the suffixes that the package comment lists, to
	// numbers. It is never nil.
	Values map[string]float64
	// Matched maps each canonical signal that was found to the name it was read from.
	Matched map[string]string
	// Annotations say what was odd about the page.
	Annotations []archive.Annotation
}

// process are the series of the common process collector that are taken over as they are.
var process = [...]string{"process_start_time_seconds", "process_cpu_seconds_total", "process_resident_memory_bytes", "process_open_fds"}

// Signals reads a metrics page into canonical values. Lines that cannot be read become an
// annotation; the error is ErrNotMetrics when nothing could be. The page is not kept.
// Signals is safe for concurrent use.
func (a *Adapter) Signals(page []byte) (map[string]float64, []archive.Annotation, error) {
	p := expo.Read(page)
	if len(p.Samples) == 0 && p.Bad > 0 {
		return nil, nil, fmt.Errorf("%w: it starts with %.60q", ErrNotMetrics, p.FirstBad)
	}
	r := a.Read(p)
	return r.Values, r.Annotations, nil
}

// Read reads a parsed page.
func (a *Adapter) Read(p *expo.Page) Reading {
	r := Reading{Values: map[string]float64{}, Matched: map[string]string{}}
	if p.Bad > 0 {
		r.note("bad_metrics_line", "%d lines of the metrics page could not be read, the first is %q", p.Bad, p.FirstBad)
	}
	if p.Truncated != "" {
		r.note("metrics_truncated", "the metrics page was cut: %s", p.Truncated)
	}
	for _, s := range Canonical() {
		for i := range a.Sources[s.Name] {
			c := &a.Sources[s.Name][i]
			if from, ok := r.take(p, a, s, c); ok {
				r.Matched[s.Name] = from
				break
			}
		}
	}
	for _, name := range process {
		if v, ok := total(a.series(p, name, nil)); ok {
			r.Values[name] = v
		}
	}
	return r
}

func (r *Reading) note(code, format string, args ...any) {
	r.Annotations = append(r.Annotations, archive.Annotation{Code: code, Message: fmt.Sprintf(format, args...)})
}

// take reads one candidate and reports the metric that it was found under.
func (r *Reading) take(p *expo.Page, a *Adapter, s Signal, c *Candidate) (from string, ok bool) {
	scale := c.Scale
	if scale == 0 {
		scale = 1
	}
	switch c.Type {
	case "ratio", "product":
		x, ok1 := total(a.series(p, c.Metric, c))
		y, ok2 := total(a.series(p, c.Over, c))
		if c.Type == "ratio" {
			y = 1 / y
		}
		if v := scale * x * y; ok1 && ok2 && usable(v) {
			r.Values[s.Name] = v
			return c.Metric + " and " + c.Over, true
		}
	case "gauge":
		got := a.series(p, c.Metric, c)
		v, ok := aggregate(got, c.Agg)
		if !ok {
			return "", false
		}
		r.Values[s.Name] = scale * v
		if c.Agg == "mean" {
			peak, _ := aggregate(got, "max")
			r.Values[s.Name+"_max"] = scale * peak
		}
		r.breakdown(s.Name, got, c, scale)
		return c.Metric, true
	case "counter", "sum":
		name := counterName(p, c)
		got := a.series(p, name, c)
		v, ok := aggregate(got, c.Agg)
		if !ok || v < 0 {
			return "", false
		}
		out := s.Name + "_total"
		if s.Kind == "histogram" {
			out = s.Name + "_sum"
		}
		r.Values[out] = scale * v
		r.breakdown(out, got, c, scale)
		return name, true
	case "label", "label_product":
		sum, found := 0.0, false
		for _, m := range a.series(p, c.Metric, c) {
			if v, ok := labelProduct(m, c.Labels); ok {
				sum, found = sum+v, true
			}
		}
		if found {
			r.Values[s.Name] = scale * sum
		}
		return c.Metric + "{" + strings.Join(c.Labels, ",") + "}", found
	case "histogram":
		return c.Metric, r.histogram(p, a, s, c, scale)
	}
	return "", false
}

// counterName is the spelling under which a counter is on the page: with or without
// _total. A family that is declared as a histogram is never a counter.
func counterName(p *expo.Page, c *Candidate) string {
	names := []string{c.Metric}
	if c.Type == "counter" {
		if base, ok := strings.CutSuffix(c.Metric, "_total"); ok {
			names = append(names, base)
		} else {
			names = append(names, c.Metric+"_total")
		}
	}
	for _, n := range names {
		if p.Has(n) && p.Types[n] != expo.Histogram {
			return n
		}
	}
	return c.Metric
}

// series returns the samples of a name that the candidate's filters keep, one for each
// engine: where ranks of one engine repeat each other, the lowest rank's.
func (a *Adapter) series(p *expo.Page, name string, c *Candidate) []*expo.Sample {
	got := p.Get(name)
	if c != nil && len(c.Where)+len(c.Drop) > 0 {
		got = slices.DeleteFunc(got, func(s *expo.Sample) bool {
			for l, want := range c.Where {
				if v, _ := s.Label(l); v != want {
					return true
				}
			}
			for l, no := range c.Drop {
				if v, _ := s.Label(l); v == no {
					return true
				}
			}
			return false
		})
	}
	if len(a.RankLabels) == 0 || len(got) < 2 {
		return got
	}
	lowest := map[string]*expo.Sample{}
	var order []string
	for _, s := range got {
		key := rankless(s, a.RankLabels)
		if best, ok := lowest[key]; !ok {
			order = append(order, key)
			lowest[key] = s
		} else if lowerRank(s, best, a.RankLabels) {
			lowest[key] = s
		}
	}
	out := make([]*expo.Sample, 0, len(order))
	for _, k := range order {
		out = append(out, lowest[k])
	}
	return out
}

// rankless is the identity of a series but for its ranks.
func rankless(s *expo.Sample, ranks []string) string {
	var b strings.Builder
	labels := slices.Clone(s.Labels)
	slices.SortFunc(labels, func(x, y expo.Label) int { return strings.Compare(x.Name, y.Name) })
	for _, l := range labels {
		if !slices.Contains(ranks, l.Name) {
			b.WriteString(strconv.Quote(l.Name))
			b.WriteString(strconv.Quote(l.Value))
		}
	}
	return b.String()
}

func lowerRank(s, than *expo.Sample, ranks []string) bool {
	for _, l := range ranks {
		x, _ := s.Label(l)
		y, _ := than.Label(l)
		i, errX := strconv.Atoi(x)
		j, errY := strconv.Atoi(y)
		if errX == nil && errY == nil && i != j {
			return i < j
		}
	}
	return false
}

// usable reports whether a number can be worked with.
func usable(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

func total(got []*expo.Sample) (float64, bool) { return aggregate(got, "sum") }

// aggregate joins the series of several engines. NaN and infinite samples are unknown.
func aggregate(got []*expo.Sample, how string) (float64, bool) {
	sum, peak, n := 0.0, math.Inf(-1), 0
	for _, s := range got {
		if usable(s.Value) {
			sum, peak, n = sum+s.Value, max(peak, s.Value), n+1
		}
	}
	switch {
	case n == 0 || !usable(sum):
		return 0, false
	case how == "max":
		return peak, true
	case how == "mean":
		return sum / float64(n), true
	}
	return sum, true
}

// maxBreakdown bounds the parts of one breakdown: label values come from the server.
const maxBreakdown = 64

func (r *Reading) breakdown(name string, got []*expo.Sample, c *Candidate, scale float64) {
	if c.By == "" {
		return
	}
	parts := map[string]float64{}
	for _, s := range got {
		v, ok := s.Label(c.By)
		if !ok || len(v) > 64 || !usable(s.Value) {
			continue
		}
		if _, seen := parts[v]; !seen && len(parts) == maxBreakdown {
			r.note("breakdown_cut", "%s has more than %d values of label %s; the rest is only in the total", c.Metric, maxBreakdown, c.By)
			break
		}
		parts[v] += scale * s.Value
	}
	for v, x := range parts {
		r.Values[name+":"+v] = x
	}
}

func labelProduct(s *expo.Sample, labels []string) (float64, bool) {
	product := 1.0
	for _, l := range labels {
		text, _ := s.Label(l)
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || !usable(v) || v < 0 {
			return 0, false
		}
		product *= v
	}
	return product, true
}

// histogram adds the buckets of all engines, then their sums and counts.
func (r *Reading) histogram(p *expo.Page, a *Adapter, s Signal, c *Candidate, scale float64) bool {
	buckets, seen, engines := map[float64]float64{}, map[float64]int{}, 0
	for _, b := range a.series(p, c.Metric+"_bucket", c) {
		text, _ := b.Label("le")
		le, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsNaN(le) || !usable(b.Value) || b.Value < 0 {
			continue
		}
		buckets[le] += b.Value
		seen[le]++
		engines = max(engines, seen[le]) // every engine has the bound +Inf
	}
	count, okCount := total(a.series(p, c.Metric+"_count", c))
	sum, okSum := total(a.series(p, c.Metric+"_sum", c))
	if !okCount && len(buckets) == 0 {
		return false
	}
	cut := 0
	for le, v := range buckets {
		// A bound that not every engine has cannot be added up.
		if seen[le] != engines {
			cut++
			continue
		}
		r.Values[s.Name+"_bucket:"+bound(le*scale)] = v
	}
	if cut > 0 {
		r.note("histogram_mismatch", "the engines' buckets of %s differ; %d bounds that not all of them have were left out", c.Metric, cut)
	}
	if okCount && !c.BucketsOnly {
		r.Values[s.Name+"_count"] = count
	}
	if okSum && !c.BucketsOnly {
		r.Values[s.Name+"_sum"] = scale * sum
	}
	return true
}

// bound writes a bucket's upper bound.
func bound(le float64) string {
	if math.IsInf(le, 1) {
		return "+Inf"
	}
	return strconv.FormatFloat(le, 'g', -1, 64)
}
