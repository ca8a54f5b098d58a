package faults_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/campaign"
	"github.com/inferencebench/inferencebench/sim/faults"
	"github.com/inferencebench/inferencebench/sim/server"
)

// Environment variables of these tests: everyCondition plays all conditions in place of some,
// and starved holds the plan that a process without a processor of its own carries out.
const (
	everyCondition = "INFERENCEBENCH_EVERY_CONDITION"
	starved        = "INFERENCEBENCH_STARVED"
)

// window is how long a condition is measured, in real time.
const window = 8 * time.Second

// speeds are the simulated seconds a second of conditions that lie outside the engine, where
// the client's own time must not be magnified. The others pass faster.
func speed(id string) float64 {
	switch id {
	case "F09", "F15", "F16", "F17", "F18":
		return 1
	}
	return 3
}

// plan is a campaign against a condition.
type plan struct {
	ID     string
	Config *campaign.Config
}

// prepare makes a condition's server and the campaign that brings it out.
func prepare(t testing.TB, id, dir string) (plan, *server.Config, error) {
	l, err := faults.Prepare(context.Background(), id, faults.Options{Severity: faults.High, Seed: 1, Duration: time.Duration(speed(id) * float64(window))})
	if err != nil {
		return plan{}, nil, err
	}
	l.Server.Speed = speed(id)
	c := campaign.Default()
	c.Name, c.Out, c.Seed, c.NoCalibration = strings.ToLower(id), dir, 1, true
	c.Checkpoints.Enabled = false
	c.Workload = workload(l, speed(id))
	c.Monitor.Interval = campaign.Duration(250 * time.Millisecond)
	p := campaign.Phase{Name: "load", Duration: campaign.Duration(window), Drain: campaign.Duration(200 * time.Millisecond), Rate: l.Rate * speed(id), Concurrency: l.Concurrency, MaxInFlight: l.MaxConns}
	if l.Concurrency > 0 {
		p.Rate = 0
	}
	if l.MaxConns > 0 {
		t.Logf("%s: %d connections", id, l.MaxConns)
	}
	c.Phases = []campaign.Phase{p}
	c.Resolve()
	return plan{id, c}, &l.Server, c.Validate()
}

// workload has the lengths, turns and pauses of a plan.
func workload(l *faults.Live, speed float64) campaign.Workload {
	var in, out, turns []float64
	var think time.Duration
	shared, thinks := 0, 0
	for range 400 {
		s, ok := l.Sessions.Next()
		if !ok {
			break
		}
		shared = max(shared, s.Shared.Tokens)
		turns = append(turns, float64(len(s.Turns)))
		for i, t := range s.Turns {
			out = append(out, float64(t.Output))
			in = append(in, float64(t.Prompt))
			if i > 0 {
				think += t.Think
				thinks++
			}
		}
	}
	w := campaign.Default().Workload
	w.ISL, w.OSL, w.IgnoreEOS, w.SharedPrefix = spread(in), spread(out), true, shared
	if mean(turns) > 1.5 { // histories grow by as much a turn, with no long first one
		w.ISL = fmt.Sprintf("uniform(%d,%d)", int(0.7*mean(in)), int(1.3*mean(in)))
	}
	w.Turns, w.Think = fmt.Sprint(max(1, int(mean(turns)+0.5))), "0s"
	if thinks > 0 {
		w.Think = time.Duration(float64(think) / float64(thinks) / speed).Round(time.Millisecond).String()
	}
	return w
}

// spread is the notation of a distribution with the quantiles of v.
func spread(v []float64) string {
	slices.Sort(v)
	q := func(p float64) float64 { return math.Max(1, v[int(p*float64(len(v)-1))]) }
	if q(0.98) > 8*q(0.5) { // a long tail
		return fmt.Sprintf("lognormal(%.3f,%.3f)[%d,%d]", math.Log(q(0.5)), math.Log(q(0.98)/q(0.5))/2.05, int(q(0)), int(q(1)))
	}
	return fmt.Sprintf("uniform(%d,%d)", int(q(0.05)), int(math.Ceil(q(0.95))))
}

