package imports

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/inferencebench/inferencebench/archive"
)

// column is what one column of a sweep holds.
type column struct {
	id, stat string
	factor   float64 // to the unit of the metric
}

// asked and rate are columns that describe the load of a row.
const (
	colAsked = "asked"
	colRate  = "asked_rate"
	colOK    = "ok"
	colBad   = "failed"
)

var (
	unitIn = regexp.MustCompile(`[\[(]\s*([a-zµ/%]+)\s*[\])]\s*$|[ _]+(ms|us|µs|s|sec|secs|seconds|milliseconds)$`)
	statIn = regexp.MustCompile(`(?:^|[ _.-])(mean|avg|average|median|p50|p90|p95|p99|min|max|std|stddev)(?:[ _.-]|$)`)
)

var statNames = map[string]string{"avg": "mean", "average": "mean", "median": "p50", "stddev": "std"}

// latencyIDs are the names of latencies, the longer first.
var latencyIDs = []struct{ word, id string }{
	{"time to first token", "ttft"}, {"ttft", "ttft"}, {"time per output token", "tpot"}, {"tpot", "tpot"}, {"inter token latency", "icl"}, {"inter-token latency", "icl"}, {"itl", "icl"},
	{"end to end latency", "e2e"}, {"e2e latency", "e2e"}, {"request latency", "e2e"}, {"e2el", "e2e"}, {"e2e", "e2e"}, {"latency", "e2e"},
}

// plainColumns are names that mean one thing.
var plainColumns = map[string]column{
	"concurrency": {colAsked, "", 1}, "max concurrency": {colAsked, "", 1}, "users": {colAsked, "", 1}, "num users": {colAsked, "", 1}, "clients": {colAsked, "", 1}, "parallel": {colAsked, "", 1}, "streams": {colAsked, "", 1},
	"request rate": {colRate, "", 1}, "rate": {colRate, "", 1}, "target rate": {colRate, "", 1},
	"request throughput": {"request_rate", "value", 1}, "requests per second": {"request_rate", "value", 1}, "throughput rps": {"request_rate", "value", 1}, "req/s": {"request_rate", "value", 1}, "rps": {"request_rate", "value", 1}, "qps": {"request_rate", "value", 1}, "throughput req/s": {"request_rate", "value", 1},
	"output throughput": {"output_rate", "value", 1}, "output token throughput": {"output_rate", "value", 1}, "output tokens per second": {"output_rate", "value", 1}, "tokens per second": {"output_rate", "value", 1}, "tok/s": {"output_rate", "value", 1}, "throughput tok/s": {"output_rate", "value", 1}, "throughput tokens/s": {"output_rate", "value", 1},
	"completed": {colOK, "", 1}, "successful requests": {colOK, "", 1}, "success": {colOK, "", 1}, "requests": {colOK, "", 1}, "num requests": {colOK, "", 1}, "failed": {colBad, "", 1}, "errors": {colBad, "", 1}, "failed requests": {colBad, "", 1},
	"duration": {"duration", "value", 1},
}

// columnOf reads a header. ok is false for a column that means nothing here; the error is
// about one that would be guesswork.
func columnOf(header string) (c column, ok bool, err error) {
	h := strings.ToLower(strings.TrimSpace(header))
	unit := ""
	if m := unitIn.FindStringSubmatch(h); m != nil {
		unit = m[1] + m[2]
		h = strings.TrimSpace(h[:len(h)-len(m[0])])
	}
	words := strings.Join(strings.FieldsFunc(h, func(r rune) bool { return r == '_' || r == ' ' || r == '.' }), " ")
	for _, name := range []string{words + " " + unit, words} {
		if c, ok := plainColumns[strings.TrimSpace(name)]; ok {
			return c, true, nil
		}
	}
	if unit == "req/s" && strings.Contains(words, "throughput") {
		return column{"request_rate", "value", 1}, true, nil
	}
	if (unit == "tok/s" || unit == "tokens/s") && strings.Contains(words, "throughput") {
		return column{"output_rate", "value", 1}, true, nil
	}
	stat := "mean"
	if m := statIn.FindStringSubmatch(words); m != nil {
		if stat = m[1]; statNames[stat] != "" {
			stat = statNames[stat]
		}
		words = strings.Join(strings.Fields(strings.Replace(" "+words+" ", " "+m[1]+" ", " ", 1)), " ")
	}
	for _, l := range latencyIDs {
		if words != l.word {
			continue
		}
		k, known := map[string]float64{"ms": 1, "milliseconds": 1, "us": 1e-3, "µs": 1e-3, "s": 1000, "sec": 1000, "secs": 1000, "seconds": 1000}[unit]
		if !known {
			return column{}, false, fmt.Errorf("column %q has no unit: call it %s_ms or %s_s", header, header, header)
		}
		return column{l.id, stat, k}, true, nil
	}
	return column{}, false, nil
}

