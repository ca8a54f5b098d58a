package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/campaign"
	"github.com/inferencebench/inferencebench/engines"
	"github.com/inferencebench/inferencebench/engines/launch"
	"github.com/inferencebench/inferencebench/evals"
	"github.com/inferencebench/inferencebench/tuner"
	"github.com/inferencebench/inferencebench/tuner/search"
	"github.com/inferencebench/inferencebench/tuner/space"
)

// The files of a study's folder.
const (
	JournalFile = "journal.jsonl" // every trial
	FileFile    = "study.json"    // the question: a File
	ResultFile  = "result.json"   // the answer: a tuner.Result
	PageFile    = "study.html"
)

// Environment is what a study needs from the program around it. Now is required.
type Environment struct {
	Log     *slog.Logger
	Getenv  func(string) string
	Tool    archive.Tool
	Now     func() time.Time
	Started func(campaign.Start)
	// Machine starts servers of a launch command; without it none can be started.
	Machine *launch.Machine
	// Run executes the commands of launchers; nil is launch.Exec. In and Out are the terminal of
	// a launcher that asks.
	Run       launch.Run
	In        io.Reader
	Out       io.Writer
	Observers []Observer
	// Help asks the installed server for its help, so that flags that it lacks are left out; nil
	// asks nothing. Supported reports whether the installed server knows a flag; nil: all.
	Help      func(argv []string) string
	Supported func(flag string) bool
	// GPUs are the names of this machine's GPUs, as the driver has them; empty where there are
	// none, or where they cannot be read.
	GPUs []string
	// Others makes what proposes beside the search, and Learn what learns from the default what
	// to expect of configurations, once adapter and space are known; see search.Options.
	Others func(*Setup) []tuner.Strategy
	Learn  func(*Setup) (learn func(history []tuner.Trial) *search.Opinion, note func() string)
	// Watch makes further observers, after Learn.
	Watch func(*Setup) []Observer
	// Settings are what a server that is only looked at tells of itself, by knob name.
	Settings map[string]string
}

// Setup is a study that is ready to be run.
type Setup struct {
	File     *File
	Study    tuner.Study
	Space    *space.Space
	Strategy tuner.Strategy
	Control  Control
	Bench    *Bench
	Adapter  *engines.Adapter
	Known    Known
	// Expect learns from the default what to expect of configurations, and Expected says what
	// that rests on, or why there is nothing; nil where nobody does.
	Expect   func(history []tuner.Trial) *search.Opinion
	Expected func() string
	// ReadOnly says why nothing may be started or changed: the server can be measured as it is,
	// and changes can be suggested. It is empty where a study may be run.
	ReadOnly string
}

// ErrNothingToTune is in the chain of the error of a study without a knob.
var ErrNothingToTune = errors.New("there is nothing to tune")

