//go:build linux

package main

import (
	"errors"
	"path/filepath"
)

func oursRead(dir string) (reported, error) {
	var a struct {
		Metrics []struct {
			ID, Scope string
			N         int
			Stats     map[string]struct{ Sample *float64 }
		}
	}
	if err := one(filepath.Join(dir, "*", "analysis.json"), &a); err != nil {
		return reported{}, err
	}
	var r reported
	for _, m := range a.Metrics {
		// The plain quantile of the sample, as the others report it: the value itself is
		// withheld where there are too few requests for it.
		p50, p99 := m.Stats["p50"].Sample, m.Stats["p99"].Sample
		if m.Scope != "all" || p50 == nil || p99 == nil {
			continue
		}
		switch m.ID {
		case "ttft_service": // from the send, as the others count it
			r.TTFT = pair{*p50, *p99, m.N}
		case "icl":
			r.ITL = pair{*p50, *p99, m.N}
		}
	}
	if r.TTFT.N == 0 {
		return r, errors.New("analysis.json has no time to first token")
	}
	return r, nil
}

func aiperfRead(dir string) (reported, error) {
	type metric struct {
		P50, P99 float64
		Count    int
	}
	var a struct {
		TTFT metric `json:"time_to_first_token"`
		Gap  metric `json:"inter_chunk_latency"`
	}
	err := one(filepath.Join(dir, "profile_export_aiperf.json"), &a)
	return reported{TTFT: pair{a.TTFT.P50, a.TTFT.P99, a.TTFT.Count}, ITL: pair{a.Gap.P50, a.Gap.P99, a.Gap.Count}}, err
}

func guidellmRead(dir string) (reported, error) {
	type metric struct {
		Successful struct {
			Count       int
			Percentiles struct{ P50, P99 float64 }
		}
	}
	var a struct {
		Benchmarks []struct {
			Metrics struct {
				TTFT metric `json:"time_to_first_token_ms"`
				ITL  metric `json:"inter_token_latency_ms"`
			}
		}
	}
	if err := one(filepath.Join(dir, "out.json"), &a); err != nil {
		return reported{}, err
	}
	if len(a.Benchmarks) != 1 {
		return reported{}, errors.New("out.json has no benchmark")
	}
	m := a.Benchmarks[0].Metrics
	of := func(m metric) pair {
		return pair{m.Successful.Percentiles.P50, m.Successful.Percentiles.P99, m.Successful.Count}
	}
	return reported{TTFT: of(m.TTFT), ITL: of(m.ITL), Mean: true}, nil
}

func inferencePerfRead(dir string) (reported, error) {
	type metric struct{ Median, P99 float64 }
	var a struct {
		Successes struct {
			Count   int
			Latency struct {
				TTFT *metric `json:"time_to_first_token"`
				ITL  *metric `json:"inter_token_latency"`
			}
		}
	}
	if err := one(filepath.Join(dir, "out", "summary_lifecycle_metrics.json"), &a); err != nil {
		return reported{}, err
	}
	l := a.Successes.Latency
	if l.TTFT == nil || l.ITL == nil {
		return reported{}, errors.New("summary_lifecycle_metrics.json has no time to first token")
	}
	of := func(m *metric) pair { return pair{1e3 * m.Median, 1e3 * m.P99, a.Successes.Count} }
	return reported{TTFT: of(l.TTFT), ITL: of(l.ITL)}, nil
}

func vllmRead(dir string) (reported, error) {
	var a struct {
		Completed int
		TTFT50    float64 `json:"p50_ttft_ms"`
		TTFT99    float64 `json:"p99_ttft_ms"`
		ITL50     float64 `json:"p50_itl_ms"`
		ITL99     float64 `json:"p99_itl_ms"`
	}
	err := one(filepath.Join(dir, "out.json"), &a)
	return reported{TTFT: pair{a.TTFT50, a.TTFT99, a.Completed}, ITL: pair{a.ITL50, a.ITL99, a.Completed}}, err
}
