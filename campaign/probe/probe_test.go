package probe

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/inferencebench/inferencebench/analyst/probe"
	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/campaign"
)

func window(users float64) *archive.Analysis {
	return &archive.Analysis{
		Verdict: archive.Verdict{State: archive.VerdictBottleneck, Cause: "admission_cap"},
		Windows: []archive.Window{{Phase: "main", From: 1, To: 2e9, EffectiveConcurrency: archive.Some(users)}},
		Findings: []archive.Finding{
			{ID: "F1", Cause: "admission_cap", Role: "primary", Score: 0.9},
			{ID: "F2", Cause: "queueing", Role: "considered", Score: 0.5},
		},
	}
}

// A production server is left alone unless the user says otherwise in so many words.
func TestProductionIsRefused(t *testing.T) {
	c := campaign.Default()
	c.Target.URL, c.Target.Production = "http://127.0.0.1:1", true
	_, err := Run(t.Context(), Request{Run: &archive.Run{Dir: t.TempDir()}, Analysis: window(8), Config: c, Budget: time.Minute})
	if !errors.Is(err, ErrProduction) {
		t.Errorf("the error is %v", err)
	}
}

func TestBadRequests(t *testing.T) {
	c := campaign.Default()
	for name, r := range map[string]Request{
		"known are":          {Budget: time.Minute, Only: []string{"P99"}, Analysis: window(8)},
		"too short":          {Budget: time.Second, Analysis: window(8)},
		"no measured window": {Budget: time.Minute, Analysis: &archive.Analysis{}},
	} {
		r.Run, r.Config = &archive.Run{Dir: t.TempDir()}, c
		if _, err := Run(t.Context(), r); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("want an error with %q: %v", name, err)
		}
	}
}

// No arm of any probe offers more than the run did, in users or in rate.
func TestNoArmOffersMoreThanTheRun(t *testing.T) {
	for _, users := range []int{0, 6} {
		c := campaign.Default()
		c.Phases = []campaign.Phase{{Name: "main", Concurrency: users, Arrival: "poisson", Duration: campaign.Duration(time.Minute)}}
		if users == 0 {
			c.Phases[0].Rate = 5
		}
		l, err := loadOf(c, window(6))
		if err != nil {
			t.Fatal(err)
		}
		p := &prober{Request: Request{Config: c}, load: l, arm: 5 * time.Second}
		arms := []probe.Arm{{Load: 3}, {Concurrency: 500}, {}}
		for _, x := range probe.All() {
			arms = append(arms, x.Arms(probe.Seen{Running: archive.Some(400.0)})...)
		}
		for _, a := range arms {
			got := p.campaignOf("x", t.TempDir(), a)
			got.Resolve()
			if err := got.Validate(); err != nil {
				t.Errorf("%+v: %v", a, err)
			}
			ph := got.Phases[0]
			if ph.Rate > c.Phases[0].Rate || ph.Concurrency > 6 {
				t.Errorf("%+v offers %d users, %g sessions/s", a, ph.Concurrency, ph.Rate)
			}
		}
	}
}

// What needs a change of the server is offered as an instruction and answers nothing; the
// embedded engine's cap is doubled by ourselves.
func TestChangesOfTheServer(t *testing.T) {
	embedded, served := campaign.Default(), campaign.Default()
	served.Target.URL = "http://127.0.0.1:1"
	for change := range instructions {
		arms := []probe.Arm{{Server: change}}
		if why := (&prober{Request: Request{Config: served}}).cannot(arms); !strings.Contains(why, instructions[change]) {
			t.Errorf("%s on a real server: %q", change, why)
		}
		if why := (&prober{Request: Request{Config: embedded}}).cannot(arms); (why == "") != (change == probe.DoubleCap) {
			t.Errorf("%s on the embedded engine: %q", change, why)
		}
	}
	for _, x := range probe.All() {
		for _, a := range x.Arms(probe.Seen{}) {
			if a.Server != "" && instructions[a.Server] == "" {
				t.Errorf("%s: no instruction for %s", x.ID, a.Server)
			}
		}
	}
}

// The floor and one probe run against the embedded engine, and leave their records and
// their answers in the run directory.
func TestSessionOnTheEmbeddedEngine(t *testing.T) {
	if testing.Short() {
		t.Skip("takes three seconds of load")
	}
	c := campaign.Default()
	c.Out = t.TempDir()
	c.Workload.ISL, c.Workload.OSL = "128", "16"
	dir := t.TempDir()
	l, err := loadOf(c, window(4))
	if err != nil {
		t.Fatal(err)
	}
	chosen, floor, err := choose([]string{"p0", "P10", "P5"}, nil)
	if err != nil || !floor || len(chosen) != 2 {
		t.Fatalf("chose %d probes, floor %v, %v", len(chosen), floor, err)
	}
	p := &prober{
		Request: Request{Run: &archive.Run{Dir: dir}, Config: c, Budget: time.Minute, Getenv: func(string) string { return "" }, Said: func(string) {}},
		load:    l, start: time.Now(), arm: 700 * time.Millisecond,
	}
	if err := p.session(t.Context(), chosen, floor); err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, x := range p.out.Probes {
		ids = append(ids, x.Probe)
		if x.Expected == "" || x.Observed == "" {
			t.Errorf("%s says nothing: %+v", x.Probe, x)
		}
		for _, a := range x.Arms {
			if _, err := archive.Open(dir + "/" + a.Run); err != nil {
				t.Errorf("%s: %v", x.Probe, err)
			}
		}
	}
	if !slices.Equal(ids, []string{"P0", "P10", "P5"}) && !slices.Equal(ids, []string{"P0", "P5", "P10"}) {
		t.Errorf("made %v", ids)
	}
	if len(p.out.Fits) < 8 {
		t.Errorf("%d constants were fitted", len(p.out.Fits))
	}
	if err := archive.WriteExperiments(dir, &p.out); err != nil {
		t.Fatal(err)
	}
	back, err := (&archive.Run{Dir: dir}).Experiments()
	if err != nil || len(back.Probes) != 3 {
		t.Errorf("read back %v, %v", back, err)
	}
}
