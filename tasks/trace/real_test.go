package trace

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/inferencebench/inferencebench/tasks/token"
)

// reference is the folder of the reference data, or skips the test.
func reference(t testing.TB, path string) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		if filepath.Dir(dir) == dir {
			t.Fatal("no go.mod above the package")
		}
		dir = filepath.Dir(dir)
	}
	full := filepath.Join(dir, "..", "shared", "data", path)
	if _, err := os.Stat(full); err != nil {
		t.Skipf("the reference data is not here: %v", err)
	}
	return full
}

func near(got, want, tolerance float64) bool { return math.Abs(got-want) <= tolerance }

func TestRealTraces(t *testing.T) {
	for _, c := range []struct {
		file     string
		format   Format
		rows     int
		rate, cv float64
		quantum  time.Duration
		in, out  float64
		reused   float64 // -1 without blocks
		minutes  float64
	}{
		{"AzureLLMInferenceTrace_code.csv", Azure, 8819, 2.57, 13.2, 0, 2048, 28, -1, 57},
		{"AzureLLMInferenceTrace_conv.csv", Azure, 19366, 5.53, 1.09, 0, 1155, 211, -1, 58},
		{"mooncake_conversation_trace.jsonl", Mooncake, 12031, 3.4, 3.0, 3 * time.Second, 12035, 343, 0.366, 59},
		{"mooncake_synthetic_trace.jsonl", Mooncake, 3993, 0, 1.0, 0, 15326, 149, 0.640, 0},
	} {
		tr, err := Load(reference(t, "traces/"+c.file))
		if err != nil {
			t.Errorf("%s: %v", c.file, err)
			continue
		}
		r := Inspect(tr)
		t.Logf("%s", r)
		if r.Format != c.format || r.Rows != c.rows || r.Quantum != c.quantum || r.OutOfOrder != 0 {
			t.Errorf("%s: format %s, %d rows, quantum %s, %d out of order; want %s, %d, %s, 0", c.file, r.Format, r.Rows, r.Quantum, r.OutOfOrder, c.format, c.rows, c.quantum)
		}
		if c.rate > 0 && !near(r.Rate, c.rate, 0.05) || !near(r.CV, c.cv, 0.1) || c.minutes > 0 && !near(r.Span.Minutes(), c.minutes, 1) {
			t.Errorf("%s: %.3f/s, CV %.2f, span %s; want %.2f, %.2f, %g min", c.file, r.Rate, r.CV, r.Span, c.rate, c.cv, c.minutes)
		}
		if !near(r.MeanIn, c.in, 1) || !near(r.MeanOut, c.out, 1) {
			t.Errorf("%s: mean %.0f in, %.0f out; want %.0f, %.0f", c.file, r.MeanIn, r.MeanOut, c.in, c.out)
		}
		if !near(r.Reused, c.reused, 0.002) {
			t.Errorf("%s: %.3f of blocks reused; want %.3f", c.file, r.Reused, c.reused)
		}
	}
}

