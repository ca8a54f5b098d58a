package attribute

import "github.com/inferencebench/inferencebench/analyst/evidence"

// Facts are the evidence of one measured window. A fact that is unknown was not
// observed; rules must not read it as zero. Times are milliseconds, shares are of the mean
// time to first token unless another whole is named.
type Facts struct {
	Engine      string // adapter name, such as "vllm"
	EngineReads int    // successful readings of the engine's metrics page
	OpenLoop    bool   // arrivals do not wait for the server
	Local       bool   // the server is on the load generator's machine
	Simulated   bool

	TTFT, TTFT50, Service evidence.Fact // from the intended send; its median; from the send
	Late, Late99, RTT     evidence.Fact
	RTTBound              bool          // RTT is only an upper bound
	Gap50, Gap99, GapMean evidence.Fact // between chunks
	Stalls                evidence.Fact // share of the streaming time that is spent in stalls
	GapSwing              evidence.Fact // spread of the median gap of single seconds, over its median
	PerChunk              evidence.Fact // tokens of a chunk
	Prompt, PromptCV      evidence.Fact
	Potential, Hit        evidence.Fact // shares of prompt tokens that could be, and were, cached
	Offered, Served       evidence.Fact // requests/s
	Sent                  evidence.Fact // share of the due requests that were sent

	ShareSend, ShareNet, ShareQueue, SharePrefill, ShareFront evidence.Fact

	ClientCPU evidence.Fact // share of the machine
	GCPause   evidence.Fact
	Ports     evidence.Fact // requests that failed inside the load generator
	Occupancy evidence.Fact // sessions alive over sessions asked

	Running, RunningMax, Waiting evidence.Fact
	KV, KVFull, Preempt          evidence.Fact // mean usage; share of time above 0.95; per request
	Cap, Pinned                  evidence.Fact // requests; share of time at the cap
	PinnedWaiting                evidence.Fact // share at the cap of the time in which requests wait
	FullWaiting                  evidence.Fact // share with a full KV cache of the time in which requests wait
	Queue, Prefill, EngineTTFT   evidence.Fact
	Steps, StepTokens            evidence.Fact // per second; tokens of a step
	StepTokens99, StepTokensMax  evidence.Fact // tokens of the largest steps
	Budget                       evidence.Fact // token budget of a step
	Acceptance                   evidence.Fact // of drafted tokens
	Leak                         evidence.Fact // growth of KV usage that running requests do not explain

	Util, Clock, Thermal, Power evidence.Fact
	HostCPU, Steal              evidence.Fact

	// Settings are the engine's settings by canonical name, such as max_num_seqs.
	Settings     map[string]string
	TP           int           // devices that share a layer; 0 where unknown
	MoE          bool          // the model is a mixture of experts
	MatmulShare  float64       // share of the arithmetic peak that kernels reach; 0 where unknown
	StreamShare  float64       // share of the bandwidth that kernels reach
	PrefillShare evidence.Fact // of the engine's computing time
	Ratio        evidence.Fact // decode step over its modelled GPU time
	RatioMean    evidence.Fact // mean step over its modelled GPU time
	CapGain      evidence.Fact // modelled throughput with twice the running requests over that with these
	GPUGap       evidence.Fact // share of a step in which the GPU idles
	Busy         evidence.Fact // share of the time in which the engine works on a step
	MFU, MBU     evidence.Fact // of the peaks, while busy
	Inflation    evidence.Fact // decode step of the batch over that of one sequence
	Missed       bool          // an objective is missed
	SlowTokens   bool          // most requests miss a limit on the time per token
}

// BlackBox reports whether the engine showed no metrics at all.
func (f *Facts) BlackBox() bool { return f.EngineReads == 0 }

// Overloaded reports whether more arrives than is answered.
func (f *Facts) Overloaded() bool { return f.over() }

// QueueExcess returns the share of the time to first token that is waiting in the
// engine's queue for longer than the step under way, which every request waits for.
func (f *Facts) QueueExcess() float64 {
	if !f.ShareQueue.OK || f.TTFT.V <= 0 {
		return 0
	}
	return max(0, f.ShareQueue.V-1.5*f.Gap50.Or(0)/f.TTFT.V)
}
