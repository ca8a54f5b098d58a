package attribute

// change is one thing to do about a cause.
type change struct {
	action, knob, predicted, risk string
	from, to                      string // of the knob, where they are known
}

// advice returns what to change about a cause, with the flag of the engine where it is
// known.
func advice(id, engine string) []change {
	k := func(vllm, sglang, llama string) string {
		switch engine {
		case "sglang":
			return sglang
		case "llama_cpp", "llamacpp", "llama.cpp":
			return llama
		case "vllm", "llm_d_inference_sim", "inferencebench_sim", "sim":
			return vllm
		}
		return ""
	}
	switch id {
	case Client:
		return []change{{action: "Run the load from a larger or less busy machine, or from several.", knob: "", predicted: "The asked load is reached, and the numbers describe the server.", risk: ""}}
	case Throttle:
		return []change{{action: "Check cooling and the power limit, then rerun after a cool-down.", knob: "", predicted: "Step times fall in proportion to the clock.", risk: "A higher power limit costs energy for each token."}}
	case KV:
		return []change{
			{action: "Store the KV cache in 8 bits.", knob: k("--kv-cache-dtype fp8", "--kv-cache-dtype fp8_e4m3", "--cache-type-k q8_0 --cache-type-v q8_0"), predicted: "About twice as many requests fit before any has to wait or is preempted.", risk: "Answers can change: check quality under load."},
			{action: "Give the KV cache more of the device's memory.", knob: k("--gpu-memory-utilization", "--mem-fraction-static", "--ctx-size"), predicted: "The cache grows by the memory that is added.", risk: "Too much ends in an out-of-memory error."},
			{action: "Let fewer requests run at once, so that none is preempted.", knob: k("--max-num-seqs", "--max-running-requests", "--parallel"), predicted: "Preemptions stop, and no token is computed twice.", risk: "More requests wait in the queue."},
		}
	case Leak:
		return []change{{action: "Restart the engine, then find out which requests leave blocks behind: aborted and disconnected ones first.", knob: "", predicted: "KV usage returns to its floor after a drain.", risk: ""}}
	case External:
		return []change{{action: "Give the server the GPU alone.", knob: "", predicted: "Steps take what the roofline says.", risk: ""}}
	case Imbalance:
		return []change{{action: "Balance the experts or use fewer expert-parallel ranks.", knob: k("--enable-expert-parallel", "--ep-size", ""), predicted: "The slowest rank comes closer to the mean.", risk: ""}}
	case Speculation:
		return []change{{action: "Switch speculative decoding off, or draft fewer tokens, at this batch size.", knob: k("--speculative-config", "--speculative-num-steps", "--spec-draft-n-max"), predicted: "Steps get shorter, and throughput rises.", risk: "A single user gets slower when drafts were accepted."}}
	case Cap:
		return []change{{action: "Raise the cap on running requests to at least twice its value.", knob: k("--max-num-seqs", "--max-running-requests", "--parallel"), predicted: "The queue shrinks, throughput rises and the time to first token falls.", risk: "Each running request gets slower, and the KV cache fills."}}
	case Network:
		return []change{{action: "Place the clients near the server and keep connections open.", knob: "", predicted: "The time to first token falls by the round trip.", risk: ""}}
	case Frontend:
		return []change{{action: "Give the HTTP front end more processes or cores.", knob: k("--api-server-count 2", "--tokenizer-worker-num 2", "--threads-http"), predicted: "The gap between the client's and the engine's time to first token shrinks.", risk: ""}}
	case Host:
		return []change{{action: "Overlap scheduling with computing and keep CUDA graphs on.", knob: k("--async-scheduling", "--num-continuous-decode-steps", "--threads"), predicted: "Steps come closer to what the GPU needs.", risk: ""}}
	case Communication:
		return []change{{action: "Use fewer GPUs for one replica, or GPUs with a faster link.", knob: k("--tensor-parallel-size", "--tp-size", "--split-mode"), predicted: "Less of each step is waiting for peers.", risk: "The weights must fit on fewer devices."}}
	case Prefix:
		return []change{{action: "Turn the prefix cache on, put what changes at the end of the prompt, and route a session to the same replica.", knob: k("--enable-prefix-caching", "remove --disable-radix-cache", "--cache-reuse"), predicted: "Prefill of the shared part is saved.", risk: ""}}
	case Interference:
		return []change{{action: "Make prefill chunks smaller, so that running answers wait less for them.", knob: k("--max-num-batched-tokens 2048", "--chunked-prefill-size 2048", "--ubatch-size 256"), predicted: "The longest gaps shrink in proportion to the chunk.", risk: "The time to first token of long prompts grows."}}
	case Prefill:
		return []change{{action: "Compute less or faster: 8-bit weights and activations, prefix caching, or more replicas.", knob: k("--quantization fp8", "--quantization fp8", "--ubatch-size"), predicted: "The time to first token falls with the cost of a prompt token.", risk: "Quantisation can change answers."}}
	case Decode:
		return []change{{action: "Read fewer bytes per token: quantised weights or KV cache, or speculative decoding at small batches.", knob: k("--quantization fp8", "--quantization fp8", "a smaller GGUF quantisation"), predicted: "The time per token falls with the bytes that a step reads.", risk: "Quantisation can change answers."}}
	case Queueing:
		return []change{{action: "Add a replica, or limit the queue so that requests fail early instead of waiting.", knob: k("--data-parallel-size", "--dp-size", "--parallel"), predicted: "The queue vanishes once capacity exceeds the offered load.", risk: ""}}
	}
	return nil
}