func TestQuantisedTraceIsRefusedUntilDithered(t *testing.T) {
	tr, err := Load(reference(t, "traces/mooncake_conversation_trace.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := NewPlan(tr, PlanOptions{}); !errors.Is(err, ErrQuantised) {
		t.Fatalf("NewPlan = %v; want ErrQuantised", err)
	}
	p, err := NewPlan(tr, PlanOptions{Dither: true, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Rows)+p.Dropped != 12031 {
		t.Errorf("%d rows and %d dropped; want 12031 in all", len(p.Rows), p.Dropped)
	}
	rows := make([]Row, len(p.Schedule))
	for i := range rows {
		rows[i] = Row{At: p.Schedule[i], Timed: true}
	}
	r := Inspect(&Trace{Rows: rows})
	if r.Zero > 0.001 || r.CV > 1.3 || r.CV < 0.9 {
		t.Errorf("after dithering %.4f of gaps are zero and their CV is %.2f; want none and about 1.1", r.Zero, r.CV)
	}
}

func TestPlanAtTwentyTimesSpeed(t *testing.T) {
	tr, err := Load(reference(t, "traces/AzureLLMInferenceTrace_conv.csv"))
	if err != nil {
		t.Fatal(err)
	}
	p, err := NewPlan(tr, PlanOptions{Speed: 20})
	if err != nil {
		t.Fatal(err)
	}
	span := p.Schedule[len(p.Schedule)-1]
	if rate := float64(len(p.Rows)) / span.Seconds(); !near(rate, 20*5.53, 1) {
		t.Errorf("%.1f requests/s; want %.1f", rate, 20*5.53)
	}
	for i := range uint64(200) {
		turn, ok := p.Session(i).Next("")
		if !ok {
			t.Fatalf("request %d is missing", i)
		}
		want := p.Rows[i].In
		if got := token.Estimate(turn.User) + 8; want > 40 && math.Abs(float64(got-want)) > 3+0.01*float64(want) {
			t.Errorf("request %d has %d tokens; want %d", i, got, want)
		}
		if turn.MaxTokens != p.Rows[i].Out {
			t.Errorf("request %d asks for %d tokens; want %d", i, turn.MaxTokens, p.Rows[i].Out)
		}
	}
}

func TestPlanSharesTheTextOfSharedBlocks(t *testing.T) {
	tr, err := Load(reference(t, "traces/mooncake_conversation_trace.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	p, err := NewPlan(tr, PlanOptions{Dither: true, Limit: 40})
	if err != nil {
		t.Fatal(err)
	}
	common := func(a, b string) int {
		n := 0
		for n < len(a) && n < len(b) && a[n] == b[n] {
			n++
		}
		return n
	}
	first, _ := p.Session(0).Next("")
	for i := uint64(1); i < 40; i++ {
		turn, _ := p.Session(i).Next("")
		same := 0
		for same < len(p.Rows[0].Blocks) && same < len(p.Rows[i].Blocks) && p.Rows[0].Blocks[same] == p.Rows[i].Blocks[same] {
			same++
		}
		shared := token.Estimate(first.User[:common(first.User, turn.User)])
		if want := same * 512; shared < want-4 || shared > want+12 {
			t.Errorf("request %d shares %d blocks with the first, and %d tokens of text; want about %d", i, same, shared, want)
		}
	}
}

func TestServeGenClients(t *testing.T) {
	open := func(name string) *os.File {
		f, err := os.Open(reference(t, "traces/servegen/"+name))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	c, err := ReadServeGen("m-large-chunk-0-trace.csv", open("m-large-chunk-0-trace.csv"), open("m-large-chunk-0-dataset.json"))
	if err != nil {
		t.Fatal(err)
	}
	hour := time.Hour
	var want, got float64
	for i, w := range c.Windows[:len(c.Windows)-1] {
		if w.Start < 24*hour {
			want += w.Rate * (c.Windows[i+1].Start - w.Start).Seconds()
		}
	}
	for seed := range uint64(8) {
		tr, err := Generate([]*Client{c}, 0, 24*hour, seed, 100, 100)
		if err != nil {
			t.Fatal(err)
		}
		got += float64(len(tr.Rows)) / 8
		if r := Inspect(tr); seed == 0 && (r.MeanIn < 10 || r.MeanOut < 1 || r.Rate <= 0) {
			t.Errorf("the generated trace is odd: %s", r)
		}
	}
	if math.Abs(got/want-1) > 0.10 {
		t.Errorf("a day has %.0f requests in the mean; its windows say %.0f", got, want)
	}
	for _, n := range []string{"0", "1", "2", "3", "4"} {
		for _, model := range []string{"m-large", "deepseek-r1"} {
			if _, err := ReadServeGen(n, open(model+"-chunk-"+n+"-trace.csv"), nil); err != nil {
				t.Errorf("%s client %s: %v", model, n, err)
			}
		}
	}
}