// row is one point of a sweep.
type row struct {
	line        int
	asked, rate archive.Opt[float64]
	ok, failed  int
	values      []struct {
		c column
		v float64
	}
}

// Bounds on a sweep.
const (
	maxRows    = 10_000
	maxColumns = 1000
)

// parseSweep reads a CSV (or TSV, or semicolon-separated) file with a header: one row for
// each point of a sweep over concurrency or rate.
func parseSweep(name string, data []byte) ([]*Imported, error) {
	r := csv.NewReader(bytes.NewReader(data))
	r.FieldsPerRecord, r.TrimLeadingSpace = -1, true
	first, _, _ := bytes.Cut(data, []byte("\n"))
	switch {
	case bytes.Count(first, []byte("\t")) > bytes.Count(first, []byte(",")):
		r.Comma = '\t'
	case bytes.Count(first, []byte(";")) > bytes.Count(first, []byte(",")):
		r.Comma = ';'
	}
	header, err := r.Read()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, ErrUnknown)
	}
	if len(header) > maxColumns {
		return nil, fmt.Errorf("%s:1: more than %d columns", name, maxColumns)
	}
	cols := make([]column, len(header))
	known := map[string]bool{}
	for i, h := range header {
		c, ok, err := columnOf(h)
		if err != nil {
			return nil, fmt.Errorf("%s:1: %w", name, err)
		}
		if ok {
			cols[i] = c
			known[c.id] = true
		}
	}
	if !known[colAsked] && !known[colRate] || !known["request_rate"] && !known["output_rate"] && !known["e2e"] && !known["ttft"] {
		return nil, fmt.Errorf("%s:1: %w: a sweep CSV needs a column concurrency or request_rate, and one of request_throughput, output_throughput, latency_ms or ttft_ms", name, ErrUnknown)
	}
	im := &Imported{Format: "sweep-csv", Cannot: []archive.Annotation{noIntended, noTelemetry, {Code: "figures_only", Message: "A sweep table holds figures, not requests: no interval can be computed."}}}
	im.Manifest.Server.Engine = "unknown"
	var rows []row
	skipped := 0
	for {
		rec, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		at, _ := r.FieldPos(0)
		if len(rows) == maxRows {
			return nil, fmt.Errorf("%s:%d: more than %d rows", name, at, maxRows)
		}
		rw, err := readRow(at, rec, cols, header)
		if err != nil {
			if skipped++; skipped <= 20 {
				im.Cannot = append(im.Cannot, archive.Annotation{Code: "bad_line", Message: fmt.Sprintf("%s:%d was skipped: %v", name, at, err)})
			}
			continue
		}
		rows = append(rows, rw)
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("%s: no row could be read", name)
	}
	if skipped > 20 {
		im.Cannot = append(im.Cannot, archive.Annotation{Code: "bad_line", Message: fmt.Sprintf("%d rows in all were skipped", skipped)})
	}
	slices.SortStableFunc(rows, func(a, b row) int {
		return cmp.Compare(a.asked.Or(a.rate.Or(0)), b.asked.Or(b.rate.Or(0)))
	})
	im.Analysis = sweepAnalysis(rows)
	return []*Imported{im}, nil
}

func readRow(at int, rec []string, cols []column, header []string) (row, error) {
	rw := row{line: at}
	for i, s := range rec {
		s = strings.TrimSpace(s)
		if i >= len(cols) || cols[i].id == "" || s == "" {
			continue
		}
		v, err := strconv.ParseFloat(strings.ReplaceAll(s, "_", ""), 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
			if cols[i].id == colRate && strings.EqualFold(s, "inf") {
				continue
			}
			return rw, fmt.Errorf("%q in column %q is no number", s[:min(len(s), 40)], header[i])
		}
		switch cols[i].id {
		case colAsked:
			rw.asked = archive.Some(v)
		case colRate:
			rw.rate = archive.Some(v)
		case colOK:
			rw.ok = int(math.Min(v, 1e12))
		case colBad:
			rw.failed = int(math.Min(v, 1e12))
		default:
			rw.values = append(rw.values, struct {
				c column
				v float64
			}{cols[i], v * cols[i].factor})
		}
	}
	if !rw.asked.Known() && !rw.rate.Known() {
		return rw, errors.New("neither concurrency nor rate is given")
	}
	return rw, nil
}