func mean(v []float64) float64 {
	s := 0.0
	for _, x := range v {
		s += x
	}
	return s / math.Max(1, float64(len(v)))
}

// read is a run directory as the symptom tests take it.
func read(dir string) (*faults.Run, error) {
	run, err := archive.Open(dir)
	if err != nil {
		return nil, err
	}
	out := &faults.Run{}
	for r, err := range run.Requests() {
		if err != nil {
			return nil, err
		}
		out.Requests = append(out.Requests, r)
	}
	for s, err := range run.Samples() {
		if err != nil {
			return nil, err
		}
		out.Samples = append(out.Samples, s)
	}
	return out, nil
}

// over plays a condition over HTTP into a run directory, and reads it.
func over(t *testing.T, id string) faults.Digest {
	t.Helper()
	p, srv, err := prepare(t, id, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	var dir string
	if id == "F17" {
		dir = starve(t, p, srv)
	} else {
		res, err := campaign.Run(t.Context(), p.Config, campaign.Options{Simulated: srv})
		if err != nil {
			t.Fatal(err)
		}
		dir = res.Dir
	}
	r, err := read(dir)
	if err != nil {
		t.Fatal(err)
	}
	return faults.Look(r).In(speed(id))
}

// starve carries a plan out in a process of the lowest priority beside others that take every
// processor: a client that is too small for its load.
func starve(t *testing.T, p plan, srv *server.Config) string {
	nice, err := exec.LookPath("nice")
	if err != nil {
		t.Skip("nice is not installed: a client cannot be starved")
	}
	s, err := server.New(*srv)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if p.Config.Target.URL, err = s.Start("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	for range 4 * runtime.NumCPU() {
		burner := exec.Command("sh", "-c", "while :; do :; done")
		if err := burner.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = burner.Process.Kill(); _ = burner.Wait() }()
	}
	b, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(p.Config.Out, "plan.json")
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), nice, "-n", "19", os.Args[0], "-test.run", "^TestStarvedClient$")
	cmd.Env = append(os.Environ(), starved+"="+file)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	runs, err := filepath.Glob(filepath.Join(p.Config.Out, "*", "manifest.json"))
	if err != nil || len(runs) != 1 {
		t.Fatalf("runs %v, %v\n%s", runs, err, out)
	}
	return filepath.Dir(runs[0])
}

// TestStarvedClient is the process that starve starts.
func TestStarvedClient(t *testing.T) {
	file := os.Getenv(starved)
	if file == "" {
		t.Skip("it is started by the test of F17")
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	p := plan{}
	if err := json.Unmarshal(b, &p); err != nil {
		t.Fatal(err)
	}
	if _, err := campaign.Run(t.Context(), p.Config, campaign.Options{}); err != nil {
		t.Fatal(err)
	}
}

// Every condition shows its symptom in the run directory of a campaign over HTTP, next to a
// healthy one. One is played by default; `make sim-faults-http` plays all.
func TestSymptomsOverHTTP(t *testing.T) {
	ids := []string{"F05"} // which no other work on the machine can hide
	if os.Getenv(everyCondition) != "" {
		ids = nil
		for _, c := range faults.Conditions() {
			ids = append(ids, c.ID)
		}
	} else if testing.Short() {
		t.Skip("plays conditions in real time")
	}
	healthy := over(t, "F00")
	t.Logf("healthy %s", healthy)
	for _, id := range ids {
		t.Run(id, func(t *testing.T) {
			d := healthy
			if id != "F00" {
				d = over(t, id)
			}
			t.Logf("%s", d)
			if symptom, shown := faults.Shown(id, d, healthy); !shown {
				t.Errorf("the symptom does not show: %s", symptom)
			}
		})
	}
}
