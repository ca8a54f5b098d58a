package landscape

import (
	"math/rand/v2"
	"time"

	"github.com/inferencebench/inferencebench/sim/offline"
	"github.com/inferencebench/inferencebench/tuner"
	"github.com/inferencebench/inferencebench/tuner/space"
)

const (
	llama8  = "meta-llama/Llama-3.1-8B-Instruct"
	llama3  = "meta-llama/Llama-3.2-3B-Instruct"
	llama70 = "meta-llama/Llama-3.1-70B-Instruct"
	qwen32  = "Qwen/Qwen3-32B"
	qwenMoE = "Qwen/Qwen3-30B-A3B"
	gptOSS  = "openai/gpt-oss-20b"
)

// Traps that several landscapes share.
var (
	int4Spoils = Trap{When: map[string][]string{"--quantization": {"int4"}}, Outcome: tuner.QualityFail, Reason: "with 4-bit weights the scored answers are worse than the default's"}
	fp8KVFails = Trap{When: map[string][]string{"--kv-cache-dtype": {"fp8"}, "--attention-backend": {"FLASH_ATTN"}}, Outcome: tuner.StartFailure, Reason: "this attention backend has no 8-bit cache"}
	fp8KVSpoil = Trap{When: map[string][]string{"--kv-cache-dtype": {"fp8"}}, Outcome: tuner.QualityFail, Reason: "with an 8-bit cache long answers are worse than the default's"}
	asyncDraft = Trap{When: map[string][]string{"--async-scheduling": {"true"}, "--speculative-config": {draftOf(2), draftOf(3), draftOf(4), draftOf(5)}}, Outcome: tuner.StartFailure, Reason: "more than one draft cannot be scheduled ahead"}
	fullMemory = Trap{When: map[string][]string{"--gpu-memory-utilization": {"0.96"}, "--max-num-batched-tokens": {"8192", "16384", "32768"}}, Outcome: tuner.Crash, Reason: "CUDA out of memory under load"}
	levelCrash = Trap{When: map[string][]string{"--optimization-level": {"3"}, "--attention-backend": {"TRITON_ATTN"}}, Outcome: tuner.Crash, Reason: "an illegal memory access ended the engine"}
)

// Twelve are the landscapes on which searches are compared.
func Twelve() []*Spec {
	return append(append(chat(), documents()...), append(agents(), batch()...)...)
}

// Still are two landscapes whose default is within MinGain of the best.
func Still() []*Spec {
	return []*Spec{
		{
			Name: "chat-h100-8b-light", Scenario: "chat", About: "every request meets its limits already", Still: true,
			GPU: "h100_sxm", Model: llama8, Flags: []string{"--max-model-len=16384"}, Shape: chatShape(), Rate: 4, Objective: Goodput, TTFT: 1, TPOT: 0.05, Longest: 8192, Mean: 1500,
			Dims:   []space.Dim{seqs(1024, 8, 16, 32, 64, 256), tokens(8192, 1024, 2048, 4096, 16384), kvType(), prefix(), eager(), memory(0.85, 0.96)},
			Quirks: []space.Dim{backend(), level(), interval()}, Traps: []Trap{fp8KVFails, fullMemory, levelCrash},
		},
		{
			Name: "batch-a100-8b-few", Scenario: "batch", Cause: "decode", About: "few users, and no knob that makes a step shorter", Still: true,
			GPU: "a100_80_sxm", Model: llama8, Flags: []string{"--max-model-len=16384"}, Shape: batchShape(), Users: 8, Objective: Throughput, Longest: 4096, Mean: 1000,
			Dims:   []space.Dim{seqs(256, 4, 8, 16, 64), tokens(2048, 1024, 4096, 8192), eager(), memory(0.85, 0.96), chunk(512)},
			Quirks: []space.Dim{backend(), level(), interval(), dtype()}, Traps: []Trap{fullMemory, levelCrash},
		},
	}
}

