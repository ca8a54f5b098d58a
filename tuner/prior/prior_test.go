package prior_test

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/inferencebench/inferencebench/sim"
	"github.com/inferencebench/inferencebench/sim/offline"
	"github.com/inferencebench/inferencebench/tuner/play"
	"github.com/inferencebench/inferencebench/tuner/prior"
	"github.com/inferencebench/inferencebench/tuner/space"
)

// The prior ranks what it can play, has no guess for what would not start, and plays what
// cannot differ once.
func TestRank(t *testing.T) {
	s := &space.Space{Dims: []space.Dim{
		{Name: "--max-num-seqs", Values: []string{"4", "64", ""}, Ordered: true, Unset: "1024"},
		{Name: "--tensor-parallel-size", Values: []string{"", "3"}, Ordered: true, Unset: "1"},
		{Name: "--attention-backend", Values: []string{"", "FLASHINFER"}},
	}}
	q := prior.Question{
		Space: s, Workers: 2, Maximise: true,
		Server: func(a space.Assignment) (play.Server, error) {
			var args []string
			for k, v := range a {
				args = append(args, k+"="+v)
			}
			l, err := sim.ParseFlags(append(args, "--max-model-len=8192"))
			return play.Server{Engine: l.Config}, err
		},
		Load:  play.Load{Shape: offline.Chat(0, 0), Users: 64, Time: 30 * time.Second},
		Value: func(f play.Figures) float64 { return f.Throughput },
		Slack: func(f, def play.Figures) []float64 { return []float64{math.Log(f.TPOT / def.TPOT)} },
	}
	table, err := prior.Rank(context.Background(), q)
	if err != nil {
		t.Fatal(err)
	}
	if table.Played() != 3 {
		t.Errorf("%d servers played; want 3", table.Played())
	}
	few, ok := table.Guess(space.Assignment{"--max-num-seqs": "4"})
	if !ok || few.Gain > -0.5 || few.Slack[0] > 0 {
		t.Errorf("four at a time: %+v, %v; want a loss with faster tokens", few, ok)
	}
	def, ok := table.Guess(space.Assignment{"--attention-backend": "FLASHINFER"})
	if !ok || def.Gain != 0 || def.Slack[0] != 0 {
		t.Errorf("a knob without effect: %+v, %v; want what the default has", def, ok)
	}
	if _, ok := table.Guess(space.Assignment{"--tensor-parallel-size": "3"}); ok {
		t.Error("a guess for a server that would not start")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := prior.Rank(ctx, q); err == nil {
		t.Error("a cancelled ranking ended well")
	}
}

// Probes of a server that differs from the simulator's constants bring them to it, and steps
// that were not probed come out right too.
func TestCalibrate(t *testing.T) {
	real := sim.Config{MaxModelLen: 16384, HostBase: 3 * time.Millisecond, HostPerSeq: 12 * time.Microsecond}.Resolved()
	real.GPU.K16.KVRead = 0.6
	at := func(n, ctx int) float64 { return sim.DecodeTime(real, n, ctx).Seconds() }
	var s prior.Steps
	s.Token = (at(32, 4096) - at(32, 64)) / 32 / (4096 - 64)
	s.Each = (at(32, 64)-at(1, 64))/31 - 64*s.Token
	s.Base = at(1, 64) - s.Each - 64*s.Token
	got := prior.Calibrate(sim.Config{MaxModelLen: 16384}, s)
	for _, c := range [][2]int{{1, 64}, {8, 1024}, {32, 2048}, {48, 3000}} {
		have, want := sim.DecodeTime(got, c[0], c[1]).Seconds(), at(c[0], c[1])
		was := sim.DecodeTime(sim.Config{MaxModelLen: 16384}, c[0], c[1]).Seconds()
		if math.Abs(have/want-1) > 0.05 || math.Abs(have-want) >= math.Abs(was-want) {
			t.Errorf("a step of %d requests over %d tokens: %.4f s calibrated, %.4f s before; want %.4f s", c[0], c[1], have, was, want)
		}
	}
}
