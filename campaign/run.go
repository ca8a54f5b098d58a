package campaign

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

	"github.com/inferencebench/inferencebench/agents/director"
	"github.com/inferencebench/inferencebench/agents/llm"
	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/engines"
	"github.com/inferencebench/inferencebench/loadgen"
	"github.com/inferencebench/inferencebench/loadgen/pace"
	"github.com/inferencebench/inferencebench/loadgen/search"
	"github.com/inferencebench/inferencebench/monitor"
	"github.com/inferencebench/inferencebench/monitor/doctor"
	"github.com/inferencebench/inferencebench/monitor/live"
	"github.com/inferencebench/inferencebench/sim/server"
	"github.com/inferencebench/inferencebench/tasks/token"
	"github.com/inferencebench/inferencebench/tasks/workload"
)

// Options are what a run needs from the program around it. The zero Options is usable.
type Options struct {
	// Log gets warnings that are not part of the record; nil drops them.
	Log *slog.Logger
	// Getenv reads the environment; nil is os.Getenv.
	Getenv func(string) string
	// Tool identifies the program in the manifest.
	Tool archive.Tool
	// Searching is told of each step of a search; nil is told nothing.
	Searching func(string)
	// SimulatedSeqs is the cap on running requests of the embedded engine; 0 is its own.
	SimulatedSeqs int
	// Simulated is the embedded engine in place of the demonstration's; nil is that one.
	Simulated *server.Config
	// Started is called once, when the server answered and the run directory exists.
	Started func(Start)
}

// Start describes a run that is about to send load.
type Start struct {
	Dir      string
	Manifest archive.Manifest
	Config   *Config
	Clock    archive.Clock
	Live     *loadgen.Live
	// Phase returns the name of the phase that is going on, and when it began.
	Phase func() (string, archive.Instant)
}

// Result is a run that came to an end, whatever end.
type Result struct {
	Dir         string
	Interrupted bool
	Reason      string // why it was interrupted
	// Found is the outcome of a search; nil when none was asked for.
	Found *search.Answer
	// Weak is the outcome of a search for weaknesses; nil when none was asked for.
	Weak *director.Map
}

// Run carries out one campaign. It returns an error when the run could not start: a
// Problems, a *TargetError, or an error of the run directory. Once the run has started it
// always returns a Result, and what was recorded is on disk: a cancelled ctx, a full disk
// and a dead server all leave a run directory that archive.Open reads.
func Run(ctx context.Context, c *Config, o Options) (*Result, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
	defer rareCollections(o.Getenv)()
	if err := writable(c.Out); err != nil {
		return nil, Problems{{Field: "out", Message: err.Error()}}
	}
	items, err := openCheckpoints(ctx, c)
	if err != nil {
		return nil, err
	}
	clock := archive.NewRunClock()
	target, err := openTarget(ctx, c, o, clock, items)
	if err != nil {
		return nil, err
	}
	defer target.close()

	pacer := pace.New(clock)
	defer pacer.Close()
	r := &run{cfg: c, opts: o, clock: clock, target: target, items: items, id: newID(), pacer: pacer, replies: newReplyCheck()}
	r.page = live.New(func() float64 { return float64(r.live.InFlight.Load()) })
	return r.do(ctx)
}

// gcPercent makes garbage collections four times rarer than Go's default while a run goes
// on: each can delay a send. The live heap of a run is small.
const gcPercent = 400

// rareCollections applies gcPercent unless the user set GOGC, and returns how to undo it.
func rareCollections(getenv func(string) string) (undo func()) {
	if getenv("GOGC") != "" {
		return func() {}
	}
	before := debug.SetGCPercent(gcPercent)
	return func() { debug.SetGCPercent(before) }
}

// run is one run on its way.
type run struct {
	cfg     *Config
	opts    Options
	clock   *archive.RunClock
	target  *target
	items   *checkpoints
	id      string
	pacer   *pace.Pacer
	sender  loadgen.Sender
	replies *replyCheck
	page    *live.Page
	counter token.Counter // nil without a tokenizer
	// director writes user turns with a model; nil without one.
	director *turnWriter

	w     *archive.Writer
	live  loadgen.Live
	seq   atomic.Uint64
	phase atomic.Pointer[phaseMark]
}

type phaseMark struct {
	name  string
	since archive.Instant
}

