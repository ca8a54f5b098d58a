package export

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/report/reporttest"
)

func write(t *testing.T, f Format, kind reporttest.Kind) []byte {
	t.Helper()
	run, a := reporttest.Build(t, kind)
	var b bytes.Buffer
	if err := f.Write(&b, run, a); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestGolden(t *testing.T) {
	for _, name := range []string{"markdown", "csv", "junit", "vllm", "llm-d"} {
		f, err := Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, kind := range []reporttest.Kind{reporttest.Saturated, reporttest.AllFailed} {
			got := write(t, f, kind)
			path := filepath.Join("testdata", string(kind)+"-"+f.File)
			if *update {
				if err := os.WriteFile(path, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(want), string(got)); d != "" {
				t.Errorf("%s differs; run with -update after looking at it:\n%s", path, d)
			}
		}
	}
}

func TestEveryFormatParsesOnEveryRun(t *testing.T) {
	for _, f := range Formats() {
		for _, kind := range reporttest.Kinds() {
			out := write(t, f, kind)
			if filepath.Ext(f.File) != ".parquet" && (bytes.Contains(out, []byte("NaN")) || bytes.Contains(out, []byte("Inf"))) {
				t.Errorf("%s of %s contains NaN or Inf", f.Name, kind)
			}
			switch filepath.Ext(f.File) {
			case ".json":
				if !json.Valid(out) {
					t.Errorf("%s of %s is not valid JSON", f.Name, kind)
				}
			case ".csv":
				if _, err := csv.NewReader(bytes.NewReader(out)).ReadAll(); err != nil {
					t.Errorf("%s of %s: %v", f.Name, kind, err)
				}
			case ".parquet":
				if !bytes.HasPrefix(out, []byte("PAR1")) || !bytes.HasSuffix(out, []byte("PAR1")) {
					t.Errorf("%s of %s is no Parquet file", f.Name, kind)
				}
			case ".xml":
				var v suites
				if err := xml.Unmarshal(out, &v); err != nil {
					t.Errorf("%s of %s: %v", f.Name, kind, err)
				}
			}
		}
	}
}

func TestHostileTextIsInertInMarkdown(t *testing.T) {
	out := string(write(t, Formats()[0], reporttest.Hostile))
	for _, bad := range []string{"<script", "<img", "\x1b"} {
		if strings.Contains(out, bad) {
			t.Errorf("the Markdown contains %q", bad)
		}
	}
}

func TestEscapers(t *testing.T) {
	for _, c := range []struct {
		why       string
		got, want string
	}{
		{"a formula is text in a spreadsheet", safe(`=HYPERLINK("x")`), `'=HYPERLINK("x")`},
		{"plain text stays", safe("ttft"), "ttft"},
		{"a table cell cannot be left", esc("a|b"), `a\|b`},
		{"HTML is text", esc("<b>"), "&lt;b&gt;"},
		{"a code span cannot be left", code("a`b"), "`a'b`"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %q; want %q", c.why, c.got, c.want)
		}
	}
}

// The numbers of vLLM's definitions, worked out by hand for two requests.
func TestVLLMDefinitions(t *testing.T) {
	s := func(ms float64) archive.Instant { return archive.Instant(1e9 + ms*1e6) }
	ok := archive.Request{
		ID: "a", Kind: archive.KindLoad, Status: archive.StatusOK, Finish: "stop", Text: "x",
		T:      archive.Times{Intended: s(0), Send: s(10), Headers: s(20), First: s(110), Answer: s(110), Last: s(410), Done: s(420)},
		Chunks: archive.Chunks{T: []archive.Instant{s(110), s(210), s(410)}},
		Usage:  archive.Usage{Prompt: archive.Some(7), Completion: archive.Some(4), Source: archive.UsageServer},
	}
	bad := archive.Request{
		ID: "b", Kind: archive.KindLoad, Status: archive.StatusFailed, Error: &archive.Failure{Kind: "http_500", Message: "boom"},
		T: archive.Times{Intended: s(5), Send: s(15), Done: s(1010)}, Usage: archive.Usage{Source: archive.UsageNone},
	}
	warm := ok
	warm.ID, warm.Kind = "w", archive.KindWarmup
	dir := filepath.Join(t.TempDir(), "run")
	m := archive.Manifest{Schema: archive.SchemaVersion, ID: "x", State: archive.StateComplete, Started: s(0), Ended: s(1020)}
	w, err := archive.Create(dir, m)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []archive.Request{ok, bad, warm} {
		w.Request(&r)
	}
	if err := w.Close(m); err != nil {
		t.Fatal(err)
	}
	run, err := archive.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := VLLMDetailed(&b, run, &archive.Analysis{}); err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatalf("%v\n%s", err, b.Bytes())
	}
	for k, want := range map[string]float64{
		"num_prompts": 2, "completed": 1, "failed": 1, "total_input_tokens": 7, "total_output_tokens": 4, "duration": 1,
		"mean_ttft_ms": 100, "mean_tpot_ms": 100, "mean_itl_ms": 150, "median_itl_ms": 150, "mean_e2el_ms": 400, "output_throughput": 4,
	} {
		if v, ok := got[k].(float64); !ok || math.Abs(v-want) > 1e-6 {
			t.Errorf("%s = %v; want %v", k, got[k], want)
		}
	}
	if d := cmp.Diff([]any{"", "http_500: boom"}, got["errors"]); d != "" {
		t.Error(d)
	}
}
