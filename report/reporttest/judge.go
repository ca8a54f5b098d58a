package reporttest

import "github.com/inferencebench/inferencebench/archive"

// judge fills the verdict and what stands behind it.
func (m *model) judge(a *archive.Analysis) {
	unknown := func(name, why string) archive.Axis { return archive.Axis{Name: name, Scale: "", Reason: why} }
	axis := func(name string, v float64, scale string) archive.Axis {
		return archive.Axis{Name: name, Value: archive.Some(v), Scale: scale}
	}
	a.Radar = []archive.Axis{
		axis("speed", 0.46, "Median output speed of 61 tok/s a user on a log scale from 5 to 200."),
		unknown("cost", "no price was given; use --price"),
		axis("quality", 0.79, "Accuracy of the checkpoints."),
		axis("stability", 0.31, "TTFT P50 over P99, and the share of failed requests."),
		axis("efficiency", 0.57, "Output tokens a joule against the best known for this GPU."),
	}
	switch m.kind {
	case AllFailed:
		a.Verdict = archive.Verdict{State: archive.VerdictInvalid, Headline: "Every request failed: the server answered HTTP 503 each time.", Confidence: "high", Next: "Check that the server is ready with curl before you measure it."}
		a.Gates[2].Observed, a.Gates[2].Message = "100 %", "Every request failed."
		for i := range a.Radar {
			a.Radar[i] = unknown(a.Radar[i].Name, "no request succeeded")
		}
	case Healthy:
		a.Verdict = archive.Verdict{State: archive.VerdictNone, Headline: "Nothing limits the server at this load: it has room for about 1.8 times as much.", Confidence: "medium", Next: "Raise the load until an objective breaks: --request-rate 6."}
		a.SLOs = []archive.SLO{
			{Expr: "ttft_p95<500ms", Met: archive.Some(true), Observed: "TTFT P95 is 148 ms", Attainment: archive.Estimate{Value: archive.Some(1.0), Low: archive.Some(0.984), High: archive.Some(1.0)}},
			{Expr: "tpot_p95<30ms", Met: archive.Some(true), Observed: "TPOT P95 is 14.1 ms", Attainment: archive.Estimate{Value: archive.Some(1.0), Low: archive.Some(0.984), High: archive.Some(1.0)}},
		}
	case BlackBox:
		a.Verdict = archive.Verdict{State: archive.VerdictInconclusive, Headline: "Requests wait before their first token in phase push, but the server shows no metrics that would say for what.", Confidence: "low", Next: "Give the engine's metrics page with --metrics-url, or run again with --confirm."}
		a.Evidence = evidence()[:2]
		a.Findings = []archive.Finding{{
			ID: "F1", Cause: "queueing", Title: "Requests queue in the server", Role: "considered", Score: 0.5, Confidence: "low",
			Summary: "TTFT grows with load while the speed of decoding does not; this looks like a queue, of unknown cause.",
			For:     []string{"E1", "E2"}, Missing: []string{"running and waiting requests: start vLLM with its default --enable-metrics and give --metrics-url", "KV cache use: the same page"},
			Falsifier: "TTFT stays high when the load falls by a fifth.", Probe: "P10: 80 % of the rate for 60 s", Tested: "untested",
		}}
	case Saturated, Interrupted, Hostile:
		m.saturated(a)
	}
}

func evidence() []archive.Evidence {
	row := func(id, metric string, v, lo, hi float64, unit, family, text string) archive.Evidence {
		return archive.Evidence{ID: id, Metric: metric, Scope: "phase:push", From: at(phaseEnd), To: at(runEnd), Value: archive.Some(v), Low: archive.Some(lo), High: archive.Some(hi), Unit: unit, Method: "block bootstrap, 1000 resamples", Text: text, Family: family}
	}
	return []archive.Evidence{
		row("E1", "queue_share", 0.86, 0.81, 0.9, "", "client", "In phase push 86 % of the mean TTFT is spent before the response headers."),
		row("E2", "tpot_ratio", 1.08, 1.02, 1.15, "", "client", "TPOT is only 1.08 times that of phase steady."),
		row("E3", "kv_cache_usage", 0.98, 0.96, 0.99, "", "engine", "KV cache use is above 95 % for 71 % of phase push."),
		row("E4", "preemptions", 0.62, 0.5, 0.75, "", "engine", "There are 0.62 preemptions a request in phase push and none in phase steady."),
		row("E5", "running_cap", 0.05, 0.05, 0.06, "", "engine", "Running requests reach 14 while max_num_seqs allows 256."),
		row("E6", "clock_ratio", 0.87, 0.85, 0.89, "", "gpu", "The SM clock is at 87 % of its maximum in phase push."),
	}
}

