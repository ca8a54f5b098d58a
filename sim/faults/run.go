package faults

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/sim"
	"github.com/inferencebench/inferencebench/sim/offline"
)

// Options vary how a condition is played.
type Options struct {
	Severity Severity
	Seed     uint64
	// Engine is the server: GPU, model and flags. The zero value is the default server.
	// The condition changes what it is about.
	Engine sim.Config
	// Duration is the time that is played; 0 takes as long as about 300 requests need on this
	// server, 90 s to 10 min.
	Duration time.Duration
	// Windows makes a timed condition start somewhere in the first half and end before the
	// run does, with healthy time before and after. Otherwise it lasts the whole run.
	Windows bool
	// Distract adds anomalies that are true but irrelevant.
	Distract []Distractor
	// Dialect is the engine whose signals are shown: one that exposes fewer leaves more to
	// infer. "" is vLLM, which exposes all.
	Dialect string
	// Withhold drops all samples of these sources ("engine", "gpu", "host", "client").
	Withhold []string
}

// Truth is what was done: the label that a verdict is judged by.
type Truth struct {
	Condition  string          `json:"condition"`
	Name       string          `json:"name"`
	Cause      string          `json:"cause"`            // "" when nothing is wrong
	Second     string          `json:"second,omitempty"` // the cause of a second condition that holds too
	Accept     []string        `json:"accept,omitempty"`
	Secondary  []string        `json:"secondary,omitempty"`
	Chain      []string        `json:"chain"`
	Signals    []string        `json:"signals"`
	Missing    []string        `json:"missing,omitempty"` // of Signals: in no sample, so that "undecided" is right too
	Severity   string          `json:"severity"`
	Seed       uint64          `json:"seed"`
	Knob       string          `json:"knob"` // what was turned
	From       archive.Instant `json:"from"` // when the condition was in force
	To         archive.Instant `json:"to"`
	Distract   []Distractor    `json:"distract,omitempty"`
	Withhold   []string        `json:"withhold,omitempty"`
	TTFT       time.Duration   `json:"slo_ttft_ns"` // the objective that a healthy server of this kind meets
	TPOT       time.Duration   `json:"slo_tpot_ns"`
	RateAsked  float64         `json:"rate"` // sessions a second; 0 in a closed loop
	Concurrent int             `json:"concurrency"`
}

// Run is one played condition: the records of a campaign, and the truth about it.
type Run struct {
	Truth    Truth
	Manifest archive.Manifest
	Requests []*archive.Request
	Samples  []*archive.Sample
	Events   []*archive.Event
}

// Play plays a condition offline, or two at once where the id is such as "F05+F15"; see
// Pairs.
func Play(ctx context.Context, id string, opt Options) (*Run, error) {
	first, second, err := lookupPair(id)
	if err != nil {
		return nil, err
	}
	s, err := prepare(ctx, first, second, opt)
	if err != nil {
		return nil, fmt.Errorf("fault %s: %w", id, err)
	}
	r, err := s.play(first, opt)
	if err == nil && second != nil {
		r.Truth.Condition, r.Truth.Second = id, second.Cause
	}
	return r, err
}

// play plays a world that is set up.
func (s *scenario) play(cond Condition, opt Options) (*Run, error) {
	res, err := offline.Run(s.ctx, s.run)
	if err != nil {
		return nil, fmt.Errorf("fault %s: %w", cond.ID, err)
	}
	r := &Run{Requests: res.Requests, Truth: truth(cond, s, opt)}
	for i := range res.Samples {
		r.Samples = append(r.Samples, &res.Samples[i])
	}
	r.events(s)
	r.distract(s, opt)
	if err := r.manifest(s, opt); err != nil {
		return nil, err
	}
	if err := r.speak(opt.Dialect); err != nil {
		return nil, fmt.Errorf("fault %s: %w", cond.ID, err)
	}
	r.Truth.Missing = r.missing(cond.Signals)
	return r, nil
}

// prepare builds the world of a condition.
func prepare(ctx context.Context, cond Condition, second *Condition, opt Options) (*scenario, error) {
	eng := opt.Engine.Resolved()
	eng.StepNoise, eng.PauseEvery, eng.Seed = 0.03, 4000, opt.Seed
	if eng.MaxModelLen > 32768 {
		eng.MaxModelLen = 32768
	}
	base, err := stepTime(eng)
	if err != nil {
		return nil, err
	}
	s := &scenario{
		ctx: ctx, sev: opt.Severity, cond: cond, base: base,
		rng:   rand.New(rand.NewPCG(opt.Seed, 0xfa)),
		shape: offline.Chat(0, opt.Seed+1),
		obj:   offline.Objective{TTFT: max(500*time.Millisecond, 40*base), TPOT: 5 * base / 2, Share: 0.95},
		run: offline.Config{
			Engine: eng, Frontend: sim.DefaultFrontend, Network: offline.Network{RTT: 400 * time.Microsecond, Jitter: 50 * time.Microsecond},
			Drain:    15 * time.Second,
			Sampling: offline.Sampling{Every: time.Second, Jitter: 0.1}, Records: true, Seed: opt.Seed,
		},
	}
	if err := cond.build(s); err != nil {
		return nil, err
	}
	if second != nil {
		if err := s.join(second); err != nil {
			return nil, err
		}
	}
	s.run.Duration = opt.Duration
	if opt.Duration == 0 {
		s.run.Duration = s.enough()
	}
	s.whole = s.run.Duration
	s.run.Warmup = min(10*time.Second, s.run.Duration/6)
	s.to = s.run.Duration + s.run.Drain
	if opt.Windows && cond.Timed {
		d := float64(s.run.Duration)
		s.from = time.Duration(d * (0.2 + 0.2*s.rng.Float64()))
		s.to = time.Duration(d * (0.75 + 0.1*s.rng.Float64()))
	}
	s.finish()
	return s, nil
}

