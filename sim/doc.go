// Package sim is the simulated inference engine: an iteration-level scheduler with
// continuous batching, chunked prefill, a paged KV cache with prefix reuse and preemption
// by recompute, and a step-time formula whose constants come from kernel timings.
//
// It answers "how long would this take and what would the server's counters show", never
// "what would the model say". Nothing of it runs on a GPU, and everything that it serves
// says that it is a simulation.
//
// The core is one type, [Engine], and two calls. [Engine.Begin] forms the batch of one
// iteration and says when it ends; [Engine.Commit] applies its results. The caller owns
// the clock: package sim/offline jumps from one end to the next (virtual time), package
// sim/server sleeps until it (wall time). Both therefore run the same scheduler.
//
//	arrivals ─► network ─► frontend ─► waiting ─► running ─► frontend ─► network ─► client
//	                       (FIFO, CPU)  (FIFO)    (batch, KV blocks, GPU)
//
// Times are durations since the engine's start. All randomness comes from one generator
// seeded by [Config.Seed], so that equal inputs give equal runs. An Engine is not safe for
// concurrent use.
package sim
