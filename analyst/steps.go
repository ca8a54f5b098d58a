package analyst

import (
	"fmt"
	"math"
	"strconv"

	"github.com/inferencebench/inferencebench/analyst/attribute"
	"github.com/inferencebench/inferencebench/analyst/evidence"
	"github.com/inferencebench/inferencebench/analyst/roofline"
	"github.com/inferencebench/inferencebench/analyst/series"
	"github.com/inferencebench/inferencebench/archive"
)

// stepFacts compares what the engine's steps took with what the device needs for them.
func (w *work) stepFacts(f *attribute.Facts, win archive.Window) {
	note := func(family, metric, unit string, v float64, method, text string) evidence.Fact {
		return w.book.Note(family, metric, unit, v, method, text)
	}
	w.largeSteps(f, win)
	w.speculation(f, win)
	w.leak(f, win)
	if w.setupOK {
		f.TP, f.MoE = w.setup.TP, w.setup.Model.Experts > 0
		f.MatmulShare, f.StreamShare = w.setup.Device.Matmul, w.setup.Device.Stream
	}
	w.budget(f)
	r, batch, ok := w.rates(f, win)
	if !ok {
		return
	}
	// One token of each running sequence comes from each step, so the median gap between
	// chunks is the time of a step that only decodes.
	// A chunk of several tokens is one step with speculative decoding, else several.
	step := f.Gap50.V / 1000
	if !f.Acceptance.OK {
		step /= math.Max(1, f.PerChunk.Or(1))
	}
	running := w.series.Gauge(archive.SourceEngine, "requests_running", series.Sum, win.From, win.To)
	if busy, ok := series.Share(running, func(v float64) bool { return v > 0 }); ok && len(running) >= 10 {
		if n := w.replicas(); n > 1 {
			busy = 1 - math.Pow(1-busy, 1/n) // of one replica, when each is busy by itself
		}
		f.Busy = note(evidence.Engine, "engine_busy", "", busy, "share of the readings with a running request", fmt.Sprintf("The engine works on a step %s of the time.", pct(busy)))
	}
	if f.Util.OK && f.Busy.OK && f.Busy.V > 0.05 {
		gap := math.Max(0, 1-f.Util.V/100/f.Busy.V)
		f.GPUGap = note(evidence.GPU, "gpu_gap", "", gap, "1 − GPU utilisation over the engine's busy share", fmt.Sprintf("Within a step the GPU idles %s of the time.", pct(gap)))
	}
	if !w.setupOK {
		return
	}
	s := w.setup
	decode := s.Step(batch, r.Context, 0, 0)
	prefill := r.Prefill * s.PrefillToken(r.Prompt/2)
	if share := prefill / (prefill + r.Steps*decode); r.Steps > 0 && !math.IsNaN(share) && !f.PrefillShare.OK {
		f.PrefillShare = note(evidence.Engine, "prefill_share", "", share, "modelled time of the computed prompt tokens over that of all work",
			fmt.Sprintf("%s of the modelled GPU time goes into prompts.", pct(share)))
	}
	if f.Acceptance.OK {
		decode = 0 // what drafting adds to a step is not modelled
	}
	if step > 0 && decode > 0 {
		f.Ratio = note(evidence.Client, "step_ratio", "", step/decode,
			fmt.Sprintf("decode step of %s over the modelled GPU time of %s for %.1f sequences at a context of %.0f tokens on %s", ms(1000*step), ms(1000*decode), batch, r.Context, s.Device.Name),
			fmt.Sprintf("A decode step takes %.2f times what the GPU needs for it.", step/decode))
		if r.Steps > 0 && f.Steps.OK && f.Busy.Above(0.3) {
			mean, model := f.Busy.V/r.Steps, decode+prefill/r.Steps
			f.RatioMean = note(evidence.Engine, "mean_step_ratio", "", mean/model, fmt.Sprintf("busy time per step of %s over the modelled GPU time of %s, prompt tokens included", ms(1000*mean), ms(1000*model)),
				fmt.Sprintf("The mean step takes %.2f times what the GPU needs for it.", mean/model))
		}
		if r.Decode > 0 {
			per := r.Prefill / r.Decode * s.PrefillToken(r.Prompt/2) // prefill that comes with each generated token
			gain := 2 * (decode + batch*per) / (s.Step(2*batch, r.Context, 0, 0) + 2*batch*per)
			f.CapGain = note(evidence.Engine, "batch_gain", "", gain, "modelled throughput at twice the running requests over that at these", fmt.Sprintf("With twice the running requests the GPU would do %.2f times the work.", gain))
		}
	}
	inflation := s.Inflation(batch, r.Context)
	f.Inflation = note(evidence.Engine, "step_inflation", "", inflation, "modelled step of this batch over the modelled step of one sequence", fmt.Sprintf("The batch makes a decode step %.2f times as long as one sequence alone would.", inflation))
	busy := f.Busy.Or(1)
	if busy > 0.02 {
		mfu, mbu := s.MFU(r)/busy, s.MBU(r)/busy
		f.MFU = note(evidence.Engine, "mfu", "", mfu, "operations of the observed tokens over the arithmetic peak, while busy", fmt.Sprintf("While busy, %s of the arithmetic peak of the %s is used.", pct(mfu), s.Device.Name))
		f.MBU = note(evidence.Engine, "mbu", "", mbu, "bytes of weights and KV cache read over the peak bandwidth, while busy", fmt.Sprintf("While busy, %s of the memory bandwidth of the %s is used.", pct(mbu), s.Device.Name))
	}
}

