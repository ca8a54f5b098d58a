package campaign

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/engines"
	"github.com/inferencebench/inferencebench/loadgen/wire"
	"github.com/inferencebench/inferencebench/monitor"
	"github.com/inferencebench/inferencebench/tasks"
)

// target is the server under test, found and tried.
type target struct {
	server    archive.Server
	simulated *simulated // nil for a real server
	client    *wire.Client
	extra     map[string]any // body fields of every request
	watch     monitor.Wanted // what there is to watch of it
	tried     archive.Event  // the test request before the run
	notes     []archive.Annotation
	closers   []func()
}

func (t *target) close() {
	for _, f := range slices.Backward(t.closers) {
		f()
	}
}

// Do sends a call with the campaign's extra body fields.
func (t *target) Do(ctx context.Context, call *wire.Call, rec *archive.Request) {
	call.Extra = t.extra
	t.client.Do(ctx, call, rec)
}

// Limits of the look at the server before the run.
const (
	discoveryTimeout = 15 * time.Second
	preflightTimeout = 5 * time.Minute // a first request may compile kernels
)

// openTarget finds the server, or starts the simulated one, chooses the model, and sends
// one small request through the client that the run will use.
func openTarget(ctx context.Context, c *Config, o Options, clock archive.Clock, items *checkpoints) (_ *target, err error) {
	t := &target{extra: c.Target.ExtraBody}
	defer func() {
		if err != nil {
			t.close()
		}
	}()
	raw := c.Target.URL
	if raw == "" {
		if t.simulated, raw, err = startSimulated(c.Seed, items, o); err != nil {
			return nil, err
		}
		t.closers = append(t.closers, func() { _ = t.simulated.server.Close() })
	}
	way, err := c.Target.reach(raw, o.Getenv)
	if err != nil {
		return nil, err
	}
	t.closers = append(t.closers, way.side.CloseIdleConnections)
	id, err := discover(ctx, way.side, way.base, way.sideHeader)
	if err != nil {
		return nil, c.Target.explain(err)
	}
	t.notes = id.Notes
	model, err := id.Choose(c.Target.Model)
	if err != nil {
		return nil, &TargetError{Kind: TargetModel, URL: engines.Redact(way.base), Message: err.Error(), Err: err}
	}
	t.server = id.Server(model.ID)
	t.server.Proxy = redactedOrEmpty(way.proxy)
	if t.simulated != nil {
		t.server.Settings = t.simulated.settings()
	}
	t.client, err = wire.New(wire.Config{
		BaseURL: way.base, Endpoint: wire.Endpoint(c.Target.Endpoint), Model: model.ID, Key: way.key, Header: way.header,
		CAFile: c.Target.CAFile, Insecure: c.Target.Insecure, Proxy: way.proxy, NoStream: c.Target.NoStream,
		Timeouts: wire.Timeouts{
			Connect: time.Duration(c.Target.Timeouts.Connect), FirstToken: time.Duration(c.Target.Timeouts.FirstToken),
			Idle: time.Duration(c.Target.Timeouts.Idle), Total: time.Duration(c.Target.Timeouts.Total),
		},
		Engine: wire.Engine(c.Target.Client), HTTP2: c.Target.HTTP2, UnixSocket: c.Target.UnixSocket,
		Clock: clock,
	})
	if err != nil {
		return nil, Problems{{Field: "target", Message: err.Error()}}
	}
	t.closers = append(t.closers, t.client.Close)
	if err := t.try(ctx, clock); err != nil {
		return nil, c.Target.explain(err)
	}
	t.watchable(c.Monitor, id, way.side, way.sideHeader)
	return t, nil
}

func discover(ctx context.Context, client *http.Client, base string, header http.Header) (engines.Identity, error) {
	ctx, cancel := context.WithTimeout(ctx, discoveryTimeout)
	defer cancel()
	id, err := engines.Probe(ctx, client, base, header)
	if err == nil {
		return id, nil
	}
	te := &TargetError{Kind: TargetUnreachable, URL: engines.Redact(base), Message: err.Error(), Err: err}
	if pe, ok := errors.AsType[*engines.ProbeError](err); ok {
		te.Message, te.Hint = pe.Message, pe.Hint
		switch pe.Kind {
		case engines.Auth:
			te.Kind = TargetAuth
		case engines.TLS:
			te.Kind = TargetTLS
		case engines.NotLLM:
			te.Kind = TargetNotLLM
		}
	}
	return id, te
}

// EventTestRequest is the kind of the event that tells of the test request before a run.
// It is no record of requests.jsonl: it belongs to no phase and to no count.
const EventTestRequest = "test_request"

