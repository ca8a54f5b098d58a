package faults

import (
	"math/rand/v2"
	"time"

	"github.com/inferencebench/inferencebench/sim"
	"github.com/inferencebench/inferencebench/sim/offline"
)

// loadConditions are made by the traffic alone.
func loadConditions() []Condition {
	return []Condition{
		{ID: "F00", Name: "healthy, light load",
			Chain:   []string{"load at 30 % of capacity", "no queue", "latency near that of a lone request"},
			Signals: []string{"requests_waiting"},
			build: func(s *scenario) error {
				s.knob = "load at 0.30 of the sustained rate"
				return s.at(0.30)
			}},
		{ID: "F01", Name: "healthy, at the knee", Accept: []string{"queueing", "decode", "prefill"},
			Chain:   []string{"load at 95 % of the sustained rate", "objective still met", "no backlog"},
			Signals: []string{"requests_waiting"},
			build: func(s *scenario) error {
				s.knob = "load at 0.95 of the sustained rate"
				return s.at(0.95)
			}},
		{ID: "F02", Name: "compute-bound prefill", Cause: "prefill", Secondary: []string{"queueing", "interference"},
			Chain:   []string{"long unique prompts", "prompt tokens fill the steps", "arithmetic units at their limit", "time to first token grows with prompt length"},
			Signals: []string{"prefill_time_sum", "prompt_tokens_total"},
			build: func(s *scenario) error {
				s.shape = offline.Shape{Task: "summarise", CV: 1, Input: offline.Between(4000, 8000), Output: offline.Between(20, 60), Seed: s.shape.Seed}
				s.knob = "prompts of 4-8 k tokens, answers of 20-60"
				return s.beyond(pick(s.sev, 0.88, 0.95, 1.05))
			}},
		{ID: "F03", Name: "decode limited by memory bandwidth", Cause: "decode",
			Chain:   []string{"long answers, many at once", "every step streams the weights and all KV", "memory bandwidth at its limit", "time a token grows with the batch"},
			Signals: []string{"itl_sum", "generation_tokens_total"},
			build: func(s *scenario) error {
				s.shape = offline.Shape{Task: "write", Input: offline.Between(100, 300), Output: offline.Between(500, 900), Seed: s.shape.Seed}
				if err := s.slowBatch(pick(s.sev, 1.1, 1.3, 1.6)); err != nil {
					return err
				}
				s.knob = "short prompts, answers of 500-900 tokens, closed loop"
				return nil
			}},
		{ID: "F10", Name: "overload", Cause: "queueing", Accept: []string{"decode", "prefill"}, Secondary: []string{"kv_capacity", "interference"},
			Chain:   []string{"arrivals above completions", "the queue grows without end", "queueing is most of the time to first token", "the device is saturated"},
			Signals: []string{"requests_waiting", "queue_time_sum"},
			build: func(s *scenario) error {
				// Short contexts, so that sequences and not memory are what runs out.
				s.shape.Input, s.shape.Output = offline.Between(100, 600), offline.Between(60, 240)
				if err := s.widen(); err != nil {
					return err
				}
				s.knob = "arrival rate above the saturated rate"
				return s.beyond(pick(s.sev, 1.25, 1.5, 2.0))
			}},
		{ID: "F11", Name: "prefill disturbs decoding", Cause: "interference", Secondary: []string{"prefill", "queueing"},
			Chain:   []string{"a few prompts of 24-32 k tokens", "whole prompts in one step", "decoding sequences wait for that step", "stalls between tokens line up with long prefills"},
			Signals: []string{"itl_sum", "iteration_tokens_sum"},
			build: func(s *scenario) error {
				if err := s.at(0.3); err != nil { // of chat alone: the long prompts come on top
					return err
				}
				// At least a dozen long prompts in the time that is played.
				share := max(pick(s.sev, 0.03, 0.05, 0.08), pick(s.sev, 12.0, 16.0, 24.0)/(s.load*s.enough().Seconds()))
				chat, long := offline.ChatInput(), offline.Between(24000, 31000)
				s.shape.Input = func(rng *rand.Rand) int {
					if rng.Float64() < share {
						return long(rng)
					}
					return chat(rng)
				}
				s.run.Engine.MaxNumBatchedTokens = 32768
				s.knob = "3-8 % of prompts have 24-31 k tokens; --max-num-batched-tokens 32768"
				return nil
			}},
	}
}

// slowBatch sets the closed loop to the concurrency at which a decoding step takes times the
// objective's time a token, as far as the KV cache and the cap on sequences allow; where they
// do not, the objective holds and "nothing is wrong" is right too.
func (s *scenario) slowBatch(times float64) error {
	mem, err := s.run.Engine.Memory()
	if err != nil {
		return err
	}
	const context = 200 + 700/2 // mean tokens of a request of this load
	most := min(mem.Tokens*7/10/900, s.run.Engine.Resolved().MaxNumSeqs*9/10, 900)
	want := time.Duration(times * float64(s.obj.TPOT))
	for n := 16; ; n += 16 {
		if n >= most {
			s.run.Concurrency = max(most, 4)
			s.accept = append(s.accept, "")
			return nil
		}
		if sim.DecodeTime(s.run.Engine, n, context) >= want {
			s.run.Concurrency = n
			return nil
		}
	}
}

// widen raises the cap on sequences until a higher one would not help: then the device, not
// the cap, is what an overload runs into.
func (s *scenario) widen() error {
	const most = 1024
	s.run.Engine.MaxNumBatchedTokens = max(s.run.Engine.MaxNumBatchedTokens, most)
	s.run.Engine.MaxNumSeqs = 128
	now, err := offline.Saturated(s.ctx, s.run, s.shape)
	for err == nil && s.run.Engine.MaxNumSeqs < most {
		wider := s.run
		wider.Engine.MaxNumSeqs *= 2
		var then float64
		if then, err = offline.Saturated(s.ctx, wider, s.shape); then < 1.12*now {
			return err
		}
		s.run.Engine.MaxNumSeqs, now = wider.Engine.MaxNumSeqs, then
	}
	if err == nil { // even the widest would gain: the cap is part of the truth
		s.accept = append(s.accept, "admission_cap")
	}
	return err
}

// conversation is a multi-turn shape whose history is long.
func conversation(seed uint64, first offline.Lengths, turns offline.Lengths, think time.Duration) offline.Shape {
	return offline.Shape{
		Task: "chat-mt", CV: 1, Input: first, Later: offline.Between(40, 160), Output: offline.Between(60, 160), Turns: turns,
		Think: func(rng *rand.Rand) time.Duration {
			return time.Duration(float64(think) * (0.5 + rng.Float64()))
		},
		Seed: seed,
	}
}