// enough is how long a run must be for its numbers to mean something on this server: as
// slower devices do less in a minute, they get more minutes.
func (s *scenario) enough() time.Duration {
	const least, most = 90 * time.Second, 10 * time.Minute
	d := time.Duration(float64(least) * float64(s.base) / float64(10*time.Millisecond))
	if s.run.Concurrency == 0 && s.load > 0 {
		d = time.Duration(300 / s.load * 1e9)
	}
	return min(max(d, least), most).Round(time.Second)
}

func (r *Run) events(s *scenario) {
	fields := map[string]any{"phase": offline.Phase}
	if s.run.Concurrency > 0 {
		fields["load"], fields["concurrency"] = fmt.Sprintf("concurrency %d", s.run.Concurrency), float64(s.run.Concurrency)
	} else {
		fields["load"], fields["rate"] = fmt.Sprintf("%.3g sessions/s", s.shape.Rate), s.askedRate()
	}
	add := func(at time.Duration, kind string, f map[string]any) {
		r.Events = append(r.Events, &archive.Event{T: offline.Instant(at), Kind: kind, Severity: archive.SeverityInfo, Source: "sim", Message: kind, Fields: f})
	}
	only := map[string]any{"phase": offline.Phase}
	add(0, archive.EventPhaseStart, fields)
	add(s.run.Warmup, archive.EventMeasureStart, only)
	add(s.run.Duration, archive.EventPhaseEnd, only)
}

// askedRate is the request rate of single-turn traffic; a session's later turns follow the
// server, so that for conversations only the rate of sessions is asked for.
func (s *scenario) askedRate() any {
	if s.shape.Turns != nil {
		return nil
	}
	return s.shape.Rate
}

func (r *Run) manifest(s *scenario, opt Options) error {
	cfg := s.run.Engine
	mem, err := cfg.Memory()
	if err != nil {
		return err
	}
	type phase struct {
		Name        string  `json:"name"`
		Concurrency int     `json:"concurrency,omitempty"`
		Rate        float64 `json:"request_rate,omitempty"`
	}
	p := phase{Name: offline.Phase, Concurrency: s.run.Concurrency}
	if s.shape.Turns == nil {
		p.Rate = s.shape.Rate
	}
	conf, err := json.Marshal(map[string]any{"phases": []phase{p}})
	if err != nil {
		return err
	}
	end := offline.Instant(s.run.Duration)
	for _, q := range r.Requests {
		end = max(end, q.T.Done)
	}
	r.Manifest = archive.Manifest{
		Schema: archive.SchemaVersion, ID: fmt.Sprintf("%s-%s-%d", r.Truth.Condition, opt.Severity, opt.Seed), Name: "simulated condition",
		Tool: archive.Tool{Version: "sim"}, State: archive.StateComplete, Epoch: time.Unix(0, 0).UTC(), Started: offline.Instant(0), Ended: end,
		Seed: opt.Seed, Config: conf, Simulated: true,
		Server: archive.Server{
			URL: "offline", Engine: "vllm", Version: "simulated", Model: cfg.Model.Name, MetricsURL: "offline", MaxModelLen: archive.Some(cfg.MaxModelLen),
			Settings: cfg.Settings(mem),
		},
		Host: archive.Host{OS: "linux", Kernel: "simulated", CPU: "simulated", Cores: int(max(s.run.Client.Cores, 1)), MemoryMB: 262144},
	}
	if s.run.Client.Cores == 0 {
		r.Manifest.Host.Cores = 4
	}
	for i := range max(s.run.Replicas, 1) * cfg.TensorParallel {
		r.Manifest.GPUs = append(r.Manifest.GPUs, archive.GPU{
			Index: i, UUID: fmt.Sprintf("GPU-%d", i), Name: cfg.GPU.Label, MemoryMB: int64(cfg.GPU.Memory / (1 << 20)), PowerW: archive.Some(cfg.GPU.TDP), Driver: "simulated",
		})
	}
	return nil
}

// Write stores the run as a run directory.
func (r *Run) Write(dir string) error {
	w, err := archive.Create(dir, r.Manifest)
	if err != nil {
		return err
	}
	for _, q := range r.Requests {
		w.Request(q)
	}
	for _, s := range r.Samples {
		w.Sample(*s)
	}
	for _, e := range r.Events {
		w.Event(*e)
	}
	return w.Close(r.Manifest)
}