// try sends one small request, so that a wrong key, model or address is found before a
// run directory exists.
func (t *target) try(ctx context.Context, clock archive.Clock) error {
	ctx, cancel := context.WithTimeout(ctx, preflightTimeout)
	defer cancel()
	rec := &archive.Request{ID: "preflight", Session: "preflight", Phase: "preflight", Task: "preflight", Kind: archive.KindProbe}
	rec.T.Intended = clock.Now()
	call := &wire.Call{
		ID: rec.ID, MaxTokens: 16, Temperature: archive.Some(0.0),
		Messages: []tasks.Message{{Role: "user", Content: "Count from one to five in words."}},
	}
	t.Do(ctx, call, rec)
	if rec.Status != archive.StatusOK {
		if overloaded(rec.Error) { // a busy server is what a benchmark is for
			t.tried = archive.Event{
				T: rec.T.Done, Kind: EventTestRequest, Severity: archive.SeverityWarning, Source: "campaign",
				Message: fmt.Sprintf("a test request failed (%s): %s", rec.Error.Kind, rec.Error.Message), Fields: map[string]any{"error": rec.Error},
			}
			t.notes = append(t.notes, archive.Annotation{Code: "test_request_failed", Message: t.tried.Message})
			return nil
		}
		return t.refused(rec)
	}
	t.tried = archive.Event{
		T: rec.T.Done, Kind: EventTestRequest, Severity: archive.SeverityInfo, Source: "campaign",
		Message: fmt.Sprintf("a test request was answered after %v", rec.T.Done.Sub(rec.T.Intended).Round(time.Millisecond)),
		Fields:  map[string]any{"first_token_ns": rec.T.First.Sub(rec.T.Send), "done_ns": rec.T.Done.Sub(rec.T.Send), "usage": rec.Usage},
	}
	return nil
}

// overloaded reports whether the server itself answered that it cannot serve just now.
func overloaded(f *archive.Failure) bool {
	code := 0
	if f != nil {
		code = f.HTTPStatus.Or(0)
	}
	return code == http.StatusTooManyRequests || code >= http.StatusInternalServerError
}

// refused explains a test request that failed.
func (t *target) refused(rec *archive.Request) error {
	te := &TargetError{Kind: TargetRefused, URL: t.server.URL, Message: "the test request ended without a reply"}
	f := rec.Error
	if f == nil {
		return te
	}
	te.Message = fmt.Sprintf("a test request failed (%s): %s", f.Kind, f.Message)
	switch code := f.HTTPStatus.Or(0); {
	case f.Kind == archive.FailConnect || f.Kind == archive.FailTimeoutConnect:
		te.Kind = TargetUnreachable
	case f.Kind == archive.FailTLS:
		te.Kind, te.Hint = TargetTLS, "--ca-file FILE with the server's certificate authority, or --insecure"
	case f.Kind == archive.FailNotSSE:
		te.Kind, te.Hint = TargetNotLLM, "the address of the inference server itself, for example http://localhost:8000"
	case code == http.StatusUnauthorized || code == http.StatusForbidden:
		te.Kind = TargetAuth
	case code == http.StatusNotFound && strings.Contains(strings.ToLower(f.Message), "model"):
		te.Kind, te.Hint = TargetModel, "--model with a name that the server lists under /v1/models"
	case code == http.StatusNotFound || code == http.StatusMethodNotAllowed:
		te.Kind, te.Hint = TargetNotLLM, "check the URL; --endpoint completions for a server without a chat API"
	}
	return te
}

// explain names the variable of the key in an error about the key.
func (t Target) explain(err error) error {
	if te, ok := errors.AsType[*TargetError](err); ok && te.Kind == TargetAuth {
		te.Hint = fmt.Sprintf("put the key into the environment variable %s, or name another variable with --key-env", t.KeyEnv)
	}
	return err
}

// watchable says what the monitor may look at.
func (t *target) watchable(m Monitor, id engines.Identity, side *http.Client, header http.Header) {
	switch m.MetricsURL {
	case "":
	case "none":
		id.MetricsURL = ""
	default:
		id.MetricsURL = m.MetricsURL
	}
	t.server.MetricsURL = redactedOrEmpty(id.MetricsURL)
	if id.MetricsURL == "" {
		t.notes = append(t.notes, archive.Annotation{Code: "no_metrics", Message: "no engine metrics page: the analysis rests on what the client saw"})
	}
	t.watch = monitor.Wanted{
		Client: side, Header: header, Server: id, MetricsURLs: m.MetricsURLs,
		NoGPU: !m.GPU || t.simulated != nil, GPUPage: m.GPUPage, GPUs: m.GPUs, Log: m.Log, Traces: m.Traces, KVEvents: m.KVEvents,
	}
}

func redactedOrEmpty(raw string) string {
	if raw == "" {
		return ""
	}
	return engines.Redact(raw)
}

// clientEvent is what the client knows of itself at the end of a run.
func (t *target) clientEvent(now archive.Instant) archive.Event {
	s := t.client.Stats()
	fields := map[string]any{
		"stamp_clock": s.StampClock, "connections_opened": s.Opened, "connections_reused": s.Reused,
		"events_by_template": s.Learned, "events_by_json": s.Decoded,
		"chunks": s.Chunks, "chunks_coalesced": s.Coalesced,
		"wall_clock_steps": s.ClockSteps, "reads_without_stamp": s.Unstamped,
	}
	msg := fmt.Sprintf("%d connections opened, %d requests on a connection that was there; arrivals stamped by the %s", s.Opened, s.Reused, s.StampClock)
	if p99, ok := s.LagP99.Get(); ok {
		fields["read_lag_p50_ns"], fields["read_lag_p99_ns"], fields["read_lag_max_ns"] = s.LagP50.Or(0).Nanoseconds(), p99.Nanoseconds(), s.LagMax.Or(0).Nanoseconds()
		msg += fmt.Sprintf("; this program read them %v later at the median, %v at P99", s.LagP50.Or(0), p99)
	}
	return archive.Event{T: now, Kind: EventClientStats, Severity: archive.SeverityInfo, Source: "wire", Message: msg, Fields: fields}
}

// EventClientStats is the kind of the event that holds the client's own counts.
const EventClientStats = "client_stats"
