package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/campaign"
)

const (
	chunkFrame = `data: {"choices":[{"index":0,"delta":{"content":%q},"finish_reason":null}]}` + "\n\n"
	stopFrame  = `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n"
	usageFrame = `data: {"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":%d,"total_tokens":%d}}` + "\n\n"
	doneFrame  = "data: [DONE]\n\n"
)

// scripted serves one model; reply answers the nth chat request, the test request being 0.
func scripted(t *testing.T, reply func(w http.ResponseWriter, n int64, body map[string]any)) string {
	t.Helper()
	var n atomic.Int64
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"object":"list","data":[{"id":"qwen3:4b","object":"model","owned_by":"test"}]}`)
	})
	mux.HandleFunc("POST /v1/chat/completions", func(w http.ResponseWriter, r *http.Request) {
		var body map[string]any
		_ = json.NewDecoder(r.Body).Decode(&body)
		w.Header().Set("Content-Type", "text/event-stream")
		reply(w, n.Add(1)-1, body)
	})
	return start(t, mux)
}

func load(t *testing.T, run *archive.Run) (out []*archive.Request) {
	t.Helper()
	for r, err := range run.Requests() {
		if err != nil {
			t.Fatal(err)
		}
		if r.Kind == archive.KindLoad {
			out = append(out, r)
		}
	}
	return out
}

func runAgainst(t *testing.T, url string, more ...string) *archive.Run {
	t.Helper()
	out := t.TempDir()
	code, stdout, stderr := command(t, append([]string{
		"run", "--no-calibration", "--url", url, "--out", out, "--concurrency", "1", "--turns", "1", "--no-checkpoints", "--warmup", "0",
	}, more...)...)
	if code == exitInternal || code == exitUsage || code == exitUnreachable {
		t.Fatalf("run = %d\n%s\n%s", code, stdout, stderr)
	}
	return onlyRun(t, out)
}

// TestB28OnlyDone: streams that carry nothing but [DONE] are failures and have no TTFT.
func TestB28OnlyDone(t *testing.T) {
	run := runAgainst(t, scripted(t, func(w http.ResponseWriter, n int64, _ map[string]any) {
		if n == 1 || n == 2 {
			fmt.Fprint(w, doneFrame)
			return
		}
		<-time.After(50 * time.Millisecond)
		fmt.Fprintf(w, chunkFrame+stopFrame+usageFrame+doneFrame, "a", 1, 8)
	}), "--requests", "3")
	a, err := run.Analysis()
	if err != nil {
		t.Fatal(err)
	}
	if a.Counts.OK != 1 || a.Counts.Failed != 2 || a.Counts.Failures[archive.FailNoTokens] != 2 {
		t.Errorf("counts = %+v; want 1 ok, 2 of no_tokens", a.Counts)
	}
	for _, m := range a.Metrics {
		if m.ID == "ttft_service" && m.Scope == "all" {
			est := m.Stats["p50"]
			v := est.Value.Or(est.Sample.Or(0))
			if m.N != 1 || v < 45 || v > 500 {
				t.Errorf("median TTFT = %v of %d samples; want about 50 ms of 1", v, m.N)
			}
		}
	}
}

// TestB35UsageIsAsked: usage is asked for, so the token count is the server's and not the
// limit that was sent.
func TestB35UsageIsAsked(t *testing.T) {
	run := runAgainst(t, scripted(t, func(w http.ResponseWriter, _ int64, body map[string]any) {
		opts, _ := body["stream_options"].(map[string]any)
		fl := w.(http.Flusher)
		for i := range 24 {
			fmt.Fprintf(w, chunkFrame, fmt.Sprintf("w%d ", i))
			fl.Flush()
			<-time.After(5 * time.Millisecond)
		}
		fmt.Fprint(w, stopFrame)
		if opts["include_usage"] == true {
			fmt.Fprintf(w, usageFrame, 24, 31)
		}
		fmt.Fprint(w, doneFrame)
	}), "--requests", "1", "--osl", "512")
	for _, r := range load(t, run) {
		if n := r.Usage.Completion.Or(-1); n != 24 || r.Usage.Source != archive.UsageServer || r.Asked.MaxTokens.Or(0) != 512 {
			t.Errorf("usage %+v, asked %+v; want the server's 24 of 512", r.Usage, r.Asked)
		}
		tpot := float64(r.T.Last.Sub(r.T.First).Milliseconds()) / 23
		if tpot < 4.5 || tpot > 50 { // 5 ms and what a busy machine adds; never 0.24
			t.Errorf("TPOT = %.2f ms; want about 5", tpot)
		}
	}
}

// TestB38NoTokenizer: a model name that is no repository, and no tokenizer: the counts are
// the server's and the run says that there is no tokenizer.
func TestB38NoTokenizer(t *testing.T) {
	run := runAgainst(t, scripted(t, func(w http.ResponseWriter, _ int64, _ map[string]any) {
		fmt.Fprintf(w, chunkFrame+stopFrame+usageFrame+doneFrame, "ok", 1, 8)
	}), "--requests", "2", "--model", "qwen3:4b", "--tokenizer", "none")
	for _, r := range load(t, run) {
		if r.Status != archive.StatusOK || r.Usage.Completion.Or(-1) != 1 {
			t.Errorf("%s: %s, usage %+v", r.ID, r.Status, r.Usage)
		}
	}
	found := false
	for _, n := range run.Manifest.Notes {
		found = found || n.Code == "no_tokenizer" && strings.Contains(n.Message, "no tokenizer")
	}
	if !found {
		t.Errorf("notes = %+v; want no_tokenizer", run.Manifest.Notes)
	}
}

// TestB95OnlyAChatRoute: a server that has nothing but the chat route is measured, and what it
// lacks is noted; without a name for the model the run does not begin.
func TestB95OnlyAChatRoute(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, chunkFrame+stopFrame+usageFrame+doneFrame, "ok", 1, 8)
	})
	url := start(t, mux)
	run := runAgainst(t, url, "--requests", "2", "--model", "m")
	for _, r := range load(t, run) {
		if r.Status != archive.StatusOK {
			t.Errorf("%s: %s, %+v", r.ID, r.Status, r.Error)
		}
	}
	noted := map[string]bool{}
	for _, n := range run.Manifest.Notes {
		noted[n.Code] = true
	}
	if !noted["no_health"] || !noted["no_models"] {
		t.Errorf("notes = %+v; want no_health and no_models", run.Manifest.Notes)
	}
	if code, _, msg := command(t, "run", "--url", url, "--requests", "2", "--out", t.TempDir()); code == 0 || !strings.Contains(msg, "--model") {
		t.Errorf("without a model: exit code %d, %s", code, msg)
	}
}

// TestTemplateHasEveryField: `init` writes every field of the campaign.
func TestTemplateHasEveryField(t *testing.T) {
	text := string(campaignTemplate)
	var walk func(reflect.Type)
	walk = func(typ reflect.Type) {
		for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice {
			typ = typ.Elem()
		}
		if typ.Kind() != reflect.Struct {
			return
		}
		for f := range typ.Fields() {
			if tag := f.Tag.Get("yaml"); tag != "" {
				if !strings.Contains(text, tag+":") {
					t.Errorf("campaign.yaml lacks the field %q of %s", tag, typ)
				}
				walk(f.Type)
			}
		}
	}
	walk(reflect.TypeFor[campaign.Config]())
	if _, err := campaign.Parse("campaign.yaml", campaignTemplate, campaign.Default()); err != nil {
		t.Error(err)
	}
}
