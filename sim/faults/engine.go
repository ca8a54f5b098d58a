package faults

import (
	"time"

	"github.com/inferencebench/inferencebench/sim"
	"github.com/inferencebench/inferencebench/sim/offline"
)

// engineConditions are made by how the engine is launched, or by what goes wrong inside it.
func engineConditions() []Condition {
	return []Condition{
		{ID: "F04", Name: "KV cache too small", Cause: "kv_capacity", Secondary: []string{"queueing", "prefill"},
			Chain:   []string{"few KV blocks", "blocks run out", "running requests are preempted and recomputed", "requests wait while sequences are free"},
			Signals: []string{"kv_cache_usage", "preemptions_total"},
			build: func(s *scenario) error {
				s.shape = offline.Shape{Task: "rag", CV: 1, Input: offline.Between(2000, 5000), Output: offline.Between(700, 1300), Seed: s.shape.Seed}
				s.run.Engine.MaxModelLen = 8192
				s.run.Engine.NumGPUBlocksOverride = pick(s.sev, 4000, 3000, 2000)
				s.knob = "--num-gpu-blocks-override"
				return s.beyond(pick(s.sev, 0.95, 1.0, 1.1))
			}},
		{ID: "F05", Name: "admission cap", Cause: "admission_cap", Secondary: []string{"queueing"},
			Chain:   []string{"a small cap on running sequences", "running stands at the cap", "requests wait while KV and device are free", "queueing is most of the time to first token"},
			Signals: []string{"requests_running", "requests_waiting", "kv_cache_usage"},
			build: func(s *scenario) error {
				s.run.Engine.MaxNumSeqs = pick(s.sev, 16, 12, 8)
				s.knob = "--max-num-seqs"
				return s.beyond(pick(s.sev, 1.05, 1.15, 1.3))
			}},
		{ID: "F06", Name: "token budget too small", Cause: "prefill", Accept: []string{"admission_cap", "queueing"}, Secondary: []string{"queueing", "admission_cap", "host"},
			Chain:   []string{"a small token budget a step", "a prompt takes many steps", "every step pays for streaming the weights", "time to first token is prompt length over budget, times the step"},
			Signals: []string{"iteration_tokens_sum", "prefill_time_sum"},
			build: func(s *scenario) error {
				s.shape.Input = offline.Between(1500, 4000)
				s.run.Engine.MaxNumBatchedTokens = pick(s.sev, 320, 256, 192)
				s.run.Engine.MaxNumSeqs = 128
				s.knob = "--max-num-batched-tokens"
				return s.beyond(pick(s.sev, 0.85, 0.92, 0.97))
			}},
		{ID: "F07", Name: "scheduler and host overhead", Cause: "host", Timed: true,
			Chain:   []string{"more host time a step", "the device idles between steps", "a step is far above its roofline", "time a token grows, hardly with context"},
			Signals: []string{"itl_sum", "util_percent"},
			build: func(s *scenario) error {
				if err := s.at(0.5); err != nil {
					return err
				}
				extra := s.steps(pick(s.sev, 1.0, 1.8, 2.8))
				s.disturb = append(s.disturb, func(_ time.Duration, _ float64, c *sim.Conditions) { c.HostExtra += extra })
				s.knob = "host time added to every step"
				return nil
			}},
		{ID: "F12", Name: "prefix cache off", Cause: "prefix_miss", Secondary: []string{"prefill", "queueing", "interference"},
			Chain:   []string{"prompts share 4,000 tokens", "the cache is off", "the shared part is computed every time", "prefill dominates, hits stay at zero"},
			Signals: []string{"prefix_cache_hits_total", "usage.cached"},
			build: func(s *scenario) error {
				s.shape = offline.Shape{Task: "templated", CV: 1.2, Input: offline.Between(50, 400), Output: offline.Between(60, 160), Shared: 4000, Seed: s.shape.Seed}
				s.run.Engine.EnablePrefixCaching = sim.Off
				s.knob = "--no-enable-prefix-caching"
				return s.beyond(pick(s.sev, 0.7, 0.82, 0.92))
			}},
		{ID: "F13", Name: "prefix cache thrashes", Cause: "prefix_miss", Accept: []string{"kv_capacity"}, Secondary: []string{"prefill", "kv_capacity", "interference"},
			Chain:   []string{"histories of all sessions are several times the cache", "blocks are evicted before the next turn", "history is computed again", "hits fall as sessions grow"},
			Signals: []string{"prefix_cache_hits_total", "usage.cached"},
			build: func(s *scenario) error {
				const history = 7000
				s.shape = conversation(s.shape.Seed, offline.Between(5000, 7000), offline.Between(8, 14), 25*time.Second)
				s.run.Concurrency = 48
				s.run.Engine.MaxModelLen = 16384
				s.run.Engine.NumGPUBlocksOverride = s.run.Concurrency * history / 16 / pick(s.sev, 2, 3, 4)
				s.knob = "KV cache of a fraction of the sessions' histories"
				return nil
			}},
		{ID: "F14", Name: "router breaks affinity", Cause: "prefix_miss", Secondary: []string{"prefill", "interference"},
			Chain:   []string{"two replicas, requests dealt in turn", "a session's history lies on the other replica", "half of it is computed again", "hits are below what the client could share"},
			Signals: []string{"prefix_cache_hits_total", "usage.cached"},
			build: func(s *scenario) error {
				s.run.Replicas = pick(s.sev, 2, 3, 4)
				s.shape = conversation(s.shape.Seed, offline.Between(7000, 11000), offline.Between(3, 6), 4*time.Second)
				s.run.RoundRobin = true
				s.knob = "round-robin over replicas"
				return s.beyond(pick(s.sev, 0.5, 0.6, 0.7))
			}},
		{ID: "F22", Name: "KV cache leaks", Cause: "kv_leak", Accept: []string{"kv_capacity"}, Secondary: []string{"kv_capacity", "queueing"}, Timed: true,
			Chain:   []string{"blocks are never given back", "the floor of KV usage rises", "fewer requests fit", "queueing and preemption set in late in the run"},
			Signals: []string{"kv_cache_usage"},
			build: func(s *scenario) error {
				if err := s.at(0.5); err != nil {
					return err
				}
				m, err := s.measure()
				if err != nil {
					return err
				}
				s.run.Engine.MaxModelLen = 8192
				s.run.Engine.NumGPUBlocksOverride = int(max(m.inFlight*2.2, 8)*1500/16) + 512
				most := pick(s.sev, 0.6, 0.75, 0.88)
				s.disturb = append(s.disturb, func(_ time.Duration, p float64, c *sim.Conditions) { c.KVLost = most * p })
				s.knob = "a share of the KV blocks is lost, growing linearly"
				return nil
			}},
		{ID: "F23", Name: "speculation at a high batch", Cause: "speculation", Secondary: []string{"decode"},
			Chain:   []string{"five drafted tokens, few accepted", "the target computes six tokens a sequence", "steps are longer without more tokens", "time a token is above that without speculation"},
			Signals: []string{"spec_draft_tokens_total", "spec_accepted_tokens_total"},
			build: func(s *scenario) error {
				s.shape = offline.Shape{Task: "write", Input: offline.Between(100, 300), Output: offline.Between(200, 500), Seed: s.shape.Seed}
				s.run.Concurrency = pick(s.sev, 96, 128, 192)
				s.run.Engine.Speculative = sim.Speculative{Tokens: 5, Acceptance: pick(s.sev, 0.35, 0.28, 0.2), DraftShare: 0.1}
				s.knob = "--speculative-config with five tokens and low acceptance"
				return nil
			}},
	}
}