// rates returns the work per second in the window and the mean decoding batch.
func (w *work) rates(f *attribute.Facts, win archive.Window) (r roofline.Rates, batch float64, ok bool) {
	grow := func(name string) (float64, bool) {
		d, ok := w.series.Growth(archive.SourceEngine, name, win.From, win.To)
		if !ok || d.Span() <= 0 {
			return 0, false
		}
		return d.Value / d.Span(), true
	}
	scope := "phase:" + win.Phase
	one := func(id, stat string) float64 {
		e, _ := w.value(id, scope, stat)
		return e.Value.Or(0)
	}
	span := float64(win.To-win.From) / 1e9
	if span <= 0 || !f.Gap50.OK {
		return r, 0, false
	}
	if r.Decode, ok = grow("generation_tokens_total"); !ok || f.Engine == "llama_cpp" {
		r.Decode = one("output_rate", "value")
	}
	if r.Prefill, ok = grow("prompt_tokens_total"); ok {
		if cached, ok := grow("prompt_tokens_cached_total"); ok && f.Engine != "llama_cpp" {
			r.Prefill -= cached
		} else if f.Hit.OK && f.Engine != "llama_cpp" {
			r.Prefill *= 1 - f.Hit.V
		}
	} else {
		r.Prefill = one("input_rate", "value")
	}
	r.Prefill = math.Max(0, r.Prefill)
	r.Prompt = one("prompt_length", "mean")
	r.Context = r.Prompt + one("output_length", "mean")/2
	step := f.Gap50.V / 1000
	r.Steps = f.Steps.Or(0)
	if r.Steps <= 0 && step > 0 {
		// Unknown: steps follow one another while anything runs.
		r.Steps = 1 / step
	}
	// Little's law over the decode phase: sequences decoding at once.
	batch = r.Decode / math.Max(r.Steps, 1e-9)
	if f.Running.OK && batch > f.Running.V*1.5 {
		batch = f.Running.V
	}
	if tpot := one("tpot", "mean"); !f.Steps.OK && tpot > 0 {
		batch = r.Decode * tpot / 1000
	}
	// The rates are of all replicas together; a step is one replica's.
	n := w.replicas()
	r.Steps, r.Decode, r.Prefill = r.Steps/n, r.Decode/n, r.Prefill/n
	if !f.Steps.OK && step > 0 {
		r.Steps, batch = 1/step, batch/n
	}
	batch = math.Max(1, batch)
	return r, batch, r.Decode > 0
}

// replicas returns how many engines share the load: as many as have a metrics page of
// their own, or as many groups of devices as there are.
func (w *work) replicas() float64 {
	n := len(w.series.Targets(archive.SourceEngine, "requests_running"))
	if w.setupOK {
		n = max(n, len(w.in.Manifest.GPUs)/w.setup.TP)
	}
	return float64(max(n, 1))
}

// budget reads the token budget of a step from the settings.
func (w *work) budget(f *attribute.Facts) {
	for _, k := range []string{"max_num_batched_tokens", "chunked_prefill_size", "n_batch", "batch_size"} {
		if v, err := strconv.ParseFloat(w.setting(k), 64); err == nil && v > 0 {
			f.Budget = w.book.Note(evidence.Engine, "token_budget", "tokens", v, "setting "+k, fmt.Sprintf("A step may process at most %.0f tokens.", v))
			return
		}
	}
}

// largeSteps reads the tail of the tokens per step.
func (w *work) largeSteps(f *attribute.Facts, win archive.Window) {
	edges, counts := w.series.Buckets(archive.SourceEngine, win.From, win.To)
	if len(counts) == 0 || counts[len(counts)-1] < 20 {
		return
	}
	total := counts[len(counts)-1]
	for i := len(counts) - 1; i > 0; i-- {
		if counts[i] > counts[i-1] {
			f.StepTokensMax = w.book.Note(evidence.Engine, "step_tokens", "tokens", edges[i-1], "lower edge of the highest bucket of the step histogram that grew", fmt.Sprintf("The largest steps process more than %.0f tokens.", edges[i-1]))
			break
		}
	}
	for i, c := range counts {
		if c < 0.99*total {
			continue
		}
		v := edges[i]
		if math.IsInf(v, 1) && i > 0 {
			v = 2 * edges[i-1]
		}
		if i > 0 && c > counts[i-1] {
			// Within a bucket tokens are taken to lie evenly.
			v = edges[i-1] + (v-edges[i-1])*(0.99*total-counts[i-1])/(c-counts[i-1])
		}
		f.StepTokens99 = w.book.Note(evidence.Engine, "step_tokens", "tokens", v, "99th percentile of the step histogram's growth, interpolated within a bucket", fmt.Sprintf("One step in a hundred processes more than %.0f tokens.", v))
		return
	}
}

func (w *work) speculation(f *attribute.Facts, win archive.Window) {
	d, ok1 := w.series.Growth(archive.SourceEngine, "spec_draft_tokens_total", win.From, win.To)
	a, ok2 := w.series.Growth(archive.SourceEngine, "spec_accepted_tokens_total", win.From, win.To)
	if !ok1 || !ok2 || d.Value < 100 {
		return
	}
	v := a.Value / d.Value
	f.Acceptance = w.book.Note(evidence.Engine, "spec_acceptance", "", v, "growth of accepted over drafted tokens", fmt.Sprintf("The engine accepts %s of the drafted tokens.", pct(v)))
}