func (m *model) saturated(a *archive.Analysis) {
	a.Verdict = archive.Verdict{
		State: archive.VerdictBottleneck, Cause: "kv_capacity", Confidence: "medium",
		Headline: "KV cache capacity limits this server: requests queue while max_num_seqs would allow 18 times as many.",
		Next:     "Raise --gpu-memory-utilization from 0.90 to 0.95, or serve the KV cache in FP8, and run the same campaign again.",
	}
	a.SLOs = []archive.SLO{
		{Expr: "ttft_p99<500ms", Met: archive.Some(false), Observed: "TTFT P99 is 7.9 s", Attainment: archive.Estimate{Value: archive.Some(0.58), Low: archive.Some(0.53), High: archive.Some(0.63)}},
		{Expr: "tpot_p95<30ms", Met: archive.Some(true), Observed: "TPOT P95 is 20.4 ms", Attainment: archive.Estimate{Value: archive.Some(0.998), Low: archive.Some(0.985), High: archive.Some(1.0)}},
		{Expr: "gsm8k>=0.85", Observed: "accuracy 0.75 [0.61, 0.89]", Reason: "28 items cannot decide it"},
	}
	a.Evidence = evidence()
	a.Findings = []archive.Finding{
		{ID: "F1", Cause: "kv_capacity", Title: m.outside("KV cache capacity"), Role: "primary", Score: 0.91, Confidence: "medium",
			Summary: "The KV cache is full for most of phase push, requests are preempted and wait, and the running batch stays far below max_num_seqs.",
			For:     []string{"E1", "E3", "E4", "E5"}, Against: []string{"E6"}, Missing: []string{"time in queue of each request: vLLM's request_queue_time_seconds, from version 0.6"},
			Falsifier: "KV cache use stays below 80 % while requests wait.", Probe: "P3: the same traffic with concurrency held at 11; throughput stays and preemptions stop", Tested: "untested"},
		{ID: "F2", Cause: "thermal_power", Title: "Power limit lowers the clock", Role: "contributing", Score: 0.62, Confidence: "low",
			Summary: "The GPU's clock falls under load.", For: []string{"E6"}, Against: []string{"E2"},
			Falsifier: "The clock is at its maximum and the step time is unchanged.", Probe: "P13: a run at 80 % of the power limit", Tested: "untested"},
		{ID: "F3", Cause: "admission_cap", Title: "Admission limit (max_num_seqs)", Role: "considered", Score: 0.08, Confidence: "low",
			Summary: "Running requests are far below the limit.", Against: []string{"E5"}, Falsifier: "Running requests stay at the limit while KV blocks are free.", Probe: "P4", Tested: "refuted"},
	}
	a.Recommendations = []archive.Recommendation{
		{ID: "R1", Finding: "F1", Action: "Give the KV cache more memory.", Knob: "--gpu-memory-utilization 0.95", Predicted: "About 12 % more KV blocks, so about 16 requests run at once and TTFT P99 falls by a quarter.", Risk: "Out of memory at start or under long prompts.", Evidence: []string{"E3", "E5"}},
		{ID: "R2", Finding: "F1", Action: "Store the KV cache in FP8.", Knob: "--kv-cache-dtype fp8", Predicted: "Twice as many requests run at once.", Risk: "Quality can fall; compare the checkpoints.", Evidence: []string{"E3"}},
	}
	a.Gates[2].Observed = "2.4 %"
	a.Gates[2].Passed = archive.Some(false)
	a.Gates[2].Message = "More than 1 % of the requests failed, so the verdict speaks of a server under refusal."
	a.Gates = append(a.Gates, archive.Gate{ID: "steady", Observed: "phase push lasted 45 s", Limit: "≥ 60 s", Message: "Whether phase push was in a steady state could not be checked."})
}
