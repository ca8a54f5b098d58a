// Package live measures configurations on a real server, or on the simulated one: it starts
// the server with the configuration, replays a frozen workload by a campaign, and reads
// objective, constraints, quality and errors off the analysis.
package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/inferencebench/inferencebench/analyst"
	"github.com/inferencebench/inferencebench/analyst/slo"
	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/campaign"
	"github.com/inferencebench/inferencebench/tuner"
	"github.com/inferencebench/inferencebench/tuner/space"
)

// Observer looks at the live server after a whole trial, while it still runs in the trial's
// configuration: at the default's first, at any other configuration's when it is launched a
// second time, which is when a study takes it seriously, and at both once more on the
// held-out workload. What it returns is kept in the journal under its name, for a check of the
// same name to judge; at most 64 KiB. An error is kept in its place as text: the check then
// has nothing to go by, and says so.
type Observer interface {
	Name() string
	Observe(ctx context.Context, s Server, config space.Assignment) (json.RawMessage, error)
}

// Server is the server under test as an observer sees it.
type Server struct {
	URL    string // base, without a trailing slash
	Target campaign.Target
	Getenv func(string) string
	// Run is the run directory of the load that just ended.
	Run string
}

// maxObserved bounds what one observer may keep.
const maxObserved = 64 << 10

// Config is what a Bench needs. All fields but Observers, Log and Getenv are required.
type Config struct {
	// Dir gets the run directories, under trials, and the frozen workloads.
	Dir     string
	Control Control
	// Target, Monitor and the zero Config say how to talk to the server and what to watch.
	Target  campaign.Target
	Monitor campaign.Monitor
	Traffic Traffic
	Goal    tuner.Goal
	// Constraints are the study's, in its order.
	Constraints []string
	// Seed is that of the search's workload; the held-out one has another.
	Seed    uint64
	USDHour float64
	// Parts is into how many equal parts a trial's window is cut; 0 is 6.
	Parts int
	// Simulated says that the server runs inside this program, so that the client's own
	// limits cannot be told from the server's.
	Simulated bool
	Observers []Observer
	Log       *slog.Logger
	Getenv    func(string) string
	Tool      archive.Tool
	// Now reads a monotonic clock.
	Now func() time.Time
	// Started is told of each run that begins; nil is told nothing.
	Started func(campaign.Start)
}

const defaultParts = 6

// heldOutSeed makes the held-out workload of a seed.
const heldOutSeed = 0x5eed_0ff5_e700

// Bench measures on a server. It implements tuner.Bench and tuner.Resumer, and is for one
// goroutine.
type Bench struct {
	c       Config
	goal    objective
	limits  []*slo.Expr
	n       int
	running *string // key of the configuration that runs
	url     string
	starts  map[string]int // launches of a configuration, by key
	watched map[sight]bool // what observers have seen
}

// sight is a configuration under a workload.
type sight struct {
	key     string
	heldOut bool
}

