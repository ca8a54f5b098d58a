package export

import (
	"encoding/csv"
	"errors"
	"io"
	"strconv"

	"github.com/inferencebench/inferencebench/archive"
)

// statOrder is the order of statistics within a metric; others follow by name.
var statOrder = []string{"value", "mean", "std", "min", "p50", "p90", "p95", "p99", "max"}

// CSV writes one row for each statistic of each metric: scope, metric, label, unit, n,
// statistic, value, low, high, sample, reason. An unknown number is an empty field, and
// reason says why. RFC 4180, with a header line. Fields that a spreadsheet would take for
// a formula start with an apostrophe.
func CSV(w io.Writer, _ *archive.Run, a *archive.Analysis) error {
	c := csv.NewWriter(w)
	rows := [][]string{{"scope", "metric", "label", "unit", "n", "statistic", "value", "low", "high", "sample", "reason"}}
	for i := range a.Metrics {
		m := &a.Metrics[i]
		for _, st := range statOrder {
			e, ok := m.Stats[st]
			if !ok {
				continue
			}
			rows = append(rows, []string{
				safe(m.Scope), safe(m.ID), safe(m.Label), m.Unit, strconv.Itoa(m.N), st,
				number(e.Value), number(e.Low), number(e.High), number(e.Sample), safe(e.Reason),
			})
		}
	}
	return c.WriteAll(rows)
}

// RequestsCSV writes one row for each request of the run, all kinds and statuses. Times
// are milliseconds: at since the run began, the others durations. Unreadable lines are
// left out.
func RequestsCSV(w io.Writer, run *archive.Run, _ *archive.Analysis) error {
	c := csv.NewWriter(w)
	if err := c.Write([]string{
		"id", "session", "turn", "phase", "task", "kind", "status", "failure", "http_status", "at_ms", "send_lag_ms", "ttft_ms", "e2e_ms",
		"prompt_tokens", "completion_tokens", "cached_tokens", "usage_source", "chunks", "finish",
	}); err != nil {
		return err
	}
	for r, err := range run.Requests() {
		if err != nil {
			if isLine(err) {
				continue
			}
			return err
		}
		failure, status := "", ""
		if r.Error != nil {
			failure = r.Error.Kind
			status = whole(r.Error.HTTPStatus)
		}
		if err := c.Write([]string{
			safe(r.ID), safe(r.Session), strconv.Itoa(r.Turn), safe(r.Phase), safe(r.Task), string(r.Kind), string(r.Status), safe(failure), status,
			span(run.Manifest.Started, r.T.Intended), span(r.T.Intended, r.T.Send), span(r.T.Intended, r.T.First), span(r.T.Intended, r.T.Last),
			whole(r.Usage.Prompt), whole(r.Usage.Completion), whole(r.Usage.Cached), string(r.Usage.Source), strconv.Itoa(len(r.Chunks.T)), safe(r.Finish),
		}); err != nil {
			return err
		}
	}
	c.Flush()
	return c.Error()
}

// isLine reports whether err is about one line, after which a file goes on.
func isLine(err error) bool {
	var l *archive.LineError
	return errors.As(err, &l)
}

// safe keeps a spreadsheet from running text as a formula.
func safe(s string) string {
	if s != "" {
		switch s[0] {
		case '=', '+', '-', '@', '\t', '\r':
			return "'" + s
		}
	}
	return s
}

func number(o archive.Opt[float64]) string {
	v, ok := o.Get()
	if !ok {
		return ""
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

func whole(o archive.Opt[int]) string {
	v, ok := o.Get()
	if !ok {
		return ""
	}
	return strconv.Itoa(v)
}

// span is the milliseconds between two instants, or empty.
func span(from, to archive.Instant) string {
	if !from.Known() || !to.Known() {
		return ""
	}
	return strconv.FormatFloat(float64(to-from)/1e6, 'f', 3, 64)
}
