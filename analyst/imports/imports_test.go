package imports

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/inferencebench/inferencebench/archive"
)

func parse1(t *testing.T, name, data string) *Imported {
	t.Helper()
	out, err := Parse(name, []byte(data), time.Unix(1e9, 0))
	if err != nil {
		t.Fatal(err)
	}
	return out[0]
}

func value(t *testing.T, a *archive.Analysis, scope, id, stat string) archive.Estimate {
	t.Helper()
	for _, m := range a.Metrics {
		if m.ID == id && m.Scope == scope {
			return m.Stats[stat]
		}
	}
	t.Fatalf("no metric %s over %s", id, scope)
	return archive.Estimate{}
}

func near(t *testing.T, what string, got archive.Opt[float64], want float64) {
	t.Helper()
	if v, ok := got.Get(); !ok || math.Abs(v-want) > 1e-6*math.Max(1, math.Abs(want)) {
		t.Errorf("%s = %v, %v; want %v", what, v, ok, want)
	}
}

const vllmFigures = `{"date":"20261130-101112","backend":"vllm","model_id":"m","num_prompts":500,"request_rate":"inf","burstiness":1.0,"max_concurrency":32,
"duration":50.0,"completed":500,"total_input_tokens":512000,"total_output_tokens":64000,"request_throughput":10.0,"request_goodput":null,"output_throughput":1280.0,"total_token_throughput":11520.0,
"mean_ttft_ms":120.5,"median_ttft_ms":100.0,"std_ttft_ms":30.0,"p99_ttft_ms":300.0,"mean_tpot_ms":20.0,"median_tpot_ms":19.0,"p99_tpot_ms":40.0,"mean_itl_ms":21.0,"median_itl_ms":18.0,"p99_itl_ms":90.0,"mean_e2el_ms":3150.0,"median_e2el_ms":3000.0,"p99_e2el_ms":5000.0}`

func TestVLLMFigures(t *testing.T) {
	im := parse1(t, "bench.json", vllmFigures)
	a := im.Analysis
	near(t, "TTFT P99", value(t, a, "all", "ttft", "p99").Value, 300)
	near(t, "E2E mean", value(t, a, "all", "e2e", "mean").Value, 3150)
	near(t, "output rate", value(t, a, "all", "output_rate", "value").Value, 1280)
	near(t, "effective concurrency", a.Windows[0].EffectiveConcurrency, 31.5)
	if a.Verdict.State != archive.VerdictInconclusive || len(im.Cannot) < 3 {
		t.Errorf("verdict %q with %d limits named; figures alone decide nothing and must say so", a.Verdict.State, len(im.Cannot))
	}
	if got := im.Manifest.Epoch.Format("2006-01-02 15:04:05"); got != "2026-11-30 10:11:12" {
		t.Errorf("the run is dated %s", got)
	}
}

func TestTooFewRequestsWithholdAPercentile(t *testing.T) {
	im := parse1(t, "bench.json", strings.NewReplacer(`"completed":500`, `"completed":80`, `"num_prompts":500`, `"num_prompts":80`).Replace(vllmFigures))
	e := value(t, im.Analysis, "all", "ttft", "p99")
	if e.Value.Known() || !strings.Contains(e.Reason, "299") {
		t.Errorf("P99 of 80 requests is %+v; want it withheld", e)
	}
	near(t, "the observed P99", e.Sample, 300)
}

func TestClientThatDidNotKeepUp(t *testing.T) {
	im := parse1(t, "bench.json", strings.Replace(vllmFigures, `"max_concurrency":32`, `"max_concurrency":256`, 1))
	if im.Analysis.Verdict.State != archive.VerdictInvalid || !strings.Contains(im.Analysis.Verdict.Headline, "31.5") {
		t.Errorf("256 asked and 31.5 open is %q: %s", im.Analysis.Verdict.State, im.Analysis.Verdict.Headline)
	}
}

