package campaign

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/inferencebench/inferencebench/analyst/metrics"
	"github.com/inferencebench/inferencebench/analyst/slo"
	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/loadgen"
	"github.com/inferencebench/inferencebench/loadgen/search"
	"github.com/inferencebench/inferencebench/tasks"
)

// FindMaxRate is the value of Config.Find that searches for the largest sustainable rate.
const FindMaxRate = "max-rate"

// Kinds of events that tell of a search.
const (
	EventSearchProbe  = "search_probe"  // one probe was carried out
	EventSearchAnswer = "search_answer" // what the search found
)

// The requests of a search against a live server. They buy an answer within minutes on a
// server of tens of requests a second; the interval says how exact it is.
const (
	searchBudget  = 20_000
	searchLevel   = 1500
	searchRefine  = 400
	searchConfirm = 1000
)

// limits are the per-request limits behind the campaign's objectives. The error names an
// objective that says nothing about a single request.
func limits(exprs []string) ([]slo.Limit, error) {
	var out []slo.Limit
	for _, s := range exprs {
		e, err := slo.Parse(s)
		if err != nil {
			return nil, err
		}
		ls, whole := e.Limits()
		if !whole || len(ls) == 0 {
			return nil, fmt.Errorf("slo %q: a search needs limits that a request meets or misses, such as ttft_p99<500ms", s)
		}
		out = append(out, ls...)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("a search for the largest rate needs an objective, such as --slo 'ttft_p99<500ms && tpot_p95<40ms'")
	}
	return out, nil
}

// misses says which limits an ok request misses: bit i for limit i.
func misses(limits []slo.Limit) func(*archive.Request) uint64 {
	defs := map[string]metrics.Def{}
	for _, d := range metrics.Defs() {
		defs[d.ID] = d
	}
	return func(r *archive.Request) uint64 {
		row := metrics.RowOf(r)
		var bits uint64
		for i, l := range limits {
			v, known := defs[l.Metric].Of(&row)
			if strings.HasPrefix(defs[l.Metric].Unit, "ms") {
				v /= 1000
			}
			if known && !l.Meets(v) {
				bits |= 1 << i
			}
		}
		return bits
	}
}

// find searches for the largest sustainable rate with the first phase's shape.
func (r *run) find(ctx context.Context, source tasks.Source) (*search.Answer, error) {
	ls, err := limits(r.cfg.SLO)
	if err != nil {
		return nil, err
	}
	cfg := search.Config{
		Budget: searchBudget, LevelRequests: searchLevel, RefineRequests: searchRefine, ConfirmRequests: searchConfirm,
	}
	for _, l := range ls {
		name := l.String()
		if len(ls) == len(r.cfg.SLO) { // one limit an objective: in the user's own words
			name = r.cfg.SLO[len(cfg.Limits)]
		}
		cfg.Limits = append(cfg.Limits, search.Limit{Name: name, Allowed: l.Allowed})
	}
	p := r.cfg.Phases[0]
	if p.Requests > 0 { // fewer requests buy a wider answer
		cfg.Budget = p.Requests
		cfg.LevelRequests = min(searchLevel, max(100, p.Requests/6))
		cfg.RefineRequests = min(searchRefine, max(100, p.Requests/20))
		cfg.ConfirmRequests = min(searchConfirm, max(100, p.Requests/6))
	}
	m, err := search.New(cfg)
	if err != nil {
		return nil, err
	}
	load := &search.Load{
		Config: r.load(),
		Phase:  loadgen.Phase{Source: source, MaxInFlight: p.MaxInFlight, Drain: time.Duration(p.Drain)},
		Misses: misses(ls),
	}
	if p.Duration > 0 { // as long as the user gives it; what was found by then is the answer
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, time.Duration(p.Duration), errSearchTime)
		defer cancel()
	}
	a, err := search.Drive(ctx, m, load, func(p search.Probe, res search.Result) {
		fields := map[string]any{"stage": string(p.Stage), "concurrency": p.Concurrency, "rate": p.Rate, "throughput": res.Throughput, "client_limited": res.ClientLimited}
		msg := fmt.Sprintf("%s: concurrency %d gives %.2f requests/s", p.Stage, p.Concurrency, res.Throughput)
		if res.Level != nil {
			d := res.Level.Decide().String()
			fields["decision"] = d
			msg = fmt.Sprintf("%s: %.2f sessions/s: %s", p.Stage, p.Rate, d)
		}
		r.w.Event(archive.Event{T: r.clock.Now(), Kind: EventSearchProbe, Severity: archive.SeverityInfo, Source: "search", Message: msg, Fields: fields})
		r.tell(msg)
	})
	if context.Cause(ctx) == errSearchTime {
		err = nil
	}
	contradicted(&a)
	r.w.Event(archive.Event{
		T: r.clock.Now(), Kind: EventSearchAnswer, Severity: archive.SeverityInfo, Source: "search", Message: Found(&a),
		Fields: map[string]any{
			"known": a.Known, "rate": a.Rate, "low": a.Low, "high": a.High, "confidence": a.Confidence, "precise": a.Precise,
			"saturation": a.Saturation, "confirmed": a.Confirmed.String(), "binding": a.Binding, "requests": a.Requests, "reason": a.Reason,
		},
	})
	return &a, err
}

// contradicted withdraws an answer that the search's own probes speak against: a rate
// that failed below the interval, or one that passed above it. The server, or the machine
// under the client, was not the same throughout.
func contradicted(a *search.Answer) {
	if !a.Known {
		return
	}
	for _, l := range a.Levels {
		switch {
		case l.Decision == search.Fail && l.Rate <= a.Low:
			a.Known, a.Reason = false, fmt.Sprintf("the probes contradict one another: %.2f/s failed, which is below the interval %.2f to %.2f/s; the server or this machine was not the same throughout, so run it again", l.Rate, a.Low, a.High)
			return
		case l.Decision == search.Pass && l.Rate >= a.High:
			a.Known, a.Reason = false, fmt.Sprintf("the probes contradict one another: %.2f/s passed, which is above the interval %.2f to %.2f/s; the server or this machine was not the same throughout, so run it again", l.Rate, a.Low, a.High)
			return
		}
	}
}

// errSearchTime ends a search whose time is up.
var errSearchTime = fmt.Errorf("the time for the search is up")

// Found says what a search found, in a sentence.
func Found(a *search.Answer) string {
	switch {
	case !a.Known:
		return "The largest sustainable rate is not known: " + a.Reason
	case !a.Precise:
		return fmt.Sprintf("The largest sustainable rate is between %.2f and %.2f sessions/s, best guess %.2f (%.0f %% interval, wider than asked); %s fails first.", a.Low, a.High, a.Rate, 100*a.Confidence, a.Binding)
	default:
		return fmt.Sprintf("The largest sustainable rate is %.2f sessions/s, between %.2f and %.2f (%.0f %% interval); %s fails first; confirmation at the lower end: %s.", a.Rate, a.Low, a.High, 100*a.Confidence, a.Binding, a.Confirmed)
	}
}