// sweepAnalysis makes one phase of each row, and checks the client over all of them.
func sweepAnalysis(rows []row) *archive.Analysis {
	f := &figures{}
	a := &archive.Analysis{Definitions: "as imported", Counts: archive.Counts{ByKind: map[archive.Kind]int{}, Failures: map[string]int{}}}
	names := map[string]int{}
	for _, r := range rows {
		load := fmt.Sprintf("concurrency %.4g", r.asked.Or(0))
		if !r.asked.Known() {
			load = fmt.Sprintf("%.4g req/s", r.rate.Or(0))
		}
		phase := load
		if names[load]++; names[load] > 1 {
			phase = fmt.Sprintf("%s, row %d", load, r.line)
		}
		f.n = r.ok
		if r.ok == 0 { // the table does not count requests, so it cannot be judged by them
			f.n = math.MaxInt32
		}
		w := archive.Window{Phase: phase, Load: load, AskedConcurrency: r.asked, AskedRate: r.rate}
		var x, l archive.Opt[float64]
		for _, v := range r.values {
			f.stat("phase:"+phase, v.c.id, v.c.stat, v.v, true)
			switch {
			case v.c.id == "request_rate":
				x = archive.Some(v.v)
			case v.c.id == "e2e" && v.c.stat == "mean":
				l = archive.Some(v.v)
			}
		}
		w.AchievedRate = x
		if x.Known() && l.Known() {
			w.EffectiveConcurrency = archive.Some(x.Or(0) * l.Or(0) / 1000)
		}
		a.Windows = append(a.Windows, w)
		a.Counts.OK, a.Counts.Failed = a.Counts.OK+r.ok, a.Counts.Failed+r.failed
	}
	for i := range f.metrics {
		if f.metrics[i].N == math.MaxInt32 {
			f.metrics[i].N = 0
		}
	}
	a.Counts.Planned = a.Counts.OK + a.Counts.Failed
	a.Counts.ByKind[archive.KindLoad] = a.Counts.Planned
	a.Metrics = f.metrics
	judgeSweep(a)
	return a
}

// judgeSweep compares asked with effective concurrency over the sweep: a closed-loop
// client that keeps up has as many requests open as it was asked for, whatever the server
// does, because a slow server shows as latency. Where the two part as the asked one
// rises, it is the client that limits.
func judgeSweep(a *archive.Analysis) {
	a.Verdict = archive.Verdict{State: archive.VerdictInconclusive, Confidence: "low", Headline: "A table of figures cannot say what limits the server.", Next: "Measure the same server with inferencebench run --url URL."}
	for _, name := range []string{"speed", "cost", "quality", "stability", "efficiency"} {
		a.Radar = append(a.Radar, archive.Axis{Name: name, Reason: "a sweep table does not hold what it takes"})
	}
	var top, base *archive.Window
	for i := range a.Windows {
		w := &a.Windows[i]
		if !w.AskedConcurrency.Known() || !w.EffectiveConcurrency.Known() {
			continue
		}
		if base == nil {
			base = w
		}
		top = w
	}
	if top == nil {
		a.Gates = []archive.Gate{littleGate(archive.Window{})}
		return
	}
	g := littleGate(*top)
	if passed, _ := g.Passed.Get(); !passed {
		asked, eff := top.AskedConcurrency.Or(0), top.EffectiveConcurrency.Or(0)
		g.Message = fmt.Sprintf("Client-limited: asked concurrency rises from %.4g to %.4g, but throughput times latency adds up to %.3g, so the client never had more than that open.", base.AskedConcurrency.Or(0), asked, eff)
		a.Verdict = archive.Verdict{State: archive.VerdictInvalid, Confidence: "high", Headline: g.Message, Next: "Run the sweep with a client that keeps up, or with several; figures beyond concurrency " + fmt.Sprintf("%.3g", eff) + " describe the client."}
		id := "E1"
		a.Evidence = []archive.Evidence{{ID: id, Metric: "effective_concurrency", Scope: "phase:" + top.Phase, Value: archive.Some(eff), Method: "Little's law: request throughput times mean latency", Text: fmt.Sprintf("At an asked concurrency of %.4g, %.3g requests were open on average.", asked, eff), Family: "client"}}
		g.Evidence = []string{id}
		a.Findings = []archive.Finding{{ID: "F1", Cause: "client", Title: "The load generator limits", Role: "primary", Score: math.Min(1, 1-eff/asked), Confidence: "high", Summary: g.Message, For: []string{id}, Falsifier: "A second client beside the first does not raise throughput.", Probe: "P12: two clients at half the concurrency each", Tested: "untested"}}
	}
	a.Gates = []archive.Gate{g}
}