// New checks the configuration and returns the bench. Nothing is started yet.
func New(c Config) (*Bench, error) {
	b := &Bench{c: c, starts: map[string]int{}, watched: map[sight]bool{}}
	var err error
	if b.goal, err = parseObjective(c.Goal.Metric); err != nil {
		return nil, err
	}
	for _, s := range c.Constraints {
		e, err := slo.Parse(s)
		if err != nil {
			return nil, fmt.Errorf("slo: %w", err)
		}
		b.limits = append(b.limits, e)
	}
	if c.Parts == 0 {
		b.c.Parts = defaultParts
	}
	if c.Log == nil {
		b.c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Getenv == nil {
		b.c.Getenv = os.Getenv
	}
	return b, nil
}

// Resume implements tuner.Resumer.
func (b *Bench) Resume(history []tuner.Trial) {
	b.n = len(history)
	for i := range history {
		t := &history[i]
		if t.StartUp > 0 {
			b.starts[t.Config.Key()]++
		}
		if len(t.Observed) > 0 {
			b.watched[sight{t.Config.Key(), t.Load.HeldOut}] = true
		}
	}
}

// Relaunch implements tuner.Bench.
func (b *Bench) Relaunch(context.Context) error { b.running = nil; return nil }

// Restore implements tuner.Bench.
func (b *Bench) Restore(ctx context.Context) error { b.running = nil; return b.c.Control.Restore(ctx) }

// Measure implements tuner.Bench.
func (b *Bench) Measure(ctx context.Context, a space.Assignment, load tuner.Load) (tuner.Measurement, error) {
	from := b.c.Now()
	b.n++
	m, err := b.measure(ctx, a, load)
	m.Took = b.c.Now().Sub(from)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if m.Outcome == tuner.Crash {
		b.running = nil
	}
	return m, err
}

func (b *Bench) measure(ctx context.Context, a space.Assignment, load tuner.Load) (tuner.Measurement, error) {
	var m tuner.Measurement
	if key := a.Key(); b.running == nil || *b.running != key {
		b.running = nil
		url, took, err := b.c.Control.Start(ctx, a)
		if f, ok := errors.AsType[*Failure](err); ok && ctx.Err() == nil {
			return tuner.Measurement{Outcome: f.Outcome, Reason: f.Reason, StartUp: f.Took}, nil
		}
		if err != nil {
			return m, err
		}
		b.running, b.url, m.StartUp = &key, url, took
		b.starts[key]++
	}
	res, err := b.load(ctx, load)
	if err != nil {
		return b.failed(m, err)
	}
	if ctx.Err() != nil {
		return m, context.Cause(ctx)
	}
	m.Run = res.Dir
	if err := b.c.Control.Alive(); err != nil {
		return b.failed(m, err)
	}
	if res.Interrupted {
		m.Outcome, m.Reason = tuner.Invalid, "the load did not come to its end: "+res.Reason
		return m, nil
	}
	if err := b.read(&m, res.Dir, load); err != nil {
		return m, err
	}
	key := a.Key()
	now := sight{key, load.HeldOut}
	serious := b.n == 1 || b.starts[key] > 1 || load.HeldOut
	if m.Outcome == tuner.OK && load.Rung > 0 && serious && !b.watched[now] {
		from := b.c.Now()
		b.watched[now] = true
		b.observe(ctx, &m, a)
		m.Watched = b.c.Now().Sub(from)
	}
	return m, nil
}

// failed sorts the errors of a load: those that the configuration is to blame for are
// outcomes.
func (b *Bench) failed(m tuner.Measurement, err error) (tuner.Measurement, error) {
	if f, ok := errors.AsType[*Failure](err); ok {
		m.Outcome, m.Reason = f.Outcome, f.Reason
		return m, nil
	}
	if te, ok := errors.AsType[*campaign.TargetError](err); ok && !te.Configuration() {
		m.Outcome, m.Reason = tuner.Crash, "it was ready, and then: "+te.Message
		if dead, ok := errors.AsType[*Failure](b.c.Control.Alive()); ok {
			m.Outcome, m.Reason = dead.Outcome, dead.Reason
		}
		return m, nil
	}
	return m, err
}

// load freezes the trial's traffic and replays it.
func (b *Bench) load(ctx context.Context, load tuner.Load) (*campaign.Result, error) {
	seed := b.seed(load)
	dir := filepath.Join(b.c.Dir, "trials")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("trial folder: %w", err)
	}
	name := fmt.Sprintf("trial-%03d", b.n)
	file := filepath.Join(dir, name+".sent.jsonl.zst")
	if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("trial folder: %w", err)
	}
	if _, err := b.c.Traffic.Freeze(file, seed, load.Order, name, b.c.Target.Model, load.Rung); err != nil {
		return nil, err
	}
	defer os.Remove(file) // the run directory has what was sent
	t := b.c.Target
	t.URL = b.url
	phase := campaign.Phase{
		Name: "load", Concurrency: b.c.Traffic.Concurrency, Replay: &campaign.Replay{File: file, History: campaign.HistorySame},
		Duration: campaign.Duration(b.c.Traffic.Warmup + b.c.Traffic.window(load.Rung)),
		Warmup:   campaign.Warmup{Duration: b.c.Traffic.Warmup}, Drain: campaign.DefaultDrain,
	}
	w := campaign.Default().Workload
	w.Tokenizer = b.c.Traffic.Workload.Tokenizer
	cfg := &campaign.Config{
		Name: name, Seed: seed, Out: dir, Target: t, Workload: w, Checkpoints: b.c.Traffic.Checkpoints,
		Monitor: b.c.Monitor, SLO: b.c.Constraints, NoCalibration: b.n > 1 || b.c.Simulated, Phases: []campaign.Phase{phase},
	}
	cfg.Resolve()
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	return campaign.Run(ctx, cfg, campaign.Options{Log: b.c.Log, Getenv: b.c.Getenv, Tool: b.c.Tool, Started: b.c.Started})
}

func (b *Bench) seed(load tuner.Load) uint64 {
	if load.HeldOut {
		return b.c.Seed ^ heldOutSeed
	}
	return b.c.Seed
}