func (r *run) do(ctx context.Context) (*Result, error) {
	started := r.clock.Now()
	manifest, err := r.manifest(started)
	if err != nil {
		return nil, err
	}
	r.director, err = newTurnWriter(ctx, r.cfg, r.opts.Getenv, r.clock, func(call llm.Record) { r.w.Agent(call) })
	if err != nil {
		return nil, err
	}
	if r.counter, err = r.cfg.Workload.counter(); err != nil {
		return nil, Problems{{Field: "workload.tokenizer", Message: err.Error()}}
	}
	if r.cfg.Workload.Tokenizer == NoTokenizer {
		manifest.Notes = append(manifest.Notes, archive.Annotation{Code: "no_tokenizer", Message: "no tokenizer: token counts are the server's, and unknown where it gives none"})
	}
	source, err := r.source()
	if err != nil {
		return nil, err
	}
	phases, err := r.phases(source)
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(r.cfg.Out, fmt.Sprintf("%s-%s-%s",
		r.clock.Wall().UTC().Format("20060102T150405Z"), folderName(r.cfg.Name), r.id))
	seen, err := r.attach(ctx)
	if err != nil {
		return nil, Problems{{Field: "monitor", Message: err.Error()}}
	}
	manifest.GPUs = seen.GPUs
	manifest.Notes = append(manifest.Notes, seen.Notes...)
	for _, p := range r.cfg.Phases {
		if p.Replay != nil {
			manifest.Notes = append(manifest.Notes, archive.Annotation{Code: "replayed_prompts", Message: "a replay sends prompts that a server may have seen: restart it, or reset its prefix cache, where runs are to be compared"})
		}
	}
	manifest.Notes = append(manifest.Notes, r.environment(ctx)...)
	manifest.Notes = append(manifest.Notes, r.calibration(ctx)...)
	if r.cfg.Monitor.Page != "" {
		url, stop, err := servePage(ctx, r.cfg.Monitor.Page, r.page)
		if err != nil {
			return nil, Problems{{Field: "monitor.page", Message: err.Error()}}
		}
		defer stop()
		manifest.Notes = append(manifest.Notes, archive.Annotation{Code: "live_page", Message: "live metrics at " + url})
	}
	if r.w, err = archive.Create(dir, manifest); err != nil {
		return nil, Problems{{Field: "out", Message: err.Error()}}
	}
	r.w.Event(r.target.tried)
	frozen, err := workload.Create(filepath.Join(dir, WorkloadFile), workload.Header{Run: r.id, Seed: r.cfg.Seed, Model: r.target.server.Model})
	if err != nil {
		return nil, Problems{{Field: "out", Message: err.Error()}}
	}
	r.sender = newFreezer(r.target, frozen)

	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	go func() { // nothing is worth sending that cannot be recorded
		select {
		case <-r.w.Failed():
			stop(r.w.Err())
		case <-ctx.Done():
		}
	}()
	watch := monitor.Start(context.WithoutCancel(ctx), monitor.Config{
		Clock: r.clock, Interval: time.Duration(r.cfg.Monitor.Interval), Sources: seen.Sources, Watchers: seen.Watchers,
		Sample: func(s archive.Sample) { r.page.Sample(s); r.w.Sample(s) },
		Event:  func(e archive.Event) { r.page.Event(e); r.w.Event(e) },
	})
	if r.opts.Started != nil {
		r.opts.Started(Start{Dir: dir, Manifest: manifest, Config: r.cfg, Clock: r.clock, Live: &r.live, Phase: r.current})
	}
	res := &Result{Dir: dir}
	var loadErr error
	switch r.cfg.Find {
	case FindMaxRate:
		res.Found, loadErr = r.find(ctx, source)
	case FindWeakness:
		res.Weak, loadErr = r.weakness(ctx, dir)
	default:
		loadErr = loadgen.Run(ctx, r.load(), phases)
	}
	if loadErr == nil && r.cfg.Checkpoints.Determinism > 0 {
		loadErr = r.determinism(ctx)
	}
	watch.Stop()
	if manifest.WorkloadSHA256, err = frozen.Close(); err != nil {
		r.opts.Log.Warn("the workload could not be frozen", "err", err)
	}
	if r.items != nil {
		r.items.finish(ctx, r.w.Checkpoint)
	}
	r.w.Event(r.replies.event(r.clock.Now()))

	switch {
	case loadErr != nil && context.Cause(ctx) != nil:
		res.Interrupted, res.Reason = true, context.Cause(ctx).Error()
	case loadErr != nil:
		res.Interrupted, res.Reason = true, loadErr.Error()
	}
	manifest.State = archive.StateComplete
	if res.Interrupted {
		manifest.State, manifest.Reason = archive.StateInterrupted, res.Reason
		r.w.Event(archive.Event{T: r.clock.Now(), Kind: archive.EventInterrupted, Severity: archive.SeverityWarning, Source: "campaign", Message: res.Reason})
	}
	manifest.Ended = r.clock.Now()
	if res.Found != nil {
		manifest.Notes = append(manifest.Notes, archive.Annotation{Code: EventSearchAnswer, Message: Found(res.Found)})
	}
	r.w.Event(r.target.clientEvent(manifest.Ended))
	if r.director != nil {
		r.w.Event(r.director.event(manifest.Ended))
	}
	if n := r.w.Stalls(); n > 0 {
		manifest.Notes = append(manifest.Notes, archive.Annotation{Code: "slow_disk", Message: fmt.Sprintf("%d records waited for the disk; think times may be longer than planned", n)})
	}
	if err := r.w.Close(manifest); err != nil {
		r.opts.Log.Error("the run directory is incomplete", "dir", dir, "err", err)
		res.Interrupted = true
		if res.Reason == "" {
			res.Reason = err.Error()
		}
	}
	return res, nil
}

