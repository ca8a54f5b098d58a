package export

import (
	"bufio"
	"encoding/json"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/inferencebench/inferencebench/archive"
)

// maxGaps bounds the chunk gaps kept in memory; beyond it they are a uniform sample.
const maxGaps = 4 << 20

// vllmTally is what vLLM's benchmark would have counted, in seconds.
type vllmTally struct {
	ttft, tpot, e2el, itl  []float64
	gaps                   int
	prompts, done, failed  int
	input, output          int
	first, last            archive.Instant
	rng                    *rand.Rand
	unknownIn, unknownOut  int
	concurrency, askedRate archive.Opt[float64]
}

// VLLM writes the result file of vLLM's serving benchmark, computed by its definitions
// from the raw records of the measured load: latencies run from the moment of sending,
// ITL pools the gaps between chunks whatever they carry, TPOT is (end − first) over
// (tokens − 1), and throughput divides by the time from the first send to the last end,
// ramp and drain included. Numbers that no request supports are null.
func VLLM(w io.Writer, run *archive.Run, a *archive.Analysis) error { return vllm(w, run, a, false) }

// VLLMDetailed adds the lists that vLLM's benchmark writes with --save-detailed, one
// entry a request in the order of the records. A request that failed has a TTFT of zero
// there, as in the original.
func VLLMDetailed(w io.Writer, run *archive.Run, a *archive.Analysis) error {
	return vllm(w, run, a, true)
}

func vllm(w io.Writer, run *archive.Run, a *archive.Analysis, detailed bool) error {
	t := &vllmTally{rng: rand.New(rand.NewPCG(1, 1))} //nolint:gosec // a reproducible sample
	if err := eachLoad(run, t.add); err != nil {
		return err
	}
	if len(a.Windows) == 1 {
		t.concurrency, t.askedRate = a.Windows[0].AskedConcurrency, a.Windows[0].AskedRate
	}
	b := bufio.NewWriter(w)
	fields := t.fields(run.Manifest)
	b.WriteString("{")
	for i, f := range fields {
		if i > 0 {
			b.WriteString(",")
		}
		v, err := json.Marshal(f.value)
		if err != nil {
			return err
		}
		b.WriteString("\n  " + strconv.Quote(f.name) + ": ")
		b.Write(v)
	}
	if detailed {
		for _, l := range vllmLists {
			b.WriteString(",\n  " + strconv.Quote(l.name) + ": [")
			n := 0
			err := eachLoad(run, func(r *archive.Request) {
				if n > 0 {
					b.WriteString(", ")
				}
				n++
				v, err := json.Marshal(l.of(r))
				if err != nil {
					v = []byte("null")
				}
				b.Write(v)
			})
			if err != nil {
				return err
			}
			b.WriteString("]")
		}
	}
	b.WriteString("\n}\n")
	return b.Flush()
}

// eachLoad calls f for every request of the measured load that ended.
func eachLoad(run *archive.Run, f func(*archive.Request)) error {
	for r, err := range run.Requests() {
		if err != nil {
			if isLine(err) {
				continue
			}
			return err
		}
		if r.Kind == archive.KindLoad && r.Status != archive.StatusCancelled {
			f(r)
		}
	}
	return nil
}

func seconds(from, to archive.Instant) float64 {
	if !from.Known() || !to.Known() {
		return 0
	}
	return float64(to-from) / 1e9
}

func (t *vllmTally) add(r *archive.Request) {
	t.prompts++
	if r.T.Send.Known() && (t.first == 0 || r.T.Send < t.first) {
		t.first = r.T.Send
	}
	t.last = max(t.last, r.T.Done)
	if r.Status != archive.StatusOK {
		t.failed++
		return
	}
	t.done++
	t.input += r.Usage.Prompt.Or(0)
	n := r.Usage.Completion.Or(0)
	t.output += n
	if !r.Usage.Prompt.Known() {
		t.unknownIn++
	}
	if !r.Usage.Completion.Known() {
		t.unknownOut++
	}
	t.ttft = append(t.ttft, seconds(r.T.Send, r.T.First))
	t.e2el = append(t.e2el, seconds(r.T.Send, r.T.Last))
	if n > 1 {
		t.tpot = append(t.tpot, seconds(r.T.First, r.T.Last)/float64(n-1))
	}
	for i := 1; i < len(r.Chunks.T); i++ {
		t.gap(seconds(r.Chunks.T[i-1], r.Chunks.T[i]))
	}
}

