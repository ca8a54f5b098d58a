package attribute

// The causes, in upstream order: ties go to the earlier one.
const (
	Client        = "client"
	Throttle      = "throttle"
	Leak          = "kv_leak"
	Prefix        = "prefix_miss"
	KV            = "kv_capacity"
	Cap           = "admission_cap"
	Network       = "network"
	Frontend      = "frontend"
	Host          = "host"
	Communication = "communication"
	Imbalance     = "moe_imbalance"
	External      = "external"
	Speculation   = "speculation"
	Interference  = "interference"
	Prefill       = "prefill"
	Decode        = "decode"
	Queueing      = "queueing"
)

// cause is what is known of one cause before any run: its words, its falsifier and the
// experiment that could refute it.
type cause struct {
	id, title, summary, falsifier, probe string
}

// causes lists what can be diagnosed, in upstream order.
func causes() []cause {
	return []cause{
		{Client, "The load generator is the limit", "The requests left late or the client could not hold the asked load, so the numbers describe this program and not the server.",
			"Send lag stays near zero and the client's CPU below 70 % at the same load.",
			"P12: add a second load generator. If throughput doubles, the client was the limit."},
		{Throttle, "The GPU runs below its clock", "Heat or a power limit holds the GPU below its maximum clock, so every step takes longer.",
			"The SM clock stays at its maximum under load.",
			"P13: rerun after a cool-down, or with a different power limit. Step times should move with the clock."},
		{Leak, "KV cache blocks are lost", "KV usage grows over time without requests that would explain it, so the usable cache shrinks.",
			"KV usage returns to its floor when no request runs, the prefix cache set aside.",
			"P14: drain the server, read KV usage, reset the prefix cache and compare."},
		{Prefix, "Shared prefixes are computed again", "Prompts repeat their beginnings, but the engine does not serve them from its prefix cache.",
			"The prompts have no common prefix.",
			"P4b: send one prefix twice, and once behind a random nonce. Equal times to first token mean that the cache does not work."},
		{KV, "The KV cache is full", "The cache for attention keys and values is the scarce resource: requests wait for blocks or are preempted and computed again.",
			"KV usage stays below 0.8, or requests wait while blocks are free.",
			"P3: cap the concurrency at 80 % of the observed running requests. Throughput should stay or rise and preemptions stop."},
		{Cap, "The cap on running requests is reached", "The engine runs as many requests as it is allowed to while memory is free and others wait.",
			"Fewer requests run than the cap allows while others wait.",
			"P4: double the cap. Throughput should rise and the time to first token fall."},
		{Network, "The network path is the latency", "A round trip to the server is a large part of the time to first token.",
			"The round trip is a small part of the time to first token from a client beside the server.",
			"P11: measure GET /health, and repeat from a client in the same network."},
		{Frontend, "The HTTP front end or tokenizer is the limit", "Time goes by between the client and the engine's scheduler, beyond the network.",
			"The gap between the client's and the engine's time to first token is one round trip.",
			"P9: compare long and short prompts with one output token, and time /tokenize under load."},
		{Host, "The CPU side of the engine starves the GPU", "Steps take far longer than the GPU needs, and the GPU idles between them.",
			"A step takes about as long as the roofline says, or the GPU idles only while the queue is empty.",
			"P5: run a smaller model at the same batch. Step times should hardly change."},
		{Communication, "Communication between GPUs is the limit", "Steps take far longer than computing and memory explain while the GPU is busy: it waits for its peers.",
			"One GPU serves the model alone.",
			"P6: halve the tensor parallelism, and compare the excess of large prefills."},
		{Imbalance, "Experts are loaded unevenly", "Steps take far longer than evenly used experts would, and the busiest expert or rank sets the pace.",
			"The model is dense, or the step does not depend on the domain of the prompts.",
			"P16: compare prompts of one domain with mixed ones at the same lengths."},
		{External, "Something else uses the GPU", "Steps take far longer than computing and memory explain on a busy GPU at full clock with nothing to wait for.",
			"The step is as long as the roofline says when the server is alone on the device.",
			"P17: list the processes of the GPU, and repeat with the server alone."},
		{Speculation, "Speculative decoding costs more than it saves", "Most drafted tokens are rejected while the batch is large, so that verifying them lengthens steps for nothing.",
			"Most drafted tokens are accepted, or the batch is small.",
			"P15: switch speculative decoding off at the same load."},
		{Interference, "Long prefills stall the running answers", "Long prompts share steps with running answers, so that single tokens take many times longer than usual.",
			"Stalls happen in steps without prefill tokens.",
			"P7: leave out the longest 5 % of the prompts. The stalls should vanish."},
		{Prefill, "Prefill computing is the limit", "Most of the engine's time goes into prompts, at the arithmetic rate that the device can reach.",
			"The time to first token does not grow with the prompt length.",
			"P1: double the prompt length at a fixed output length. The time to first token and the GPU time should double."},
		{Decode, "Decoding is limited by memory bandwidth", "Most of the engine's time goes into generating tokens, which read the weights and the KV cache at the memory's speed.",
			"Steps take far longer than reading weights and KV cache needs.",
			"P2: hold the batch and vary the context from 1k to 8k. The step should grow by the extra KV bytes over the bandwidth."},
		{Queueing, "More work arrives than the server can do", "Requests arrive faster than they are answered, so most of the latency is waiting.",
			"The queue grows while the engine idles.",
			"P10: offer 80 % of the rate. The queue should vanish with the service time unchanged."},
	}
}