func (r *run) current() (string, archive.Instant) {
	if m := r.phase.Load(); m != nil {
		return m.name, m.since
	}
	return "", 0
}

func (r *run) load() loadgen.Config {
	limit := r.cfg.Target.ContextLimit
	if limit == 0 {
		limit = r.target.server.MaxModelLen.Or(0)
	}
	return loadgen.Config{
		Sender: r.sender, Clock: r.clock, Record: r.record, Seed: r.cfg.Seed,
		ContextLimit: limit, Live: &r.live, Pacer: r.pacer,
		Retry: loadgen.Retry{Max: r.cfg.Target.Retries},
		NewID: func() string { return fmt.Sprintf("%s-%06d", r.id, r.seq.Add(1)) },
		Event: func(e archive.Event) {
			if e.Kind == archive.EventPhaseStart {
				name, _ := e.Fields["phase"].(string)
				r.phase.Store(&phaseMark{name: name, since: e.T})
			}
			r.w.Event(e)
		},
	}
}

// record keeps a finished request and scores it when it carried a checkpoint item.
func (r *run) record(rec *archive.Request) {
	estimateUsage(rec, r.counter)
	r.replies.add(rec)
	r.page.Request(rec)
	if rec.Kind == archive.KindCheckpoint && r.items != nil {
		if cp, ok := r.items.score(rec); ok {
			r.w.Checkpoint(cp)
		}
	}
	r.w.Request(rec)
}

func (r *run) manifest(started archive.Instant) (archive.Manifest, error) {
	recorded := *r.cfg
	if recorded.Target.URL != "" {
		recorded.Target.URL = engines.Redact(recorded.Target.URL)
	}
	cfg, err := json.Marshal(recorded)
	if err != nil {
		return archive.Manifest{}, fmt.Errorf("record the configuration: %w", err)
	}
	notes := r.target.notes
	if r.items != nil {
		notes = append(notes, r.items.notes...)
	}
	tool := r.opts.Tool
	tool.Go = runtime.Version()
	return archive.Manifest{
		ID: r.id, Name: r.cfg.Name, Tool: tool,
		Epoch: r.clock.Wall().UTC(), Started: started, Seed: r.cfg.Seed, Config: cfg,
		Simulated: r.target.simulated != nil || r.target.watch.Server.Simulated, Embedded: r.target.simulated != nil, Server: r.target.server, Host: monitor.DescribeHost(),
		Notes: notes,
	}, nil
}

// environment is what on this machine would disturb the run.
func (r *run) environment(ctx context.Context) []archive.Annotation {
	opts := doctor.Options{Wanted: monitor.Wanted{NoGPU: true}}
	for _, p := range r.cfg.Phases {
		opts.Streams = max(opts.Streams, p.Concurrency, p.MaxInFlight)
	}
	rep, err := doctor.Examine(ctx, opts)
	if err != nil {
		return nil // the run is being stopped
	}
	return rep.Annotations()
}

// attach finds everything that there is to watch.
func (r *run) attach(ctx context.Context) (monitor.Attached, error) {
	want := r.target.watch
	want.Counters = r.clientCounters
	seen, err := monitor.Attach(ctx, want)
	if sim := r.target.simulated; sim != nil && r.cfg.Monitor.GPU {
		seen.Sources = append(seen.Sources, sim)
		seen.GPUs = []archive.GPU{sim.gpu}
	}
	return seen, err
}

// clientCounters are the driver's own counts, for the client's telemetry.
func (r *run) clientCounters() monitor.ClientCounters {
	return monitor.ClientCounters{
		InFlight: r.live.InFlight.Load(), OK: r.live.OK.Load(), Failed: r.live.Failed.Load(),
		OutputTokens: r.live.OutputTokens.Load(),
	}
}

// writable checks that run directories can be made in dir, before anything is sent.
func writable(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("cannot be made: %w", err)
	}
	f, err := os.CreateTemp(dir, ".write-test-*")
	if err != nil {
		return fmt.Errorf("cannot be written: %w (choose another folder with --out)", err)
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// newID returns eight random hexadecimal digits.
func newID() string {
	var b [4]byte
	_, _ = rand.Read(b[:]) // never fails, by its documentation
	return hex.EncodeToString(b[:])
}

// folderName makes a name safe as a part of a path on every system.
func folderName(s string) string {
	s = strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r == '.' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return '-'
	}, s)
	if s = strings.Trim(s, "-."); s == "" {
		return "run"
	}
	return s[:min(len(s), 40)]
}
