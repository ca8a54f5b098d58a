package probe

import (
	"slices"

	"github.com/inferencebench/inferencebench/analyst/metrics"
	"github.com/inferencebench/inferencebench/analyst/stats"
	"github.com/inferencebench/inferencebench/archive"
)

// See reads what a load showed between two instants: the requests of the load that were
// sent in it, warm-up and scored items left out, and the samples taken in it.
func See(arm Arm, requests []*archive.Request, samples []*archive.Sample, from, to archive.Instant) Seen {
	s := Seen{Arm: arm}
	var ttft, tpot, gaps, late, dials, together, prompts []float64
	tokens := 0.0
	for _, r := range requests {
		if row := metrics.RowOf(r); row.Dial >= 0 { // new connections are few: those of the warm-up count
			dials = append(dials, float64(row.Dial)/1000)
		}
		if r.Kind != archive.KindLoad || r.T.Intended < from || r.T.Intended >= to {
			continue
		}
		if r.Status != archive.StatusOK {
			s.Failed++
			continue
		}
		s.OK++
		row := metrics.RowOf(r)
		take := func(to *[]float64, of func() (float64, bool)) {
			if v, ok := of(); ok {
				*to = append(*to, v)
			}
		}
		take(&ttft, row.TTFT)
		take(&tpot, row.TPOT)
		take(&late, row.SendLag)
		if v, ok := row.TokensPerChunk(); ok {
			together = append(together, v)
		}
		if v, ok := row.OutputTokens(); ok {
			tokens += v
		}
		if v, ok := row.PromptTokens(); ok {
			prompts = append(prompts, v)
		}
		last := archive.Instant(0)
		for i, at := range r.Chunks.T {
			if i > 0 {
				gaps = append(gaps, at.Sub(last).Seconds()*1e3)
			}
			last = at
		}
	}
	if len(ttft) > 0 {
		s.TTFTMean = archive.Some(stats.Mean(ttft))
	}
	s.TTFT, s.TPOT, s.SendLag = middle(ttft, 0.5), middle(tpot, 0.5), middle(late, 0.5)
	s.ITL50, s.ITL99 = middle(gaps, 0.5), middle(gaps, 0.99)
	s.RTT = middle(dials, 0.5)
	if len(together) > 0 {
		s.PerChunk = archive.Some(stats.Mean(together))
	}
	if took := to.Sub(from).Seconds(); took > 0 && s.OK > 0 {
		s.Requests, s.Tokens = archive.Some(float64(s.OK)/took), archive.Some(tokens/took)
	}
	if len(prompts) > 0 {
		s.Prompt = archive.Some(stats.Mean(prompts))
	}
	s.Prompt50 = middle(prompts, 0.5)
	s.server(samples, from, to)
	return s
}

// server reads the samples.
func (s *Seen) server(samples []*archive.Sample, from, to archive.Instant) {
	mean := func(name string) archive.Opt[float64] {
		sum, n := 0.0, 0
		for _, x := range samples {
			if v, ok := x.Values[name]; ok && x.Source == archive.SourceEngine && x.T >= from && x.T < to {
				sum += v
				n++
			}
		}
		if n == 0 {
			return archive.Opt[float64]{}
		}
		return archive.Some(sum / float64(n))
	}
	grew := func(name string) archive.Opt[float64] {
		first, last, seen := 0.0, 0.0, 0
		for _, x := range samples {
			if v, ok := x.Values[name]; ok && x.Source == archive.SourceEngine && x.T >= from && x.T < to {
				if seen == 0 || v < last { // a counter that starts again counts from there
					first = v - (last - first)
				}
				last = v
				seen++
			}
		}
		if seen < 2 {
			return archive.Opt[float64]{}
		}
		return archive.Some(last - first)
	}
	s.KV, s.Running, s.Waiting = mean("kv_cache_usage"), mean("requests_running"), mean("requests_waiting")
	for _, x := range samples {
		if v, ok := x.Values["kv_cache_usage"]; ok && x.Source == archive.SourceEngine && x.T >= from && x.T < to {
			s.KVMax = archive.Some(max(v, s.KVMax.Or(0)))
		}
	}
	if n, ok := grew("preemptions_total").Get(); ok && s.OK > 0 {
		s.Preempt = archive.Some(n / float64(s.OK))
	}
	asked, ok1 := grew("prefix_cache_queries_total").Get()
	hits, ok2 := grew("prefix_cache_hits_total").Get()
	if ok1 && ok2 && asked > 0 {
		s.Hit = archive.Some(hits / asked)
	}
	sum, ok1 := grew("ttft_sum").Get()
	count, ok2 := grew("ttft_count").Get()
	if ok1 && ok2 && count > 0 {
		s.ServerOwn = archive.Some(1e3 * sum / count)
	}
}

// middle is a plain quantile; unknown for nothing.
func middle(v []float64, q float64) archive.Opt[float64] {
	if len(v) == 0 {
		return archive.Opt[float64]{}
	}
	slices.Sort(v)
	return archive.Some(v[min(len(v)-1, int(q*float64(len(v))))])
}
