package prior

import (
	"context"
	"math"
	"time"

	"github.com/inferencebench/inferencebench/sim"
	"github.com/inferencebench/inferencebench/sim/offline"
	"github.com/inferencebench/inferencebench/tuner/play"
)

// Steps is the cost of a decoding step of a server as probes find it:
//
//	time = Base + n·Each + n·context·Token
//
// for n requests over so many tokens of context each, in seconds.
type Steps struct{ Base, Each, Token float64 }

// Plausible reports whether steps can be those of a server: every one takes some time, and none
// becomes shorter with more requests.
func (s Steps) Plausible() bool {
	return s.At(1, shortly) > 0 && s.At(probeN, shortly) >= 0.9*s.At(1, shortly) && s.Token >= 0
}

// At is the time of a step, in seconds.
func (s Steps) At(n, context int) float64 {
	return s.Base + float64(n)*(s.Each+float64(context)*s.Token)
}

// The widest factors by which a calibration changes a constant. What is further away is
// another effect, which a constant must not hide.
const (
	widest  = 4
	passes  = 8
	probeN  = 32
	shortly = 64
	longly  = 4096
)

// Calibrate returns the engine with constants under which its decoding steps cost what was
// measured: the host's time a step, its time a request, and the share of the memory's
// bandwidth that reading the cache reaches. It takes each from the step that shows it most:
// one short request, many short ones, many long ones. A step that the device alone already
// makes longer than measured raises the bandwidth reached for the weights instead.
func Calibrate(e sim.Config, measured Steps) sim.Config {
	e = e.Resolved()
	was := e
	kernels := func(change func(*sim.Kernels)) {
		change(&e.GPU.K16)
		change(&e.GPU.K8)
	}
	for range passes {
		if d := measured.At(1, shortly) - sim.DecodeTime(e, 1, shortly).Seconds(); e.HostBase+seconds(d) > 0 {
			e.HostBase = clamp(e.HostBase+seconds(d), was.HostBase)
		} else {
			e.HostBase = clamp(1, was.HostBase)
			f := sim.DecodeTime(e, 1, shortly).Seconds() / measured.At(1, shortly)
			kernels(func(k *sim.Kernels) { k.Weights = min(k.Weights*f, 1) })
		}
		d := measured.At(probeN, shortly) - measured.At(1, shortly) - (sim.DecodeTime(e, probeN, shortly) - sim.DecodeTime(e, 1, shortly)).Seconds()
		e.HostPerSeq = clamp(e.HostPerSeq+seconds(d/(probeN-1)), was.HostPerSeq)
		have := (sim.DecodeTime(e, probeN, longly) - sim.DecodeTime(e, probeN, shortly)).Seconds()
		want := measured.At(probeN, longly) - measured.At(probeN, shortly)
		if have > 0 && want > 0 {
			f := math.Min(math.Max(have/want, 1.0/widest), widest)
			kernels(func(k *sim.Kernels) { k.KVRead = min(k.KVRead*f, 1) })
		}
	}
	return e
}

// prefillTokens are the lengths of the prompts whose times to first token tell what a prompt
// token costs.
var prefillTokens = [2]int{512, 2560}

// CalibratePrefill returns the engine with matrix products that make a prompt token cost as much
// as was measured, in seconds, for one user; within the widest factor of what they were.
func CalibratePrefill(ctx context.Context, e sim.Config, perToken float64) (sim.Config, error) {
	e = e.Resolved()
	if !(perToken > 0) {
		return e, nil
	}
	was16, was8 := e.GPU.K16.Matmul, e.GPU.K8.Matmul
	factor := 1.0
	for range passes / 2 {
		have, err := prefillCost(ctx, e)
		if err != nil {
			return e, err
		}
		factor = math.Min(math.Max(factor*have/perToken, 1.0/widest), widest)
		e.GPU.K16.Matmul, e.GPU.K8.Matmul = min(was16*factor, 1), min(was8*factor, 1)
	}
	return e, nil
}

// prefillCost is what a prompt token costs the engine, in seconds.
func prefillCost(ctx context.Context, e sim.Config) (float64, error) {
	var first [2]float64
	e.Conditions, e.StepNoise, e.PauseEvery = nil, 0, 0
	e.EnablePrefixCaching = sim.Off
	for i, n := range prefillTokens {
		n = min(n, e.MaxModelLen/4*(i+1))
		shape := offline.Shape{Task: "prefill", Input: offline.Between(n, n), Output: offline.Between(2, 2)}
		f, err := play.Run(ctx, play.Server{Engine: e}, play.Load{Shape: shape, Users: 1, Time: 10 * time.Second, Seed: 1})
		if err != nil {
			return 0, err
		}
		first[i] = f.TTFT / float64(n)
		if i == 1 {
			m := min(prefillTokens[0], e.MaxModelLen/4)
			return math.Max((f.TTFT-first[0]*float64(m))/float64(n-m), 1e-12), nil
		}
	}
	return 0, nil
}

func seconds(s float64) time.Duration { return time.Duration(s * 1e9) }

// clamp keeps a time within the widest factor of what it was, and above zero.
func clamp(d, was time.Duration) time.Duration { return min(max(d, was/widest, 1), was*widest) }