func chat() []*Spec {
	return []*Spec{
		{
			Name: "chat-h100-8b", Scenario: "chat", Cause: "decode", About: "the host and the weights limit decoding",
			GPU: "h100_sxm", Model: llama8, Flags: []string{"--max-model-len=16384", "--sim-acceptance=0.5"}, Shape: chatShape(), Users: 192, Objective: Throughput, TTFT: 1.25, TPOT: 1.1, Longest: 8192, Mean: 1500,
			Dims:   []space.Dim{seqs(1024, 64, 96, 128, 160, 256), tokens(8192, 512, 1024, 2048, 4096, 16384), kvType(), async(), draft(1, 2, 4), servers()},
			Quirks: []space.Dim{backend(), level(), interval()}, Traps: []Trap{fp8KVFails, asyncDraft, levelCrash}, Drift: 0.02,
		},
		{
			Name: "chat-l4-8b", Scenario: "chat", Cause: "kv_capacity", About: "the cache is too small for the load",
			GPU: "l4", Model: llama8, Flags: []string{"--max-model-len=8192"}, Shape: chatShape(), Rate: 1.9, Objective: Goodput, TTFT: 6, TPOT: 0.12, Longest: 8192, Mean: 1500,
			Dims:   []space.Dim{seqs(256, 8, 12, 16, 24, 32, 64), tokens(2048, 256, 512, 1024, 4096, 8192), kvType(), weights("fp8", "int4"), memory(0.85, 0.96)},
			Quirks: []space.Dim{backend(), level(), mode()}, Traps: []Trap{int4Spoils, fp8KVFails, fullMemory},
		},
		{
			Name: "chat-4xh200-70b", Scenario: "chat", Cause: "communication", About: "four devices talk to each other more than they compute",
			GPU: "h200_sxm", Devices: 4, Model: llama70, Flags: []string{"--max-model-len=16384", "--tensor-parallel-size=4"}, Shape: chatShape(), Users: 160, Objective: Throughput, TTFT: 1.3, TPOT: 1.1, Longest: 8192, Mean: 1500,
			Dims:   []space.Dim{ordered("--tensor-parallel-size", 4, 1, 2), seqs(1024, 16, 32, 64, 128), tokens(8192, 1024, 2048, 4096, 16384), kvType(), weights("fp8", "int4"), async()},
			Quirks: []space.Dim{backend(), level(), reduce(), interval()}, Traps: []Trap{int4Spoils, fp8KVFails, levelCrash}, Drift: 0.03,
		},
	}
}

func documents() []*Spec {
	return []*Spec{
		{
			Name: "documents-h100-8b", Scenario: "documents", Cause: "interference", About: "long prompts delay running answers",
			GPU: "h100_sxm", Model: llama8, Flags: []string{"--max-model-len=32768"}, Shape: documentShape(6000, 14000), Rate: 2.7, Objective: Goodput, TTFT: 4, TPOT: 0.04, Longest: 16384, Mean: 10000,
			Dims:   []space.Dim{seqs(1024, 8, 12, 16, 24, 32, 64), tokens(8192, 512, 1024, 2048, 4096, 16384), chunk(512, 1024, 2048), kvType(), async()},
			Quirks: []space.Dim{backend(), level(), mode(), dtype()}, Traps: []Trap{fp8KVFails, levelCrash},
		},
		{
			Name: "documents-a100-32b", Scenario: "documents", Cause: "kv_capacity", About: "the weights leave little room for the cache",
			GPU: "a100_80_sxm", Model: qwen32, Flags: []string{"--max-model-len=16384"}, Shape: documentShape(3000, 8000), Users: 16, Time: 200 * time.Second, Objective: Throughput, TTFT: 1.2, TPOT: 1.25, Longest: 9000, Mean: 5500,
			Dims:   []space.Dim{seqs(256, 4, 6, 8, 12), tokens(2048, 512, 1024, 4096, 8192), kvType(), weights("int8", "int4"), memory(0.88, 0.96), chunk(512, 1024)},
			Quirks: []space.Dim{backend(), level(), mode()}, Traps: []Trap{int4Spoils, fp8KVSpoil, fullMemory},
		},
		{
			Name: "documents-l40s-8b", Scenario: "documents", Cause: "prefix_miss", About: "shared documents fall out of the cache",
			GPU: "l40s", Model: llama8, Flags: []string{"--max-model-len=32768"}, Shape: sharedShape(7000, 10), Users: 24, Objective: Throughput, TTFT: 1.2, TPOT: 1.2, Longest: 12000, Mean: 8000,
			Dims:   []space.Dim{seqs(256, 6, 8, 12, 16), tokens(2048, 512, 1024, 4096, 8192), prefix(), kvType(), memory(0.88, 0.96), async(), block()},
			Quirks: []space.Dim{backend(), level(), interval()}, Traps: []Trap{fp8KVFails, fullMemory, levelCrash}, Drift: 0.02,
		},
	}
}

