package compare

import (
	"context"
	"errors"
	"iter"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/sim"
	"github.com/inferencebench/inferencebench/sim/offline"
)

// play runs the frozen workload against a noisy simulated server; slow is the share of
// its speed that is missing.
func play(t testing.TB, workload, noise uint64, slow float64) *Sample {
	t.Helper()
	eng := sim.Config{StepNoise: 0.03, PauseEvery: 4000, Seed: noise, MaxModelLen: 16384}
	if slow > 0 {
		eng.Conditions = func(time.Duration) sim.Conditions { return sim.Conditions{Slowdown: slow} }
	}
	res, err := offline.Run(context.Background(), offline.Config{
		Engine: eng, Source: offline.Chat(4, workload).Source(), Duration: 60 * time.Second, Warmup: 5 * time.Second,
		Network: offline.Network{RTT: time.Millisecond, Jitter: 100 * time.Microsecond}, Records: true, Seed: noise,
	})
	if err != nil {
		t.Fatal(err)
	}
	s, err := FromRequests("run", each(res.Requests))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func each(rs []*archive.Request) iter.Seq2[*archive.Request, error] {
	return func(yield func(*archive.Request, error) bool) {
		for _, r := range rs {
			if !yield(r, nil) {
				return
			}
		}
	}
}

// pairs is how many pairs of runs the error rates are measured on: few in an ordinary
// test run, INFERENCEBENCH_PAIRS for a measurement.
func pairs(t *testing.T) int {
	n := 6
	if s := os.Getenv("INFERENCEBENCH_PAIRS"); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil {
			t.Fatal(err)
		}
	}
	return n
}

// Two runs of the same server raise at most one alarm in a hundred.
func TestGateAA(t *testing.T) {
	n, alarms := pairs(t), 0
	for i := range n {
		w := uint64(i + 1)
		out := Gate(play(t, w, 2*w, 0), play(t, w, 2*w+1, 0), Rules(), Options{})
		if out.State == Fail {
			alarms++
			t.Logf("pair %d: %s", i, out.Reason)
		}
	}
	t.Logf("%d alarms in %d pairs", alarms, n)
	if alarms > 1 {
		t.Errorf("%d false alarms in %d pairs; want at most 1 in 100", alarms, n)
	}
}

// A server that is 5 % slower is caught.
func TestGateCatchesFivePercent(t *testing.T) {
	n, caught := pairs(t), 0
	for i := range n {
		w := uint64(i + 1)
		rerun := func(context.Context) (*Sample, *Sample, error) {
			return play(t, w+1000, 2*w+2000, 0), play(t, w+1000, 2*w+2001, 0.05), nil
		}
		out, err := TwoStage(t.Context(), play(t, w, 2*w, 0), play(t, w, 2*w+1, 0.05), Rules(), Options{}, rerun)
		if err != nil {
			t.Fatal(err)
		}
		if out.State == Fail && out.Stages == 2 {
			caught++
		} else {
			t.Logf("pair %d: %s %s", i, out.State, out.Reason)
		}
	}
	t.Logf("%d of %d caught", caught, n)
	if float64(caught) < 0.95*float64(n) {
		t.Errorf("%d of %d slower servers are caught; want 95 %%", caught, n)
	}
}

// The alarm of a chance is not repeated, and does not fail the gate.
func TestTwoStageForgivesChance(t *testing.T) {
	base, same, slow := play(t, 1, 2, 0), play(t, 1, 3, 0), play(t, 1, 4, 0.08)
	out, err := TwoStage(t.Context(), base, slow, Rules(), Options{}, func(context.Context) (*Sample, *Sample, error) { return base, same, nil })
	if err != nil || out.State != Pass || out.Stages != 2 {
		t.Errorf("outcome = %s after %d stages, %v; want pass after 2", out.State, out.Stages, err)
	}
	boom := errors.New("boom")
	if _, err := TwoStage(t.Context(), base, slow, Rules(), Options{}, func(context.Context) (*Sample, *Sample, error) { return nil, nil, boom }); !errors.Is(err, boom) {
		t.Errorf("error = %v; want boom", err)
	}
}

func TestCompare(t *testing.T) {
	base, slow := play(t, 1, 2, 0), play(t, 1, 3, 0.2)
	for _, d := range Compare(base, slow) {
		if !d.Paired {
			t.Errorf("%s is not paired although the workload is the same", d.Metric)
		}
		if d.Metric == "tpot" && d.Stat == "mean" {
			// 1/(1 − 0.2) = 1.25 of the GPU's part of a step.
			if d.Low < 0.1 || d.High > 0.35 || d.Verdict(0.01) != "worse" || d.Change < d.Low || d.Change > d.High {
				t.Errorf("%s", d.String())
			}
		}
	}
	if other := Compare(base, play(t, 99, 3, 0)); len(other) == 0 || other[0].Paired && other[0].Blocks == 0 {
		t.Errorf("runs of different workloads: %+v", other)
	}
	if got := Compare(base, &Sample{}); got != nil {
		t.Errorf("an empty run compares: %+v", got)
	}
	if out := Gate(base, &Sample{}, Rules(), Options{}); out.State == Pass {
		t.Error("a run without requests passes the gate")
	}
}

// Failed requests are a regression whatever the latencies of the rest.
func TestGateErrors(t *testing.T) {
	base := play(t, 1, 2, 0)
	head := play(t, 1, 3, 0)
	head.failed += head.sent / 10
	head.sent += head.sent / 10
	if out := Gate(base, head, Rules(), Options{}); out.State != Fail || !strings.Contains(out.Reason, "failed") {
		t.Errorf("outcome = %s, %s; want fail for failed requests", out.State, out.Reason)
	}
}

func TestParseRules(t *testing.T) {
	got, err := ParseRules("ttft_p99:5%, tpot_mean:2%,output_rate:3%")
	if err != nil || len(got) != 3 || got[0] != (Rule{"ttft", "p99", 0.05}) || got[2] != (Rule{"output_rate", "value", 0.03}) {
		t.Errorf("ParseRules = %+v, %v", got, err)
	}
	for _, bad := range []string{"", "ttft_p99", "ttft_p99:5", "ttft_p42:5%", "tpot_mean:-1%", "tpot_mean:x%"} {
		if _, err := ParseRules(bad); err == nil {
			t.Errorf("ParseRules(%q) has no error", bad)
		}
	}
}

func TestHolm(t *testing.T) {
	d := Difference{Change: 0.05, se: 0.01, UpIsWorse: true}
	if p := d.pWorse(0.01, 0); p > 1e-4 {
		t.Errorf("p = %v of a clear degradation", p)
	}
	d.UpIsWorse = false
	if p := d.pWorse(0.01, 0); p < 0.999 || math.IsNaN(p) {
		t.Errorf("p = %v of an improvement", p)
	}
}
