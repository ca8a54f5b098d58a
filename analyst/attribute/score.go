package attribute

import (
	"math"

	"github.com/inferencebench/inferencebench/analyst/evidence"
)

// unknownCap bounds the score of a rule that lacks a mandatory fact.
const unknownCap = 0.5

// hypothesis is the score of one cause with what speaks for and against it.
type hypothesis struct {
	score        float64
	pro, con     []evidence.Fact
	missing      []string
	inapplicable bool
}

func (h *hypothesis) is(facts ...evidence.Fact)  { h.pro = append(h.pro, known(facts)...) }
func (h *hypothesis) not(facts ...evidence.Fact) { h.con = append(h.con, known(facts)...) }

// lack caps the score for a fact that the rule cannot do without.
func (h *hypothesis) lack(what string) {
	h.missing = append(h.missing, what)
	h.score = math.Min(h.score, unknownCap)
}

func known(facts []evidence.Fact) []evidence.Fact {
	var out []evidence.Fact
	for _, f := range facts {
		if f.OK {
			out = append(out, f)
		}
	}
	return out
}

func ratio(v, full float64) float64 { return math.Max(0, math.Min(1, v/full)) }

func yes(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// How to get what a rule lacks.
const (
	needMetrics  = "the engine's metrics page: start vLLM without --disable-log-stats, SGLang with --enable-metrics, llama.cpp with --metrics, and pass --metrics-url where it is elsewhere"
	needKV       = "KV cache usage: expose the engine's metrics page"
	needQueue    = "queue and prefill time: expose the engine's metrics page (vLLM has both)"
	needGPU      = "GPU clocks: run the monitor on the GPU's machine, with its driver"
	needUtil     = "GPU utilisation: run the monitor on the GPU's machine, or scrape its DCGM exporter"
	needRoofline = "the device and model shape, for the roofline: name them with --gpu and --model-config"
	needShare    = "the share of prefill in the engine's time: expose the step histogram of the metrics page"
	needHit      = "prefix-cache hits: enable cached-token reporting (vLLM --enable-prompt-tokens-details, SGLang --enable-cache-report) or the metrics page"
	needRTT      = "a round-trip time: no new connection was opened in the window"
)

// score returns the hypothesis of a cause.
func score(id string, f *Facts) hypothesis {
	h := scoreSeen(id, f)
	if f.BlackBox() && inside(id) && !h.inapplicable {
		// From outside the limits of an engine look alike: they all make it slow.
		h.lack(needMetrics)
	}
	return h
}

// inside reports whether a cause is a limit inside the engine, which only the engine's own
// numbers can tell from the others.
func inside(id string) bool {
	switch id {
	case Leak, KV, Cap, Frontend, Imbalance, External, Speculation, Prefill, Decode, Queueing:
		return true
	}
	return false
}

func scoreSeen(id string, f *Facts) hypothesis {
	switch id {
	case Client:
		return scoreClient(f)
	case Throttle:
		return scoreThrottle(f)
	case KV:
		return scoreKV(f)
	case Cap:
		return scoreCap(f)
	case Network:
		return scoreNetwork(f)
	case Frontend:
		return scoreFrontend(f)
	case Host:
		return scoreHost(f)
	case Communication, External, Imbalance:
		return scoreBusyStep(id, f)
	case Leak:
		return scoreLeak(f)
	case Speculation:
		return scoreSpeculation(f)
	case Prefix:
		return scorePrefix(f)
	case Interference:
		return scoreInterference(f)
	case Prefill, Decode:
		return scoreCompute(id, f)
	case Queueing:
		return scoreQueueing(f)
	}
	return hypothesis{inapplicable: true}
}

func scoreClient(f *Facts) (h hypothesis) {
	if f.ShareSend.OK {
		h.score = ratio(f.ShareSend.V, 0.3)
	} else {
		h.lack("send lag: no ok request has an intended and a send instant")
	}
	limits := []struct {
		fact evidence.Fact
		hit  bool
	}{
		{f.Ports, f.Ports.Above(0)},
		{f.ClientCPU, f.ClientCPU.Above(0.7)},
		{f.Occupancy, f.Occupancy.Below(0.9)},
		{f.Sent, f.OpenLoop && f.Sent.Below(0.99) && f.ShareSend.Above(0.1)},
	}
	for _, l := range limits {
		if l.hit {
			h.score = math.Max(h.score, 0.9)
			h.is(l.fact)
		} else {
			h.not(l.fact)
		}
	}
	if h.score >= 0.3 {
		h.is(f.ShareSend, f.Late99)
	} else {
		h.not(f.ShareSend)
	}
	return h
}

func scoreThrottle(f *Facts) (h hypothesis) {
	switch {
	case f.Clock.OK:
		h.score = yes(f.Clock.V < 0.9) * ratio(1-f.Clock.V, 0.15)
	case f.Thermal.OK || f.Power.OK:
		h.score = ratio(math.Max(f.Thermal.Or(0), f.Power.Or(0)), 0.5)
	}
	if f.Thermal.Above(0.2) && f.Clock.Below(0.97) {
		h.score = math.Max(h.score, 0.7)
	}
	if h.score > 0 {
		h.is(f.Clock, f.Thermal, f.Power)
	} else {
		h.not(f.Clock)
	}
	if !f.Clock.OK && !f.Thermal.OK && !f.Power.OK {
		h.lack(needGPU)
	}
	return h
}

func scoreKV(f *Facts) (h hypothesis) {
	if f.Preempt.OK {
		h.score = ratio(f.Preempt.V, 0.05)
	}
	if f.KVFull.OK {
		h.score = math.Max(h.score, ratio(f.KVFull.V, 0.2)*yes(f.Waiting.Above(0.5) || f.Preempt.Above(0) || !f.Waiting.OK))
	}
	h.score = math.Max(h.score, yes(f.KV.Above(0.85) && f.Waiting.Above(1)))
	// Where requests wait exactly when the cache is full, the cache is why they wait.
	if f.FullWaiting.OK && f.ShareQueue.OK {
		h.score = math.Max(h.score, f.FullWaiting.V*ratio(f.ShareQueue.V, 0.5))
	}
	if f.FullWaiting.OK && f.Preempt.OK && f.Preempt.V < 0.005 {
		// Nothing is preempted: a full cache matters as far as it is what requests wait for.
		h.score = math.Min(h.score, f.FullWaiting.V)
	}
	if h.score > 0 {
		h.is(f.Preempt, f.FullWaiting, f.KVFull, f.KV, f.Waiting)
	} else {
		h.not(f.KV, f.Preempt)
	}
	if f.KV.Below(0.5) && f.Preempt.OK && f.Preempt.V == 0 {
		h.score = 0
	}
	if !f.KV.OK && !f.Preempt.OK {
		if f.BlackBox() {
			h.lack(needMetrics)
		} else {
			h.lack(needKV)
		}
	}
	return h
}

func scoreCap(f *Facts) (h hypothesis) {
	slots := f.Engine == "llama_cpp" || f.Engine == "llamacpp" || f.Engine == "llama.cpp"
	// Where requests wait exactly when the engine is at its cap, the cap is why they wait.
	if f.PinnedWaiting.OK && f.ShareQueue.OK {
		h.score = f.PinnedWaiting.V * ratio(f.ShareQueue.V, 0.5)
	}
	h.score = max(h.score, f.Pinned.Or(0)*yes(f.Waiting.Above(1))) * yes(!f.KV.OK || f.KV.V < 0.85)
	if slots {
		// Each slot has its own cache, so that a waiting request waits for a slot.
		h.score = f.Pinned.Or(0) * ratio(f.Waiting.Or(0), 0.5)
	}
	if f.CapGain.OK && !slots {
		// A cap limits only where more running requests would do more work.
		h.score *= ratio(f.CapGain.V-1.1, 0.2)
		if h.score > 0 {
			h.is(f.CapGain)
		} else {
			h.not(f.CapGain)
		}
	}
	if h.score > 0 && !f.Cap.OK {
		h.score *= 0.9 // the cap is inferred from the largest reading
		h.missing = append(h.missing, "the configured cap on running requests")
	}
	if h.score > 0 {
		h.is(f.PinnedWaiting, f.Pinned, f.Cap, f.Waiting, f.KV)
	} else {
		h.not(f.Running, f.Waiting)
	}
	if !f.Pinned.OK || !f.Waiting.OK {
		h.lack(needMetrics)
	} else if !f.KV.OK && !slots {
		h.lack(needKV)
	}
	return h
}

// longPath is a round trip in ms that no machine room has; hiddenPath is the most that a
// path behind a queue scores.
const (
	longPath   = 10
	hiddenPath = 0.7
)

func scoreNetwork(f *Facts) (h hypothesis) {
	// A proxy that holds the stream back delivers several tokens at a time.
	if f.PerChunk.Above(1.5) && !f.Acceptance.OK {
		h.score = ratio(f.PerChunk.V-1, 2)
		h.is(f.PerChunk, f.Gap50, f.Gap99)
		return h
	}
	if !f.RTT.OK || !f.TTFT50.OK || f.TTFT50.V <= 0 {
		h.lack(needRTT)
		return h
	}
	h.score = ratio(f.RTT.V/f.TTFT50.V, 0.4)
	// A queue can hide a long path: it would be the latency once the queue is gone. Such a
	// path is named beside what makes the queue, never in its place.
	if f.QueueExcess() > 0.5 && f.RTT.V >= longPath && f.Prefill.OK {
		h.score = max(h.score, min(hiddenPath, ratio(f.RTT.V/(f.RTT.V+f.Prefill.V+f.Gap50.Or(0)), 0.4)))
	}
	if f.RTTBound && !f.EngineTTFT.OK {
		h.lack(needRTT)
	}
	if h.score >= 0.3 {
		h.is(f.RTT, f.TTFT50)
	} else {
		h.not(f.RTT)
	}
	return h
}

func scoreFrontend(f *Facts) (h hypothesis) {
	if !f.ShareFront.OK {
		h.lack(needQueue)
		return h
	}
	h.score = ratio(f.ShareFront.V, 0.6) * yes(!f.Gap50.OK || f.TTFT50.Or(0) > 5*f.Gap50.V)
	if h.score >= 0.3 {
		h.is(f.ShareFront, f.EngineTTFT, f.Service)
	} else {
		h.not(f.ShareFront)
	}
	return h
}

// The step is healthy up to ratioOK times its modelled GPU time; within a step the GPU
// idles no more than gapOK of the time.
const (
	ratioOK = 1.3
	gapOK   = 0.35
)

func scoreHost(f *Facts) (h hypothesis) {
	starved := 0.0
	if f.Steal.Above(10) {
		starved = ratio(f.Steal.V-10, 15)
		h.is(f.Steal)
	}
	if !f.Ratio.OK {
		h.score = max(starved, unknownCap*yes(f.GPUGap.Above(gapOK)))
		h.is(f.GPUGap)
		if starved == 0 {
			h.lack(needRoofline)
		}
		return h
	}
	worst := f.Ratio
	if f.RatioMean.Above(worst.V) {
		worst = f.RatioMean
	}
	h.score = ratio(worst.V-ratioOK, 0.7)
	if h.score >= 0.3 {
		h.is(worst)
	} else {
		h.not(worst)
	}
	switch {
	case !f.GPUGap.OK && starved == 0:
		h.lack(needUtil)
	case f.GPUGap.OK && f.GPUGap.V <= gapOK:
		h.score = 0
		h.not(f.GPUGap)
	default:
		h.is(f.GPUGap, f.HostCPU)
	}
	h.score = max(h.score, starved)
	return h
}

// scoreBusyStep scores what makes a step long while the GPU is busy: waiting for peers
// with several devices, a neighbour with one, uneven experts in a mixture.
func scoreBusyStep(id string, f *Facts) (h hypothesis) {
	switch {
	case id == Communication && f.TP == 1, id == Imbalance && !f.MoE:
		h.inapplicable = true
		return h
	case !f.Ratio.OK:
		h.lack(needRoofline)
		return h
	}
	least := f.Ratio
	if f.RatioMean.OK && f.RatioMean.V < least.V {
		// Where most steps carry prompt tokens, those explain a long median.
		least = f.RatioMean
	}
	h.score = ratio(least.V-ratioOK, 0.5)
	if f.PrefillShare.Below(0.35) && f.Stalls.Or(0) < 0.15 && f.Inflation.Or(1) < 1.5 {
		// A neighbour comes and goes, so the step varies at the same batch; a link is always
		// as slow.
		swing := f.GapSwing.Or(0)
		switch {
		case id == External:
			if f.TP > 1 {
				h.score *= ratio(swing-0.1, 0.1)
			}
			if both := ratio(least.V-1.1, 0.2) * ratio(swing-0.05-0.05*yes(f.TP > 1), 0.1); both > h.score {
				h.score = both
				h.is(f.GapSwing)
			}
		case id == Communication && f.GapSwing.OK:
			h.score *= 1 - 0.6*ratio(swing-0.15, 0.1)
		}
	} else if id == External && f.TP > 1 {
		h.score = min(h.score, unknownCap)
	}
	if h.score >= 0.3 {
		h.is(least)
	} else {
		h.not(least)
	}
	switch {
	case f.GPUGap.Above(gapOK):
		h.score = 0
		h.not(f.GPUGap)
	case f.Clock.Below(0.9):
		h.score = 0
		h.not(f.Clock)
	case !f.GPUGap.OK:
		h.lack(needUtil)
	case id == Imbalance:
		h.lack("a run with prompts of one domain to compare with")
	default:
		h.is(f.GPUGap, f.Util)
	}
	return h
}

func scoreLeak(f *Facts) (h hypothesis) {
	if !f.Leak.OK {
		h.lack(needKV)
		return h
	}
	h.score = ratio(f.Leak.V, 0.15) * yes(f.Leak.V > 0.05)
	if h.score > 0 {
		h.is(f.Leak, f.KV)
	} else {
		h.not(f.Leak)
	}
	return h
}

func scoreSpeculation(f *Facts) (h hypothesis) {
	if !f.Acceptance.OK {
		h.inapplicable = true // the engine does not draft, or does not say so
		return h
	}
	h.score = ratio(0.7-f.Acceptance.V, 0.2) * ratio(f.Running.Or(0), 8)
	if h.score >= 0.3 {
		h.is(f.Acceptance, f.Running, f.Ratio)
	} else {
		h.not(f.Acceptance)
	}
	return h
}

func scorePrefix(f *Facts) (h hypothesis) {
	if f.Potential.OK && f.Potential.V < 0.1 {
		h.inapplicable = true
		h.not(f.Potential)
		return h
	}
	if !f.Potential.OK {
		h.lack("how much of the prompts repeats: the workload does not say")
		return h
	}
	if !f.Hit.OK {
		h.score = unknownCap
		h.lack(needHit)
		return h
	}
	// Of the prompt tokens that were computed, this share need not have been.
	waste := max(0, f.Potential.V-f.Hit.V) / max(0.05, 1-f.Hit.V)
	h.score = ratio(waste, 0.5)
	if h.score >= 0.3 {
		h.is(f.Potential, f.Hit)
	} else {
		h.not(f.Potential, f.Hit)
	}
	weight := max(ratio(f.PrefillShare.Or(0), 0.3), ratio(f.SharePrefill.Or(0), 0.5))
	h.score *= weight
	h.is(f.PrefillShare, f.SharePrefill)
	if !f.PrefillShare.OK && !f.SharePrefill.OK {
		h.score = unknownCap * ratio(waste, 0.5)
		h.lack(needShare)
	}
	return h
}

func scoreInterference(f *Facts) (h hypothesis) {
	if !f.Gap50.OK || !f.Gap99.OK || f.Gap50.V <= 0 {
		h.lack("gaps between chunks: too few")
		return h
	}
	h.score = max(ratio(f.Gap99.V/f.Gap50.V, 8)*yes(f.Gap99.V > minLongGap), ratio(f.Stalls.Or(0), 0.1))
	h.score *= yes(f.PromptCV.Above(1))
	if h.score >= 0.3 {
		h.is(f.Stalls, f.Gap50, f.Gap99, f.PromptCV)
	} else {
		h.not(f.Stalls, f.Gap99, f.PromptCV)
	}
	switch {
	case f.StepTokensMax.OK:
		h.score *= ratio(f.StepTokensMax.V-1024, 3072)
		h.is(f.StepTokensMax)
	case h.score > 0:
		h.lack("tokens per step: expose the engine's step histogram")
	}
	return h
}

// minLongGap is the least gap, in milliseconds, that a reader notices.
const minLongGap = 50

// scoreCompute scores the two limits of the device itself. A device that merely works at
// full speed is no limit: decoding reads the weights at full bandwidth for a single
// request too. It is one where requests wait, where an objective is missed, or where the
// batch makes a step much longer than a single sequence would.
func scoreCompute(id string, f *Facts) (h hypothesis) {
	if !f.PrefillShare.OK {
		h.lack(needShare)
		h.lack(needRoofline)
		return h
	}
	share, used, full := f.PrefillShare.V, f.MFU, 0.57*f.MatmulShare
	if id == Decode {
		share, used, full = 1-share, f.MBU, 0.72*f.StreamShare
	}
	strain := 0.0
	if id == Decode {
		strain = max(ratio(f.Inflation.Or(1)-1, 0.5), 0.7*yes(f.SlowTokens))
	} else {
		strain = yes(f.Missed || f.Waiting.Above(1) || f.over() || f.Busy.Above(0.9))
	}
	h.score = ratio(share, 0.6) * strain
	if used.OK && full > 0 {
		h.score *= ratio(used.V, full) * yes(!f.Busy.OK || f.Busy.V > 0.7)
	}
	if id == Prefill && f.Budget.OK && f.StepTokens.OK && f.SharePrefill.Or(0)+f.ShareQueue.Or(0) > 0.5 {
		// Steps that are full to a small budget hand prompts through in slices.
		if full := ratio(f.StepTokens.V/f.Budget.V, 0.6) * strain; full > h.score {
			h.score = full
			h.is(f.StepTokens, f.Budget, f.SharePrefill)
		}
	}
	if h.score >= 0.3 {
		h.is(f.PrefillShare, used, f.Inflation, f.Util, f.Waiting)
	} else {
		h.not(f.PrefillShare, used)
	}
	if !used.OK {
		h.lack(needRoofline)
	}
	return h
}

// over reports whether more arrives than is answered.
func (f *Facts) over() bool {
	return f.OpenLoop && f.Offered.OK && f.Served.OK && f.Served.V < 0.95*f.Offered.V
}

func scoreQueueing(f *Facts) (h hypothesis) {
	over := f.over()
	switch {
	case f.ShareQueue.OK:
		h.score = ratio(f.QueueExcess(), 0.5)
		h.is(f.ShareQueue, f.Waiting)
		if !over {
			h.score = math.Min(h.score, 0.8)
		}
	case over:
		h.score = 0.7
		h.lack(needQueue) // what inside the server is short cannot be told from outside
	default:
		h.lack(needQueue)
	}
	if over {
		h.is(f.Offered, f.Served)
	} else {
		h.not(f.Offered, f.Served)
	}
	return h
}