func agents() []*Spec {
	return []*Spec{
		{
			Name: "agents-h100-8b", Scenario: "agents", Cause: "host", About: "each step of many short turns waits for the host",
			GPU: "h100_sxm", Model: llama8, Flags: []string{"--max-model-len=32768", "--sim-acceptance=0.6"}, Shape: agentShape(), Rate: 0.7, Objective: Latency, TTFT: 1.3, Longest: 24000, Mean: 8000,
			Dims:   []space.Dim{seqs(1024, 16, 32, 64), tokens(8192, 512, 1024, 2048, 16384), prefix(), async(), chunk(512, 1024), draft(1, 2, 3, 5)},
			Quirks: []space.Dim{backend(), level(), mode()}, Traps: []Trap{asyncDraft, levelCrash}, Drift: 0.02,
		},
		{
			Name: "agents-a100-8b", Scenario: "agents", Cause: "kv_capacity", About: "the history of many sessions does not fit the cache",
			GPU: "a100_40_sxm", Model: llama8, Flags: []string{"--max-model-len=32768"}, Shape: agentShape(), Users: 48, Objective: Throughput, TTFT: 1.3, TPOT: 1.2, Longest: 24000, Mean: 8000,
			Dims:   []space.Dim{seqs(256, 8, 12, 16, 24, 32), tokens(2048, 512, 1024, 4096, 8192), prefix(), kvType(), weights("int8", "int4"), memory(0.88, 0.96)},
			Quirks: []space.Dim{backend(), level(), interval()}, Traps: []Trap{int4Spoils, fp8KVFails, fullMemory},
		},
		{
			Name: "agents-l40s-20b", Scenario: "agents", Cause: "decode", About: "a mixture of experts with little to compute a token",
			GPU: "l40s", Model: gptOSS, Flags: []string{"--max-model-len=32768", "--quantization=fp4", "--sim-acceptance=0.6"}, Shape: agentShape(), Rate: 0.45, Objective: Latency, TTFT: 1.5, Longest: 24000, Mean: 8000,
			Dims:   []space.Dim{seqs(256, 8, 16, 32, 64), tokens(2048, 512, 1024, 4096, 8192), prefix(), async(), draft(1, 2, 3, 5), kvType()},
			Quirks: []space.Dim{backend(), level(), expert(), mode()}, Traps: []Trap{asyncDraft, fp8KVSpoil, levelCrash},
		},
	}
}

func batch() []*Spec {
	return []*Spec{
		{
			Name: "batch-h100-30b", Scenario: "batch", Cause: "kv_capacity", About: "the memory left decides how many run at once",
			GPU: "h100_sxm", Model: qwenMoE, Flags: []string{"--max-model-len=16384"}, Shape: batchShape(), Users: 384, Objective: Throughput, Longest: 4096, Mean: 1000,
			Dims:   []space.Dim{seqs(1024, 64, 128, 192, 256), tokens(8192, 2048, 4096, 16384), kvType(), async(), memory(0.88, 0.96), eager(), servers()},
			Quirks: []space.Dim{backend(), expert(), mode()}, Traps: []Trap{fp8KVFails, fullMemory}, Drift: 0.03,
		},
		{
			Name: "batch-a10g-3b", Scenario: "batch", Cause: "host", About: "a small model keeps the host busy",
			GPU: "a10g", Model: llama3, Flags: []string{"--max-model-len=8192"}, Shape: batchShape(), Users: 256, Objective: Throughput, Longest: 4096, Mean: 1000,
			Dims:   []space.Dim{seqs(256, 32, 64, 96, 128, 192), tokens(2048, 512, 1024, 4096, 8192), servers(), async(), weights("int8", "int4"), kvType()},
			Quirks: []space.Dim{backend(), level(), interval()}, Traps: []Trap{int4Spoils, fp8KVFails, levelCrash},
		},
		{
			Name: "batch-8xa100-70b", Scenario: "batch", Cause: "communication", About: "eight devices as one engine or as several",
			GPU: "a100_80_sxm", Devices: 8, Model: llama70, Flags: []string{"--max-model-len=16384", "--tensor-parallel-size=8"}, Shape: batchShape(), Users: 320, Objective: Throughput, Longest: 4096, Mean: 1000,
			Dims:   []space.Dim{ordered("--tensor-parallel-size", 8, 1, 2, 4), seqs(256, 16, 32, 64, 128, 320), tokens(2048, 512, 1024, 4096, 8192), kvType(), memory(0.88, 0.96), servers()},
			Quirks: []space.Dim{backend(), level(), reduce()}, Traps: []Trap{fp8KVFails, fullMemory},
		},
	}
}

// The shapes of traffic: single questions; long documents with a question each; documents that
// are asked about again; sessions of many turns with short pauses, as programs make them;
// and answers that nobody waits for.
func chatShape() offline.Shape { return offline.Chat(0, 0) }

func documentShape(least, most int) offline.Shape {
	return offline.Shape{Task: "documents", Input: offline.Between(least, most), Output: offline.Between(80, 400), Shared: 150}
}

func sharedShape(tokens, groups int) offline.Shape {
	return offline.Shape{Task: "documents", Input: offline.Between(50, 400), Output: offline.Between(80, 400), Shared: tokens, Groups: groups}
}

func agentShape() offline.Shape {
	return offline.Shape{
		Task: "agents", Input: offline.Between(1500, 4000), Output: offline.Between(60, 300), Shared: 2000, Groups: 4,
		Turns: offline.Between(4, 12), Later: offline.Between(150, 1500),
		Think: func(rng *rand.Rand) time.Duration { return time.Duration(0.3e9 + 1.5e9*rng.Float64()) },
	}
}

func batchShape() offline.Shape {
	return offline.Shape{Task: "batch", Input: offline.Between(200, 1500), Output: offline.Between(100, 500), Shared: 100}
}
