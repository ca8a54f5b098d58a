package analyst

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/inferencebench/inferencebench/analyst/attribute"
	"github.com/inferencebench/inferencebench/analyst/evidence"
	"github.com/inferencebench/inferencebench/analyst/metrics"
	"github.com/inferencebench/inferencebench/analyst/series"
	"github.com/inferencebench/inferencebench/analyst/stats"
	"github.com/inferencebench/inferencebench/archive"
)

// leakParts is in how many parts the window is looked at: a leak raises the floor of KV
// usage from part to part, while long prompts come and go.
const leakParts = 6

// maxLeakReadings bounds the readings that are looked at.
const maxLeakReadings = 360

// leak looks for KV usage that the open requests do not explain, and whether it grows.
// What they explain is known from the records: the prompt and what was generated so far
// of every request between its send and its last token, over the capacity of the cache.
func (w *work) leak(f *attribute.Facts, win archive.Window) {
	capacity := w.kvCapacity()
	kv := w.series.Gauge(archive.SourceEngine, "kv_cache_usage", series.Max, win.From, win.To)
	if capacity <= 0 || len(kv) < 3*leakParts {
		return
	}
	if step := len(kv)/maxLeakReadings + 1; step > 1 {
		thin := kv[:0:0]
		for i := 0; i < len(kv); i += step {
			thin = append(thin, kv[i])
		}
		kv = thin
	}
	need := w.kvNeed(kv, w.series.Gauge(archive.SourceEngine, "requests_running", series.Sum, win.From, win.To))
	var floor [leakParts]float64
	rises := 0
	for k := range leakParts {
		var excess []float64
		for i := k * len(kv) / leakParts; i < (k+1)*len(kv)/leakParts; i++ {
			excess = append(excess, math.Max(0, kv[i].V-need[i]/capacity))
		}
		slices.Sort(excess)
		floor[k] = stats.Quantile(excess, 0.25)
		if k > 0 && floor[k] > floor[k-1] {
			rises++
		}
	}
	growth := floor[leakParts-1] - floor[0]
	if rises < leakParts/2 {
		growth = math.Min(growth, 0.04)
	}
	f.Leak = w.book.Note(evidence.Engine, "kv_floor_growth", "", growth, "lower quartile of the KV usage beyond the tokens of the running requests, last sixth less first sixth of the window",
		fmt.Sprintf("KV usage that running requests do not explain grows by %.0f points over the window.", 100*growth))
}

// kvCapacity returns the tokens that the KV cache of all replicas holds, 0 when unknown.
func (w *work) kvCapacity() float64 {
	if v, ok := series.Top(w.series.Gauge(archive.SourceEngine, "kv_cache_tokens_capacity", series.Sum, 1, math.MaxInt64)); ok && v > 0 {
		return v
	}
	num := func(k string) float64 {
		v, err := strconv.ParseFloat(w.setting(k), 64)
		if err != nil || v <= 0 {
			return 0
		}
		return v
	}
	for _, k := range []string{"kv_cache_size_tokens", "max_total_num_tokens"} {
		if v := num(k); v > 0 {
			return v
		}
	}
	return num("num_gpu_blocks") * num("block_size")
}

// kvNeed returns the tokens of the requests that run at each reading. Engines admit in
// the order of arrival, so they are the earliest sent of the open ones, as many as the
// engine says that it runs.
func (w *work) kvNeed(at, running []series.Point) []float64 {
	type open struct {
		sent   archive.Instant
		tokens float64
	}
	lists := make([][]open, len(at))
	w.table.Each(func(r *metrics.Row) {
		if !r.T.Send.Known() || r.Prompt < 0 && r.AskedPrompt < 0 {
			return
		}
		prompt := float64(max(r.Prompt, r.AskedPrompt))
		end := max(r.T.Last, r.T.Done)
		i, _ := slices.BinarySearchFunc(at, r.T.Send, func(p series.Point, t archive.Instant) int {
			if p.T < t {
				return -1
			}
			return 1
		})
		for ; i < len(at) && at[i].T <= end; i++ {
			tokens := prompt
			if span := float64(r.T.Last - r.T.First); r.T.First.Known() && at[i].T > r.T.First && span > 0 {
				tokens += float64(max(r.Completion, 0)) * math.Min(1, float64(at[i].T-r.T.First)/span)
			}
			lists[i] = append(lists[i], open{r.T.Send, tokens})
		}
	})
	need := make([]float64, len(at))
	j := 0
	for i, list := range lists {
		for j < len(running) && running[j].T < at[i].T {
			j++
		}
		n := len(list)
		if j < len(running) && running[j].T == at[i].T {
			n = min(n, int(running[j].V))
		}
		slices.SortFunc(list, func(a, b open) int { return cmp.Compare(a.sent, b.sent) })
		for _, o := range list[:n] {
			need[i] += o.tokens
		}
	}
	return need
}