func TestVLLMDetailsBecomeRecords(t *testing.T) {
	im := parse1(t, "bench.json", `{"completed":2,"request_throughput":1,"model_id":"m","start_times":[1000.5,1000.0,1001.0],"ttfts":[0.1,0.2,0.0],"itls":[[0.01,0.02],[],[]],"input_lens":[5,6,7],"output_lens":[3,1,0],"generated_texts":["a","b",""],"errors":["","","boom"]}`)
	if len(im.Requests) != 3 || im.Analysis != nil {
		t.Fatalf("%d records and analysis %v; want three records", len(im.Requests), im.Analysis)
	}
	r := im.Requests[0]
	if r.T.Send != 1.5e9 || r.T.First != 1.6e9 || r.T.Last != 1.63e9 || len(r.Chunks.T) != 3 || r.Usage.Completion.Or(0) != 3 {
		t.Errorf("the first record is %+v", r.T)
	}
	if bad := im.Requests[2]; bad.Status != archive.StatusFailed || bad.Error.Message != "boom" || bad.T.First.Known() {
		t.Errorf("the failed record is %+v", bad)
	}
	dir := filepath.Join(t.TempDir(), "run")
	called := false
	err := im.Save(dir, func(run *archive.Run) (*archive.Analysis, error) {
		called = true
		return &archive.Analysis{Run: run.Manifest.ID}, nil
	})
	if err != nil || !called {
		t.Fatalf("Save: %v, analyzed %v", err, called)
	}
	run, err := archive.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, err := range run.Requests() {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	if n != 3 {
		t.Errorf("%d records on disk; want 3", n)
	}
}

func TestSGLangLines(t *testing.T) {
	one := `{"backend":"sglang","completed":400,"max_concurrency":16,"request_throughput":4.0,"output_throughput":900,"mean_e2e_latency_ms":4000,"median_e2e_latency_ms":3900,"mean_ttft_ms":90,"p99_ttft_ms":250,"mean_itl_ms":9.5,"p99_itl_ms":30,"concurrency":15.9,"accept_length":null,"duration":100}`
	out, err := Parse("s.jsonl", []byte(one+"\n"+one+"\n"), time.Time{})
	if err != nil || len(out) != 2 || out[0].Format != "sglang" {
		t.Fatalf("%d runs, %v", len(out), err)
	}
	near(t, "E2E mean", value(t, out[1].Analysis, "all", "e2e", "mean").Value, 4000)
	if out[0].Manifest.ID == out[1].Manifest.ID {
		t.Error("two runs of one file have one id")
	}
}

func TestAIPerf(t *testing.T) {
	im := parse1(t, "profile_export_aiperf.json", `{"request_throughput":{"unit":"requests/sec","avg":13.0},"request_latency":{"unit":"ms","avg":6550,"p50":5799,"p99":9381},"time_to_first_token":{"unit":"ms","avg":1588,"p50":787},"inter_token_latency":{"unit":"ms","avg":51.7},"request_count":{"unit":"requests","avg":2000},"start_time":"2026-10-17T20:22:08.939332","input_config":{"endpoint":{"model_names":["x"],"url":"h:1"},"loadgen":{"concurrency":85}}}`)
	near(t, "E2E P99", value(t, im.Analysis, "all", "e2e", "p99").Value, 9381)
	near(t, "TPOT mean", value(t, im.Analysis, "all", "tpot", "mean").Value, 51.7)
	near(t, "effective concurrency", im.Analysis.Windows[0].EffectiveConcurrency, 85.15)

	good := `{"metadata":{"x_request_id":"r1","x_correlation_id":"c","turn_index":0,"request_start_ns":1759813207532900363,"request_ack_ns":1759813207540000000,"request_end_ns":1759813207838764604,"benchmark_phase":"profiling","was_cancelled":false},"metrics":{"input_sequence_length":{"value":550,"unit":"tokens"},"time_to_first_token":{"value":255.0,"unit":"ms"},"request_latency":{"value":297.0,"unit":"ms"},"output_sequence_length":{"value":3,"unit":"tokens"},"inter_chunk_latency":{"value":[20.0,22.0],"unit":"ms"}},"error":null}`
	bad := `{"metadata":{"x_request_id":"r2","request_start_ns":1759813208532900363,"request_ack_ns":null,"request_end_ns":1759813208632900363,"was_cancelled":false},"metrics":{},"error":{"code":500,"type":"X","message":"y"}}`
	im = parse1(t, "profile_export.jsonl", good+"\nnonsense\n"+bad+"\n")
	if len(im.Requests) != 2 {
		t.Fatalf("%d records; want 2", len(im.Requests))
	}
	r := im.Requests[0]
	if got := r.T.First.Sub(r.T.Send); got != 255*time.Millisecond || r.T.Last.Sub(r.T.First) != 42*time.Millisecond || !r.T.Headers.Known() {
		t.Errorf("first token after %v, last after %v", got, r.T.Last.Sub(r.T.First))
	}
	if e := im.Requests[1].Error; e == nil || e.HTTPStatus.Or(0) != 500 {
		t.Errorf("the failed record has %+v", e)
	}
	named := false
	for _, c := range im.Cannot {
		named = named || strings.Contains(c.Message, "profile_export.jsonl:2")
	}
	if !named {
		t.Error("the line that was skipped is not named")
	}
}

func TestGuidellm(t *testing.T) {
	im := parse1(t, "benchmarks.json", `{"metadata":{"version":2},"benchmarks":[{"config":{"strategy":{"type_":"concurrent","streams":32},"backend":{"target":"h:1","model":"m"}},"scheduler_state":{"start_time":1777451316.0},"metrics":{"request_totals":{"successful":400,"errored":1,"incomplete":3,"total":404},"requests_per_second":{"successful":{"mean":3.2}},"request_latency":{"successful":{"mean":9.8,"median":9.5,"percentiles":{"p99":12.0}}},"time_to_first_token_ms":{"successful":{"mean":49.2,"median":48.7,"percentiles":{"p99":77.8}}}}}]}`)
	near(t, "E2E P99 in ms", value(t, im.Analysis, "all", "e2e", "p99").Value, 12000)
	near(t, "TTFT median", value(t, im.Analysis, "all", "ttft", "p50").Value, 48.7)
	near(t, "effective concurrency", im.Analysis.Windows[0].EffectiveConcurrency, 31.36)
	if im.Analysis.Counts.Cancelled != 3 || im.Manifest.Epoch.Year() != 2026 {
		t.Errorf("counts %+v, dated %v", im.Analysis.Counts, im.Manifest.Epoch)
	}
}

func TestSweepThatIsClientLimited(t *testing.T) {
	im := parse1(t, "sweep.csv", "concurrency,request_throughput,mean_latency_s,p99_ttft_ms\n1,0.5,2.0,80\n8,3.9,2.05,90\n32,14,2.2,120\n64,15,2.2,130\n128,15,2.2,130\n")
	v := im.Analysis.Verdict
	if v.State != archive.VerdictInvalid || !strings.Contains(v.Headline, "Client-limited") || !strings.Contains(v.Headline, "33") {
		t.Errorf("verdict %q: %s; want client-limited with the number 33", v.State, v.Headline)
	}
	if im.Analysis.Findings[0].Cause != "client" {
		t.Errorf("cause %q", im.Analysis.Findings[0].Cause)
	}
	near(t, "TTFT P99 of one row", value(t, im.Analysis, "phase:concurrency 32", "ttft", "p99").Value, 120)
}

func TestSweepOfASlowServerIsNotClientLimited(t *testing.T) {
	im := parse1(t, "sweep.csv", "Concurrency;Throughput (req/s);Avg Latency (ms)\n1;0.5;2000\n32;14;2280\n64;15;4260\n128;15;8530\n")
	if im.Analysis.Verdict.State != archive.VerdictInconclusive {
		t.Errorf("a saturated server with a client that keeps up is %q: %s", im.Analysis.Verdict.State, im.Analysis.Verdict.Headline)
	}
}

func TestFilesThatAreNoResults(t *testing.T) {
	for _, c := range []struct{ why, name, data, want string }{
		{"an empty file", "a.json", "", "empty"},
		{"JSON of something else", "a.json", `{"hello":1}`, "not a result file"},
		{"broken JSON names the line", "a.json", "{\"completed\":1,\n\"x\":}", "a.json:2"},
		{"a list", "a.json", `[1,2]`, "not a result file"},
		{"a table of something else", "a.csv", "name,age\nx,1\n", "needs a column concurrency"},
		{"a latency without a unit is not guessed", "a.csv", "concurrency,latency,rps\n1,2,3\n", "no unit"},
		{"a sweep without a good row", "a.csv", "concurrency,rps\nx,y\n", "no row"},
		{"guidellm without benchmarks", "a.json", `{"benchmarks":[]}`, "empty"},
		{"a truncated result", "a.json", vllmFigures[:200], "unexpected"},
	} {
		_, err := Parse(c.name, []byte(c.data), time.Time{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want an error that says %q", c.why, err, c.want)
		}
	}
	if _, err := Read(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(vllmFigures))
	f.Add([]byte("concurrency,rps,latency_ms\n1,2,3\n"))
	f.Add([]byte(`{"metadata":{"request_start_ns":1,"request_end_ns":2},"metrics":{}}`))
	f.Add([]byte(`{"benchmarks":[{"metrics":{"request_latency":{"successful":{"mean":1e308}}}}]}`))
	f.Add([]byte(`{"completed":1,"mean_ttft_ms":1,"start_times":[1e300],"ttfts":[-1],"itls":[[null]]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		out, err := Parse("f", data, time.Time{})
		if err != nil {
			return
		}
		for _, im := range out {
			if im.Analysis == nil && len(im.Requests) == 0 {
				t.Error("an import without records and without figures")
			}
			if im.Analysis == nil {
				continue
			}
			for _, m := range im.Analysis.Metrics {
				for st, e := range m.Stats {
					if v, ok := e.Value.Get(); ok && (math.IsNaN(v) || math.IsInf(v, 0)) {
						t.Errorf("%s %s is %v", m.ID, st, v)
					}
				}
			}
		}
	})
}