// Prepare makes a study of what a valid File asks for, in the folder dir: the space, the
// search, the frozen workloads and the bench. Nothing is started, and a folder that was
// prepared before is prepared the same.
func Prepare(dir string, f *File, env Environment) (*Setup, error) {
	s := &Setup{File: f}
	if err := f.arguments(context.Background(), env.run()); err != nil {
		return nil, err
	}
	if err := s.explore(env); err != nil {
		return nil, err
	}
	metric, up, err := ParseGoal(f.Goal)
	if err != nil {
		return nil, err
	}
	goal := tuner.Goal{Metric: metric, Maximise: up, MinGain: f.MinGain}
	traffic := f.traffic()
	about, err := freeze(dir, &traffic, f.Seed, f.Target.Model)
	if err != nil {
		return nil, err
	}
	if argv, err := json.Marshal(f.Command); err == nil {
		about["command"] = string(argv)
	}
	about["engine"] = s.Adapter.Name
	s.Study = tuner.Study{
		Name: f.Name, Seed: f.Seed, Goal: goal, Constraints: f.SLO, USDHour: f.Price, About: about,
		Budget: tuner.Budget{Time: time.Duration(f.Budget.Time), Trials: f.Budget.Trials, USD: f.Budget.USD},
		Protocol: tuner.Protocol{
			Simplify: true,
			Blocks:   f.Protocol.Blocks, MaxBlocks: f.Protocol.MaxBlocks, Orders: f.Protocol.Orders,
			Candidates: f.Protocol.Candidates, Remeasure: f.Protocol.Remeasure, QualityMargin: f.Protocol.QualityMargin,
		},
	}
	if f.Strategy == StrategyLoop {
		s.Study.Protocol.DefaultRungs = []int{tuner.DefaultRung, 0} // it begins with glances
	}
	for i := range s.Space.Dims {
		if d := &s.Space.Dims[i]; d.Quality {
			d.Margin = s.Study.Protocol.Resolved().QualityMargin
			s.Study.QualityKnobs = append(s.Study.QualityKnobs, d.Name)
		}
	}
	opt := search.Options{Goal: goal, Seed: f.Seed}
	if env.Others != nil {
		opt.Others = env.Others(s)
	}
	if env.Learn != nil {
		s.Expect, s.Expected = env.Learn(s)
		opt.Learn = s.Expect
	}
	observers := env.Observers
	if env.Watch != nil {
		observers = slices.Concat(observers, env.Watch(s))
	}
	s.Strategy = strategy(f.Strategy, s.Space, opt)
	switch {
	case f.Simulate:
		s.Control, err = simulation(f, &traffic, env)
	case f.Target.Production:
		s.ReadOnly = "users depend on the server (target.production)"
		s.Control, err = attached(f, s.Adapter, env)
	case len(f.Command) == 0:
		s.ReadOnly = "no launch command is given"
		s.Control, err = attached(f, s.Adapter, env)
	default:
		s.Control, err = s.control(dir, env)
	}
	if err != nil {
		return nil, err
	}
	s.Bench, err = New(Config{
		Dir: dir, Control: s.Control, Target: f.Target, Monitor: f.Monitor, Traffic: traffic, Goal: goal, Constraints: f.SLO,
		Seed: f.Seed, USDHour: f.Price, Simulated: f.Simulate, Observers: observers, Log: env.Log, Getenv: env.Getenv,
		Tool: env.Tool, Now: env.Now, Started: env.Started,
	})
	return s, err
}

// explore finds the adapter and makes the space.
func (s *Setup) explore(env Environment) error {
	f := s.File
	name := f.Engine
	if name == "" {
		name = EngineOf(f.Command)
	}
	var ok bool
	if s.Adapter, ok = engines.Lookup(name); !ok || name == "" {
		var known []string
		for _, a := range engines.Table() {
			if len(a.Knobs) > 0 {
				known = append(known, a.Name)
			}
		}
		return campaign.Problems{{Field: "engine", Message: fmt.Sprintf("%q has no known knobs; use one of %s", name, strings.Join(known, ", "))}}
	}
	s.Known = f.Know(env.GPUs)
	opt := space.Options{Settings: launch.Set(f.Command, s.Adapter.Knobs), Supported: env.Supported}
	for k, v := range env.Settings {
		if _, ok := opt.Settings[k]; !ok {
			opt.Settings[k] = v
		}
	}
	if env.Help != nil && opt.Supported == nil && !f.Simulate && len(f.Command) > 0 {
		opt.Supported = supported(env.Help(f.Command), s.Adapter.Knobs)
		s.leftOut(opt.Supported, env.Log)
	}
	if len(f.Knobs) > 0 {
		opt.Narrow = f.Knobs
	}
	var err error
	knobs := slices.DeleteFunc(slices.Clone(s.Adapter.Knobs), func(k engines.Knob) bool { return !launchable(&k) })
	if s.Space, err = space.FromKnobs(knobs, opt); err != nil {
		return campaign.Problems{{Field: "knobs", Message: strings.ReplaceAll(err.Error(), "\n", "; ")}}
	}
	if len(s.Space.Dims) == 0 {
		return fmt.Errorf("%w: no knob of %s has values to try; name some with --knobs", ErrNothingToTune, s.Adapter.Name)
	}
	s.rule(env.Log)
	return nil
}