func (t *vllmTally) gap(v float64) {
	t.gaps++
	if len(t.itl) < maxGaps {
		t.itl = append(t.itl, v)
	} else if i := t.rng.IntN(t.gaps); i < maxGaps {
		t.itl[i] = v
	}
}

type field struct {
	name  string
	value any
}

func (t *vllmTally) fields(m archive.Manifest) []field {
	d := seconds(t.first, t.last)
	per := func(n, unknown int) any {
		if d == 0 || unknown > 0 {
			return nil
		}
		return float64(n) / d
	}
	count := func(n, unknown int) any {
		if unknown > 0 {
			return nil
		}
		return n
	}
	var rate any = "inf"
	if v, ok := t.askedRate.Get(); ok {
		rate = v
	}
	out := []field{
		{"date", m.Epoch.UTC().Format("20060102-150405")}, {"backend", "openai-chat"}, {"label", m.Name},
		{"model_id", m.Server.Model}, {"tokenizer_id", m.Server.Model}, {"num_prompts", t.prompts},
		{"request_rate", rate}, {"burstiness", 1.0}, {"max_concurrency", t.concurrency},
		{"duration", d}, {"completed", t.done}, {"failed", t.failed},
		{"total_input_tokens", count(t.input, t.unknownIn)}, {"total_output_tokens", count(t.output, t.unknownOut)},
		{"request_throughput", per(t.done, 0)}, {"request_goodput", nil},
		{"output_throughput", per(t.output, t.unknownOut)}, {"total_token_throughput", per(t.input+t.output, t.unknownIn+t.unknownOut)},
	}
	for _, s := range []struct {
		name string
		v    []float64
	}{{"ttft", t.ttft}, {"tpot", t.tpot}, {"itl", t.itl}, {"e2el", t.e2el}} {
		out = append(out, distribution(s.name, s.v)...)
	}
	return append(out, field{"metadata", map[string]any{"tool": "inferencebench", "tool_version": m.Tool.Version, "run": m.ID, "simulated": m.Simulated, "itl_sampled": t.gaps > len(t.itl)}})
}

// distribution is mean, median, std and percentiles in ms, null without values.
// Percentiles interpolate linearly, as numpy does.
func distribution(name string, v []float64) []field {
	slices.Sort(v)
	f := func(prefix string, x float64) field {
		if len(v) == 0 {
			return field{prefix + "_" + name + "_ms", nil}
		}
		return field{prefix + "_" + name + "_ms", x * 1000}
	}
	mean, sq := 0.0, 0.0
	for _, x := range v {
		mean += x / float64(len(v))
	}
	for _, x := range v {
		sq += (x - mean) * (x - mean) / float64(len(v))
	}
	out := []field{f("mean", mean), f("median", linear(v, 0.5)), f("std", math.Sqrt(sq))}
	for _, p := range []float64{0.5, 0.9, 0.95, 0.99} {
		out = append(out, f("p"+strconv.Itoa(int(p*100)), linear(v, p)))
	}
	return out
}

func linear(sorted []float64, p float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	h := p * float64(len(sorted)-1)
	i := int(h)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[i] + (h-float64(i))*(sorted[i+1]-sorted[i])
}

// vllmLists are the detailed lists, in seconds.
var vllmLists = []struct {
	name string
	of   func(*archive.Request) any
}{
	{"input_lens", func(r *archive.Request) any { return r.Usage.Prompt }},
	{"output_lens", func(r *archive.Request) any { return r.Usage.Completion }},
	{"ttfts", func(r *archive.Request) any { return seconds(r.T.Send, r.T.First) }},
	{"itls", func(r *archive.Request) any {
		out := make([]float64, 0, len(r.Chunks.T))
		for i := 1; i < len(r.Chunks.T); i++ {
			out = append(out, seconds(r.Chunks.T[i-1], r.Chunks.T[i]))
		}
		return out
	}},
	{"start_times", func(r *archive.Request) any { return seconds(1, r.T.Send) }},
	{"latencies", func(r *archive.Request) any { return seconds(r.T.Send, r.T.Last) }},
	{"generated_texts", func(r *archive.Request) any { return r.Text }},
	{"errors", func(r *archive.Request) any {
		if r.Error == nil {
			return ""
		}
		return r.Error.Kind + ": " + r.Error.Message
	}},
}
