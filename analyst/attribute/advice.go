package attribute

// change is one thing to do about a cause.
type change struct{ action, knob, predicted, risk string }

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
		return []change{{"Run the load from a larger or less busy machine, or from several.", "", "The asked load is reached, and the numbers describe the server.", ""}}
	case Throttle:
		return []change{{"Check cooling and the power limit, then rerun after a cool-down.", "", "Step times fall in proportion to the clock.", "A higher power limit costs energy for each token."}}
	case KV:
		return []change{
			{"Store the KV cache in 8 bits.", k("--kv-cache-dtype fp8", "--kv-cache-dtype fp8_e4m3", "--cache-type-k q8_0 --cache-type-v q8_0"), "About twice as many requests fit before any has to wait or is preempted.", "Answers can change: check quality under load."},
			{"Give the KV cache more of the device's memory.", k("--gpu-memory-utilization", "--mem-fraction-static", "--ctx-size"), "The cache grows by the memory that is added.", "Too much ends in an out-of-memory error."},
			{"Let fewer requests run at once, so that none is preempted.", k("--max-num-seqs", "--max-running-requests", "--parallel"), "Preemptions stop, and no token is computed twice.", "More requests wait in the queue."},
		}
	case Leak:
		return []change{{"Restart the engine, then find out which requests leave blocks behind: aborted and disconnected ones first.", "", "KV usage returns to its floor after a drain.", ""}}
	case External:
		return []change{{"Give the server the GPU alone.", "", "Steps take what the roofline says.", ""}}
	case Imbalance:
		return []change{{"Balance the experts or use fewer expert-parallel ranks.", k("--enable-expert-parallel", "--ep-size", ""), "The slowest rank comes closer to the mean.", ""}}
	case Speculation:
		return []change{{"Switch speculative decoding off, or draft fewer tokens, at this batch size.", k("--speculative-config", "--speculative-num-steps", "--spec-draft-n-max"), "Steps get shorter, and throughput rises.", "A single user gets slower when drafts were accepted."}}
	case Cap:
		return []change{{"Raise the cap on running requests to at least twice its value.", k("--max-num-seqs", "--max-running-requests", "--parallel"), "The queue shrinks, throughput rises and the time to first token falls.", "Each running request gets slower, and the KV cache fills."}}
	case Network:
		return []change{{"Place the clients near the server and keep connections open.", "", "The time to first token falls by the round trip.", ""}}
	case Frontend:
		return []change{{"Give the HTTP front end more processes or cores.", k("--api-server-count 2", "--tokenizer-worker-num 2", "--threads-http"), "The gap between the client's and the engine's time to first token shrinks.", ""}}
	case Host:
		return []change{{"Overlap scheduling with computing and keep CUDA graphs on.", k("--async-scheduling", "--num-continuous-decode-steps", "--threads"), "Steps come closer to what the GPU needs.", ""}}
	case Communication:
		return []change{{"Use fewer GPUs for one replica, or GPUs with a faster link.", k("--tensor-parallel-size", "--tp-size", "--split-mode"), "Less of each step is waiting for peers.", "The weights must fit on fewer devices."}}
	case Prefix:
		return []change{{"Turn the prefix cache on, put what changes at the end of the prompt, and route a session to the same replica.", k("--enable-prefix-caching", "remove --disable-radix-cache", "--cache-reuse"), "Prefill of the shared part is saved.", ""}}
	case Interference:
		return []change{{"Make prefill chunks smaller, so that running answers wait less for them.", k("--max-num-batched-tokens 2048", "--chunked-prefill-size 2048", "--ubatch-size 256"), "The longest gaps shrink in proportion to the chunk.", "The time to first token of long prompts grows."}}
	case Prefill:
		return []change{{"Compute less or faster: 8-bit weights and activations, prefix caching, or more replicas.", k("--quantization fp8", "--quantization fp8", "--ubatch-size"), "The time to first token falls with the cost of a prompt token.", "Quantisation can change answers."}}
	case Decode:
		return []change{{"Read fewer bytes per token: quantised weights or KV cache, or speculative decoding at small batches.", k("--quantization fp8", "--quantization fp8", "a smaller GGUF quantisation"), "The time per token falls with the bytes that a step reads.", "Quantisation can change answers."}}
	case Queueing:
		return []change{{"Add a replica, or limit the queue so that requests fail early instead of waiting.", k("--data-parallel-size", "--dp-size", "--parallel"), "The queue vanishes once capacity exceeds the offered load.", ""}}
	}
	return nil
}
