package analyst

import (
	"strings"
	"testing"

	"github.com/inferencebench/inferencebench/archive"
)

func gateOf(t *testing.T, a *archive.Analysis, id string) archive.Gate {
	t.Helper()
	for _, g := range a.Gates {
		if g.ID == id {
			return g
		}
	}
	t.Fatalf("no gate %s", id)
	return archive.Gate{}
}

// A closed loop at a constant load is steady; an open loop beyond the capacity is not.
func TestSteadyGate(t *testing.T) {
	if ok, known := gateOf(t, server(1000, healthy).analyze(t), "steady").Passed.Get(); !known || !ok {
		t.Error("a constant load is not steady")
	}
	b := &bench{}
	for k := range 400 {
		due := 100 * float64(k)
		b.recs = append(b.recs, rec{n: 2, intended: due, send: due, chunks: []float64{due + 50 + 40*float64(k), due + 60 + 40*float64(k)}})
	}
	b.phase("main", 0, 0, 40000, map[string]any{"rate": 10.0})
	if ok, known := gateOf(t, b.analyze(t), "steady").Passed.Get(); !known || ok {
		t.Error("a growing queue is steady")
	}
}

// The gap between chunks doubles half way: the instant is evidence.
func TestChangePointIsEvidence(t *testing.T) {
	b := &bench{}
	for s := range 120 {
		step := 10.0
		if s >= 60 {
			step = 20
		}
		at := 1000 * float64(s)
		b.recs = append(b.recs, rec{n: 31, intended: at, send: at, chunks: spread(at+50, at+50+30*step, 31)})
	}
	b.phase("main", 0, 0, 120000, map[string]any{"rate": 1.0})
	msg, ok := hasNote(b.analyze(t).Annotations, "change_point")
	if !ok || !strings.Contains(msg, "10.0 ms to 2") && !strings.Contains(msg, "10.1 ms to 2") && !strings.Contains(msg, "9.9") {
		t.Errorf("change_point = %q", msg)
	}
}

// Timeouts are not dropped: they lasted at least as long as they were given.
func TestTimeoutsAreCensored(t *testing.T) {
	var recs []rec
	for range 90 {
		recs = append(recs, single(2, 100, 200))
	}
	for range 10 {
		recs = append(recs, rec{n: -1, fail: archive.FailTimeoutTotal, done: 60000})
	}
	msg, ok := hasNote(analyzed(t, recs...).Annotations, "censored")
	if !ok || !strings.Contains(msg, "more than 60.0 s") {
		t.Errorf("censored = %q", msg)
	}
}

// After a flood the time to first token comes back after ten seconds.
func TestRecoveryTime(t *testing.T) {
	b := &bench{}
	add := func(phase string, from, to, every, ttft float64, until float64) {
		for at := from; at < to; at += every {
			v := ttft
			if until > 0 && at >= until {
				v = 100
			}
			b.recs = append(b.recs, rec{phase: phase, n: 2, intended: at, send: at, chunks: []float64{at + v, at + v + 50}})
		}
		b.phase(phase, from, from, to, map[string]any{"rate": 1000 / every})
	}
	add("calm", 0, 20000, 500, 100, 0)
	add("flood", 20000, 40000, 100, 900, 0)
	add("after", 40000, 70000, 500, 900, 50000)
	got := metric(t, b.analyze(t), "recovery_time", "phase:after").Stats["value"].Value.Or(-1)
	if got != 10 {
		t.Errorf("recovery_time = %v s; want 10", got)
	}
}