// leftOut says which of the flags worth a search the installed server's help does not name:
// they are not tried. One that the user asked for is an error of the space.
func (s *Setup) leftOut(known func(flag string) bool, log *slog.Logger) {
	if known == nil || log == nil || len(s.File.Knobs) > 0 {
		return
	}
	var names []string
	for i := range s.Adapter.Knobs {
		if k := &s.Adapter.Knobs[i]; len(k.Search) > 0 && !known(k.Name) {
			names = append(names, k.Name)
		}
	}
	if len(names) > 0 {
		log.Warn("the server's --help does not name these flags, so they are not tried", "flags", strings.Join(names, " "))
	}
}

// launchable reports whether a launch command can set a knob.
func launchable(k *engines.Knob) bool {
	return k.Surface == "" || k.Surface == "flag" || k.Surface == "env"
}

// Allow returns why an assignment must not be launched: it is not in the space that the user
// agreed to, or arithmetic says that it cannot work.
func (s *Setup) Allow(a space.Assignment) error {
	if _, err := s.Space.Point(a); err != nil {
		return err
	}
	return s.Space.Check(a)
}

// EngineOf guesses the adapter of a launch command by the words in it; "" where none tells.
func EngineOf(argv []string) string {
	all := strings.ToLower(strings.Join(argv, " "))
	for _, e := range []struct{ word, name string }{
		{"sglang", "sglang"}, {"llama-server", "llama_cpp"}, {"llamacpp", "llama_cpp"}, {"llama.cpp", "llama_cpp"}, {"vllm", "vllm"},
	} {
		if strings.Contains(all, e.word) {
			return e.name
		}
	}
	return ""
}

func strategy(name string, s *space.Space, opt search.Options) tuner.Strategy {
	switch name {
	case StrategyRandom:
		return search.NewRandom(s)
	case StrategySobol:
		return search.NewSobol(s, opt.Seed)
	case StrategyTPE:
		return search.NewTPE(s, opt.Goal)
	case StrategyGP:
		return search.NewGP(s, opt.Goal, opt.Seed)
	case StrategyForest:
		return search.NewForest(s, opt.Goal, opt.Seed)
	}
	return search.NewLoop(s, opt)
}

// freeze writes the two workloads without a salt, as the record of what is sent, and returns
// their content hashes.
func freeze(dir string, t *Traffic, seed uint64, model string) (map[string]string, error) {
	folder := filepath.Join(dir, "workloads")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, fmt.Errorf("study folder: %w", err)
	}
	about := map[string]string{}
	for name, s := range map[string]uint64{"workload": seed, "held_out": seed ^ heldOutSeed} {
		path := filepath.Join(folder, name+".jsonl.zst")
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("study folder: %w", err)
		}
		sum, err := t.Freeze(path, s, 0, "", model, tuner.DefaultRung)
		if err != nil {
			return nil, err
		}
		about[name] = sum
	}
	return about, nil
}

// simulatedAccuracy is the share of items that the simulation gets right.
const simulatedAccuracy = 0.9

// simulation is the control of the simulated engine, which knows the answers of the items.
func simulation(f *File, t *Traffic, env Environment) (*Sim, error) {
	var sets []evals.Mix
	for _, seed := range []uint64{f.Seed, f.Seed ^ heldOutSeed} {
		m, err := t.items(seed)
		if err != nil {
			return nil, err
		}
		sets = append(sets, m)
	}
	answers := func(prompt string) (string, bool) {
		for _, m := range sets {
			if a, ok := m.Answer(prompt); ok {
				return a, true
			}
		}
		return "", false
	}
	return &Sim{Argv: f.Command, Speed: 1, Answers: answers, Accuracy: simulatedAccuracy, Seed: f.Seed, Noise: 0.02, Now: env.Now}, nil
}

