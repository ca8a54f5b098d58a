package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/shirou/gopsutil/v4/mem"

	"github.com/inferencebench/inferencebench/analyst/roofline"
	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/campaign"
	"github.com/inferencebench/inferencebench/engines/launch"
	"github.com/inferencebench/inferencebench/report"
	pages "github.com/inferencebench/inferencebench/report/study"
	"github.com/inferencebench/inferencebench/sim"
	"github.com/inferencebench/inferencebench/tuner"
	"github.com/inferencebench/inferencebench/tuner/integrity"
	"github.com/inferencebench/inferencebench/tuner/live"
	"github.com/inferencebench/inferencebench/tuner/search"
	"github.com/inferencebench/inferencebench/tuner/twin"
)

// environment joins a study with this program: clock, log, and who looks at its launches.
func environment(ctx context.Context, dir string, f *live.File, o *output) (live.Environment, *proposers, error) {
	env := live.Environment{Log: o.log, Getenv: os.Getenv, Tool: archive.Tool{Version: version}, Now: time.Now, Machine: thisMachine(), Help: serverHelp, In: os.Stdin, Out: os.Stderr}
	env.GPUs, env.Machine.GPU = machineGPUs()
	expectations(ctx, dir, &env, o)
	others, err := openProposers(dir, f)
	if err != nil {
		return env, nil, withCode(exitUsage, err)
	}
	env.Others = func(s *live.Setup) []tuner.Strategy { return others.strategies(ctx, s) }
	if f.Integrity == live.IntegrityOff || readOnly(f) {
		return env, others, nil // one server as it is has nothing to be compared with
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return env, others, withCode(exitUsage, err)
	}
	secret, err := integrity.OpenSecret(filepath.Join(dir, "secret"), rand.Reader)
	if err != nil {
		return env, others, withCode(exitUsage, err)
	}
	plan := integrity.DefaultPlan()
	switch {
	case f.Integrity == live.IntegritySmall:
		plan = integrity.SmallPlan()
	case f.Integrity == "" && (f.Simulate || adapterOf(f) == "llama_cpp"):
		plan = glance()
	}
	watch, err := integrity.NewObserver(integrity.Config{Secret: secret, Plan: plan, Now: time.Now})
	if err != nil {
		return env, others, err
	}
	env.Observers = append(env.Observers, watch)
	return env, others, nil
}

// expectations lets the simulator say what to expect of configurations, once it is calibrated
// on the default.
func expectations(ctx context.Context, dir string, env *live.Environment, o *output) {
	var t *twin.Twin
	env.Learn = func(s *live.Setup) (func([]tuner.Trial) *search.Opinion, func() string) {
		t = twin.New(ctx, s, func(note string) {
			if !o.quiet {
				fmt.Fprintf(o.msg, "Prior:    %s\n", report.Visible(note))
			}
		})
		return t.Learn, t.Note
	}
	env.Watch = func(s *live.Setup) []live.Observer {
		if t.Absent() {
			return nil
		}
		window := time.Duration(s.File.Load.Window)
		return []live.Observer{&twin.Observer{
			Dir: dir, Each: min(window, 5*time.Second), Users: min(s.File.Load.Concurrency, 32), Seed: s.File.Seed, Log: env.Log, Tool: env.Tool,
		}}
	}
}

// glance asks for about 500 tokens: for servers on CPUs, and for the demonstration, where a
// larger plan would take longer than the study. What one observation cannot decide is unknown.
func glance() integrity.Plan {
	return integrity.Plan{Prompts: 10, Tokens: 32, Again: 6, Canary: 4, Repeats: 4, Forced: 4, ForcedLen: 16, Prefix: 4, Words: 100, Burst: 4, Parallel: 4}
}

// serverHelp asks the server's command for its help. One that serves instead is ended.
func serverHelp(argv []string) string {
	ctx, cancel := context.WithTimeout(context.Background(), 45*time.Second)
	defer cancel()
	return launch.Help(ctx, argv)
}

// thisMachine is what launches need of it. Readiness is asked without a proxy: the server is
// a process of this machine.
func thisMachine() *launch.Machine {
	return &launch.Machine{
		Now: time.Now, Poll: 250 * time.Millisecond,
		HTTP: &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}},
		Available: func() (uint64, error) {
			m, err := mem.VirtualMemory()
			if err != nil {
				return 0, err
			}
			return m.Available, nil
		},
	}
}

func adapterOf(f *live.File) string {
	if f.Engine != "" {
		return f.Engine
	}
	return live.EngineOf(f.Command)
}

// checks are what a trial is held against beside speed, objectives and quality.
func checks(s *live.Setup) []tuner.Check {
	if s.File.Integrity == live.IntegrityOff {
		return nil
	}
	c := integrity.CheckConfig{}
	for i := range s.Adapter.Knobs {
		if k := &s.Adapter.Knobs[i]; slices.Contains(k.Relieves, "prefix_reuse") {
			c.CacheKnobs = append(c.CacheKnobs, k.Name)
		}
	}
	if base, ok := hardware(s.File); ok {
		c.Setup = integrity.Lenient(base)
	}
	return []tuner.Check{integrity.NewCheck(c)}
}

// hardware is device and model as far as the user told them.
func hardware(f *live.File) (roofline.Setup, bool) {
	gpu, model := f.Target.GPU, f.Target.Model
	setup := roofline.Setup{TP: f.Target.TensorParallel}
	if f.Simulate {
		l, err := sim.ParseFlags(f.Command)
		if err != nil {
			return setup, false
		}
		gpu, model = l.Config.Resolved().GPU.Name, l.ModelName
	}
	var ok bool
	if setup.Device, ok = roofline.FindDevice(gpu); !ok {
		return setup, false
	}
	if f.Target.ModelConfig != "" {
		m, err := campaign.ReadModel(f.Target.ModelConfig)
		if err != nil {
			return setup, false
		}
		setup.Model = *m
		return setup, true
	}
	setup.Model, ok = roofline.FindModel(model)
	return setup, ok
}

func writeStudyPage(path string, s *live.Setup, r *tuner.Result) error {
	var b bytes.Buffer
	if err := pages.HTML(&b, pageInput(s, r)); err != nil {
		return err
	}
	return archive.WriteFileAtomic(path, b.Bytes())
}
