package attribute

import "github.com/inferencebench/inferencebench/analyst/evidence"

// Facts are the evidence of one measured window. A fact that is unknown was not
// observed; rules must not read it as zero.
type Facts struct {
	Engine      string // adapter name, such as "vllm"
	EngineReads int    // successful readings of the engine's metrics page
	OpenLoop    bool   // arrivals do not wait for the server
	Local       bool   // the server is on the load generator's machine
	Simulated   bool

	// Client side. Times are milliseconds; shares are of the mean time to first token.
	TTFT, TTFT50, Service                                          evidence.Fact
	Late, Late99, RTT                                              evidence.Fact
	Gap50, Gap99                                                   evidence.Fact // between chunks
	Prompt, PromptCV                                               evidence.Fact
	Potential, Hit                                                 evidence.Fact // of prompt tokens
	PerChunk                                                       evidence.Fact
	Offered, Served, Sent                                          evidence.Fact // requests/s; share of due requests sent
	ShareSend, ShareNet, ShareQueue, SharePrefill, ShareFront      evidence.Fact
	ClientCPU, GCPause, Ports, Occupancy                           evidence.Fact // 0..1; ms; failures; alive over asked
	Running, RunningMax, Waiting, KV, KVFull, Cap, Pinned, Preempt evidence.Fact
	Queue, Prefill, EngineTTFT, PrefillShare, Steps, StepTokens    evidence.Fact
	Util, Clock, Thermal, Power, HostCPU, Steal                    evidence.Fact
}

// BlackBox reports whether the engine showed no metrics at all.
func (f *Facts) BlackBox() bool { return f.EngineReads == 0 }