// local is the control of a server that this program starts.
func (s *Setup) local(dir string, env Environment) (*Local, error) {
	f := s.File
	base, err := engines.NormalizeBase(f.Target.URL)
	if err != nil {
		return nil, campaign.Problems{{Field: "target.url", Message: err.Error()}}
	}
	id, err := identity(dir)
	if err != nil {
		return nil, err
	}
	l := &Local{
		Name: "inferencebench-" + id, Study: id, Run: env.run(), Argv: f.Command, URL: base, Adapter: s.Adapter, Logs: filepath.Join(dir, "launches"),
		Timeout: time.Duration(f.StartTimeout), MinMemory: uint64(f.KeepMemoryMB) << 20, Needs: s.hostMemory(s.Adapter, len(env.GPUs) > 0),
	}
	if l.Timeout == 0 {
		l.Timeout = launch.TimeoutFor(s.Known.Bytes)
	}
	if env.Log != nil {
		l.Note = func(text string) { env.Log.Warn(text) }
	}
	if env.Machine != nil {
		l.Machine = *env.Machine
	}
	if _, _, l.Header, err = f.Target.Side(f.Target.URL, env.getenv()); err != nil {
		return nil, err
	}
	return l, os.MkdirAll(l.Logs, 0o755)
}

// attached is the control of a server that is only looked at.
func attached(f *File, a *engines.Adapter, env Environment) (Control, error) {
	base, err := engines.NormalizeBase(f.Target.URL)
	if err != nil {
		return nil, campaign.Problems{{Field: "target.url", Message: err.Error()}}
	}
	c := &Attached{URL: base, Argv: f.Command, Adapter: a}
	if env.Machine != nil {
		c.Machine = *env.Machine
	}
	_, _, c.Header, err = f.Target.Side(f.Target.URL, env.getenv())
	return c, err
}

func (e Environment) getenv() func(string) string {
	if e.Getenv != nil {
		return e.Getenv
	}
	return os.Getenv
}

// Plan says how a study will go, by what is known before it begins.
type Plan struct {
	Points      int // configurations in the space
	Least       int // trials that prove one candidate
	TrialTime   time.Duration
	Proof       time.Duration // of accepting and certifying one candidate, starts left out
	SearchShare time.Duration // what the budget leaves to the search
}

// Plan estimates the study's course.
func (s *Setup) Plan() Plan {
	p := s.Study.Protocol.Resolved()
	t := s.File.traffic()
	each := func(rung int) time.Duration { return t.Warmup + t.window(rung) }
	plan := Plan{
		Points: s.Space.Size(), Least: 4*p.Blocks + 2*p.Orders, TrialTime: each(p.Rung),
		Proof: time.Duration(4*p.Blocks)*each(p.BlockRung) + time.Duration(2*p.Orders)*each(p.CertifyRung),
	}
	if b := s.Study.Budget.Time; b > 0 {
		plan.SearchShare = max(0, b-plan.Proof)
	}
	return plan
}

// Rehearse returns the launch commands that a study would begin with: the default's, and
// those of the first proposals, as far as they do not depend on measurements.
func (s *Setup) Rehearse(ctx context.Context, n int) [][]string {
	if s.ReadOnly != "" || ctx.Err() != nil {
		return nil
	}
	out := [][]string{s.Control.Command(s.Study.Default)}
	return append(out, s.commands(n)...)
}

// commands are the launch commands of the first proposals.
func (s *Setup) commands(n int) [][]string {
	var out [][]string
	for _, a := range s.First(n) {
		out = append(out, s.Control.Command(a))
	}
	return out
}
