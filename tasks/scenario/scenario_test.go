package scenario

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/tasks"
)

func TestEveryScenarioBuildsAndSpeaks(t *testing.T) {
	for _, s := range All() {
		phases, err := s.Build(Size{Seed: 1, Salt: "x"})
		if err != nil {
			t.Errorf("%s: %v", s.Name, err)
			continue
		}
		var total time.Duration
		for _, p := range phases {
			total += p.Duration
			if p.Rate <= 0 || p.Arrival == "" || p.Duration <= 0 || p.Warmup >= p.Duration {
				t.Errorf("%s, phase %s: %+v", s.Name, p.Name, p)
			}
			src, err := tasks.NewGenerator(p.Options)
			if err != nil {
				t.Errorf("%s, phase %s: %v", s.Name, p.Name, err)
				continue
			}
			for i := range uint64(3) {
				if turn, ok := src.Session(i).Next(""); !ok || turn.User == "" || turn.MaxTokens < 1 {
					t.Errorf("%s, phase %s, session %d: %v, %d tokens", s.Name, p.Name, i, ok, turn.MaxTokens)
				}
			}
		}
		if d := total - s.Duration; d < -3*time.Second || d > 3*time.Second || s.About == "" || s.Source == "" {
			t.Errorf("%s: phases of %s in all; want %s", s.Name, total, s.Duration)
		}
	}
}

func TestTuningScenariosHaveTheirLengths(t *testing.T) {
	for name, want := range map[string][2]int{"tuning-a": {8192, 1024}, "tuning-b": {1024, 8192}, "tuning-c": {1024, 1024}, "tuning-d": {4096, 2048}} {
		s, err := Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		phases, err := s.Build(Size{})
		if err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(1, 1))
		for _, p := range phases {
			for range 50 {
				if n := p.Options.ISL.Draw(r); n < want[0]*4/5 || n > want[0] {
					t.Errorf("%s: prompt of %d; want 80 to 100 %% of %d", name, n, want[0])
				}
				if n := p.Options.OSL.Draw(r); n != want[1] || !p.Options.IgnoreEOS {
					t.Errorf("%s: answer of %d; want %d", name, n, want[1])
				}
			}
		}
	}
}

func TestSizes(t *testing.T) {
	s, _ := Lookup("flood")
	phases, err := s.Build(Size{Rate: 10, Duration: 12 * time.Minute})
	if err != nil || len(phases) != 3 || phases[1].Rate != 50 || phases[1].Duration != time.Minute {
		t.Errorf("a flood at 10/s: %+v, %v", phases, err)
	}
	if _, err := s.Build(Size{Concurrency: 4}); err == nil || !strings.Contains(err.Error(), "rate") {
		t.Errorf("a flood at a concurrency: %v", err)
	}
	c, _ := Lookup("chat")
	if phases, err := c.Build(Size{Concurrency: 7}); err != nil || phases[0].Concurrency != 7 || phases[0].Rate != 0 {
		t.Errorf("chat at concurrency 7: %+v, %v", phases, err)
	}
	for _, z := range []Size{{Rate: -1}, {Rate: math.NaN()}, {Duration: -time.Second}, {Concurrency: -1}} {
		if _, err := c.Build(z); err == nil {
			t.Errorf("size %+v is accepted", z)
		}
	}
	if _, err := Lookup("drizzle"); err == nil || !strings.Contains(err.Error(), "steady") {
		t.Errorf("an unknown scenario: %v", err)
	}
}

// record is a request that was due at s seconds and had its first token ttft later; a
// negative ttft is a failure.
func record(s, ttft float64) *archive.Request {
	r := &archive.Request{Kind: archive.KindLoad, Status: archive.StatusOK}
	r.T.Intended = archive.Instant((s + 1) * 1e9)
	if ttft < 0 {
		r.Status = archive.StatusFailed
		return r
	}
	r.T.First = r.T.Intended + archive.Instant(ttft*1e9)
	r.T.Last = r.T.First + 1e9
	r.Usage.Completion = archive.Some(101)
	return r
}

func TestRecovery(t *testing.T) {
	at := func(s float64) archive.Instant { return archive.Instant((s + 1) * 1e9) }
	run := func(after func(s float64) float64) []*archive.Request {
		var out []*archive.Request
		for s := 0.0; s < 200; s += 0.5 {
			ttft := 0.1
			switch {
			case s >= 100 && s < 110:
				ttft = 5
			case s >= 110:
				ttft = after(s - 110)
			}
			out = append(out, record(s, ttft))
		}
		return out
	}
	for _, c := range []struct {
		about string
		after func(float64) float64
		want  float64 // seconds; negative is never
	}{
		{"it is back after 20 s", func(s float64) float64 { return max(0.1, 2-0.1*s) }, 20},
		{"it was never away", func(float64) float64 { return 0.1 }, 0},
		{"it does not come back", func(float64) float64 { return 3 }, -1},
		{"it comes back and goes again", func(s float64) float64 {
			if s > 20 && s < 80 {
				return 0.1
			}
			return 3
		}, -1},
		{"it fails until second 30", func(s float64) float64 {
			if s < 30 {
				return -1
			}
			return 0.1
		}, 30},
	} {
		got := Recovery(slices.Values(run(c.after)), at(100), at(110))
		d, ok := got.After.Get()
		if ok != (c.want >= 0) || ok && math.Abs(d.Seconds()-c.want) > 5 || !ok && got.Reason == "" || got.Before != 100*time.Millisecond {
			t.Errorf("%s: %+v; want %g s", c.about, got, c.want)
		}
	}
	if got := Recovery(slices.Values(run(func(float64) float64 { return 0.1 })), at(2), at(3)); got.After.Known() || got.Reason == "" {
		t.Errorf("with hardly anything before the flood: %+v", got)
	}
}

func TestSlopes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	var flat, worse []*archive.Request
	for s := 0.0; s < 4*3600; s += 5 {
		noise := 0.02 * r.NormFloat64()
		flat = append(flat, record(s, 0.2+noise))
		ttft := 0.2 + 0.05*s/3600 + noise
		if r.Float64() < 0.02*s/3600 {
			ttft = -1
		}
		worse = append(worse, record(s, ttft))
	}
	got := Slopes(slices.Values(worse))
	if s := got["ttft"]; !s.Rising() || math.Abs(s.PerHour-0.05) > 0.005 {
		t.Errorf("ttft rises by %+v an hour; want 0.05", s)
	}
	if s := got["errors"]; !s.Rising() || math.Abs(s.PerHour-0.02) > 0.01 {
		t.Errorf("errors rise by %+v an hour; want 0.02", s)
	}
	if s := Slopes(slices.Values(flat)); s["ttft"].Rising() || s["errors"].Rising() || math.Abs(s["tpot"].Mean-0.01) > 1e-3 {
		t.Errorf("a flat run: %+v", s)
	}
	if s := Slopes(slices.Values(flat[:20])); len(s) != 0 {
		t.Errorf("20 requests make slopes: %+v", s)
	}
}