// read turns a run into a measurement.
func (b *Bench) read(m *tuner.Measurement, dir string, load tuner.Load) error {
	run, err := archive.Open(dir)
	if err != nil {
		return fmt.Errorf("read the trial's run: %w", err)
	}
	opts := analyst.Options{SLO: b.c.Constraints, USDHour: b.c.USDHour, Device: b.c.Target.GPU, TP: b.c.Target.TensorParallel}
	if b.c.Target.ModelConfig != "" {
		if opts.Model, err = campaign.ReadModel(b.c.Target.ModelConfig); err != nil {
			return err
		}
	}
	a, err := analyst.Analyze(run, opts)
	if err != nil {
		return fmt.Errorf("analyse the trial's run: %w", err)
	}
	if err := archive.WriteAnalysis(dir, a); err != nil {
		return err
	}
	for cp, err := range run.Checkpoints() {
		if err == nil {
			m.Quality = append(m.Quality, *cp)
		}
	}
	m.Errors = maps.Clone(a.Counts.Failures)
	env := pointEnv(a.Metrics)
	m.Metrics = figures(env)
	if why := b.unusable(a); why != "" {
		m.Outcome, m.Reason = tuner.Invalid, why
		return nil
	}
	if a.Counts.OK == 0 || a.Counts.Failed > a.Counts.OK {
		m.Outcome, m.Reason = tuner.Crash, fmt.Sprintf("%d of %d requests failed under load", a.Counts.Failed, a.Counts.OK+a.Counts.Failed)
		return nil
	}
	v, ok := b.goal.value(env)
	if !ok {
		m.Outcome, m.Reason = tuner.Invalid, b.goal.name+" could not be measured: "+b.goal.reason(env)
		return nil
	}
	m.Outcome, m.Value = tuner.OK, archive.Some(v)
	for _, e := range b.limits {
		s, ok, why := e.Slack(env)
		if !ok && b.n == 1 { // nor will it be in any other trial
			m.Outcome, m.Reason, m.Value = tuner.Invalid, fmt.Sprintf("%s could not be decided: %s", e, why), archive.Opt[float64]{}
			return nil
		}
		if !ok { // as where no request came to its end
			s, m.Reason = slo.MostSlack, fmt.Sprintf("%s counts as missed: %s", e, why)
		}
		m.Slack = append(m.Slack, s)
	}
	m.Blocks, err = b.goal.parts(run, a, b.c.Parts)
	return err
}

// clientGates are the gates of an analysis that say that the client was the limit.
var clientGates = map[string]bool{"achieved_rate": true, "client_resources": true, littleGate: true, "client_cpu": true}

// littleGate compares the concurrency that was asked for with that of the load alone: users
// who wait for the reply to a scored item are missing there, so it says nothing of a load
// with items in it.
const littleGate = "littles_law"

// unusable says why a run measured the client, or "".
func (b *Bench) unusable(a *archive.Analysis) string {
	if b.c.Simulated {
		return ""
	}
	for _, g := range a.Gates {
		if g.ID == littleGate && b.c.Traffic.Checkpoints.Enabled {
			continue
		}
		if clientGates[g.ID] && !g.Passed.Or(true) {
			return fmt.Sprintf("%s (%s)", g.Message, g.Observed)
		}
	}
	return ""
}

// observe asks the observers.
func (b *Bench) observe(ctx context.Context, m *tuner.Measurement, a space.Assignment) {
	for _, o := range b.c.Observers {
		t := b.c.Target
		t.URL = b.url
		raw, err := o.Observe(ctx, Server{URL: b.url, Target: t, Getenv: b.c.Getenv, Run: m.Run}, a)
		if err == nil && (len(raw) > maxObserved || !json.Valid(raw)) {
			err = fmt.Errorf("%d bytes that cannot be kept", len(raw))
		}
		if err != nil {
			raw, _ = json.Marshal(map[string]string{"error": err.Error()})
		}
		if m.Observed == nil {
			m.Observed = map[string]json.RawMessage{}
		}
		m.Observed[o.Name()] = raw
	}
}

// figures are the numbers of a trial that a reader may want beside the objective.
func figures(env slo.Env) map[string]float64 {
	out := map[string]float64{}
	for _, k := range []string{
		"output_rate", "request_rate", "goodput", "error_rate", "ttft_p50", "ttft_p99", "tpot_p50", "tpot_p95", "e2e_p50", "e2e_p99",
		costKey, energyKey, "requests_ok",
	} {
		if v, ok := env[k].Value.Get(); ok && !math.IsNaN(v) && !math.IsInf(v, 0) {
			out[k] = v
		}
	}
	return out
}
