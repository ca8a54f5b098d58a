package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/inferencebench/inferencebench/archive"
)

// stage is Actions that write down what they were asked.
type stage struct {
	runs    string
	ran     []RunInput
	most    []int
	orders  []Order
	sends   int
	block   chan struct{} // Run waits for it when not nil
	started chan struct{}
	fail    error
	limit   time.Duration
}

func (s *stage) Run(ctx context.Context, _ *Target, in RunInput, requests int) (string, error) {
	s.ran, s.most = append(s.ran, in), append(s.most, requests)
	if s.block != nil {
		close(s.started)
		select {
		case <-s.block:
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	}
	return filepath.Join(s.runs, "20260101T000000Z-run-1"), s.fail
}

func (s *stage) Analyze(context.Context, string, []string) (*archive.Analysis, string, error) {
	a := &archive.Analysis{
		Verdict: archive.Verdict{State: "bottleneck", Headline: "The KV cache\x1b[2J is full", Cause: "kv_capacity"},
		Counts:  archive.Counts{Planned: s.sends, OK: s.sends},
		Gates:   []archive.Gate{{ID: "send_lag", Passed: archive.Some(false), Message: "late"}, {ID: "x"}},
		Metrics: []archive.Metric{{ID: "ttft", Unit: "ms", Scope: "all", Stats: map[string]archive.Estimate{"p50": {Value: archive.Some(12.5)}, "p99": {Reason: "too few"}}}},
	}
	for range 20 {
		a.Findings = append(a.Findings, archive.Finding{Cause: "kv_capacity", Summary: strings.Repeat("long ", 1000)})
	}
	return a, "report.html", nil
}

func (s *stage) Compare(_ context.Context, _ string, heads []string) ([]Compared, error) {
	out := make([]Compared, len(heads))
	for i := range out {
		out[i] = Compared{Run: filepath.Base(heads[i]), Changes: make([]Change, 500)}
	}
	return out, nil
}

func (s *stage) Probe(_ context.Context, t *Target, _ string, probes []string, limit time.Duration) (Probes, int, error) {
	s.limit = limit
	out := make([]ProbeResult, 30)
	for i := range out {
		out[i] = ProbeResult{Probe: probes[0], Answer: "confirmed", Observed: t.Name + strings.Repeat(" long", 500)}
	}
	return Probes{Results: out}, 12, s.fail
}

func (s *stage) Study(_ context.Context, _ *Target, o Order) (Study, int, error) {
	s.orders = append(s.orders, o)
	return Study{Decision: "keep", Trials: make([]TrialRow, 300)}, 70, s.fail
}

// connect serves one session in memory.
func connect(t *testing.T, st *stage, l Limits, now func() time.Time) *sdk.ClientSession {
	t.Helper()
	st.runs = t.TempDir()
	dir := filepath.Join(st.runs, "20260101T000000Z-run-1")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, archive.ManifestFile), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, archive.ManifestFile), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(st.runs, "link")); err != nil {
		t.Fatal(err)
	}
	srv, err := New(Config{
		Targets: []*Target{
			{Name: "prod"},
			{Name: "lab", Tunable: true, Goal: "max:output_throughput", Knobs: map[string][]string{"--max-num-seqs": {"16", "32"}}},
		},
		Runs: st.runs, Limits: l, Actions: st, Version: "test", Now: now,
	})
	if err != nil {
		t.Fatal(err)
	}
	a, b := sdk.NewInMemoryTransports()
	ss, err := srv.Connect(t.Context(), a, nil)
	if err != nil {
		t.Fatal(err)
	}
	cs, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), b, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cs.Close(); _ = ss.Wait() })
	return cs
}

// call returns a tool's answer, or the fault that it ended with.
func call[Out any](t *testing.T, cs *sdk.ClientSession, tool string, args any) (Out, *Fault) {
	t.Helper()
	var out Out
	res, err := cs.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	text := res.Content[0].(*sdk.TextContent).Text
	if res.IsError {
		f := &Fault{}
		if err := json.Unmarshal([]byte(text), f); err != nil {
			f = &Fault{Code: "schema", Message: text} // the SDK's own check of the arguments
		}
		return out, f
	}
	if len(text) > 48<<10 {
		t.Errorf("%s answers %d bytes", tool, len(text))
	}
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		t.Fatalf("%s: %v in %s", tool, err, text)
	}
	return out, nil
}

type args = map[string]any

func TestToolsAreListed(t *testing.T) {
	cs := connect(t, &stage{}, DefaultLimits(), nil)
	res, err := cs.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, x := range res.Tools {
		names = append(names, x.Name)
		if x.InputSchema == nil || x.OutputSchema == nil || x.Description == "" {
			t.Errorf("%s lacks a schema or a description", x.Name)
		}
	}
	slices.Sort(names)
	if want := []string{"analyze", "compare", "probe", "run", "targets", "trial", "tune"}; !slices.Equal(names, want) {
		t.Errorf("tools %v; want %v", names, want)
	}
	got, f := call[TargetsOutput](t, cs, "targets", args{})
	if f != nil || len(got.Targets) != 2 || got.Targets[0].Tunable || !got.Targets[1].Tunable || len(got.Targets[1].Knobs) != 1 {
		t.Errorf("targets = %+v, %v", got, f)
	}
	if !slices.Equal(got.Runs, []string{"20260101T000000Z-run-1"}) {
		t.Errorf("runs = %v; want the one inside the folder", got.Runs)
	}
}

func TestRunAnswersWithinBounds(t *testing.T) {
	st := &stage{sends: 40}
	cs := connect(t, st, DefaultLimits(), nil)
	got, f := call[Summary](t, cs, "run", args{"target": "prod", "concurrency": 4, "seconds": 5})
	if f != nil {
		t.Fatal(f)
	}
	if got.Run != "20260101T000000Z-run-1" || strings.Contains(got.Headline, "\x1b") || len(got.FailedGates) != 1 || got.LeftOut == "" || len(got.Findings) != maxFindings {
		t.Errorf("summary %+v", got)
	}
	if got.Left.Requests != DefaultLimits().Requests-40 {
		t.Errorf("%d requests are left; want 40 fewer than at the start", got.Left.Requests)
	}
	for _, m := range got.Metrics {
		if (m.Value == nil) != (m.Reason != "") {
			t.Errorf("metric %+v: unknown is null with a reason", m)
		}
	}
}

// TestRefusals wants every way around the operator's rules to be closed, by a typed error,
// before anything is done.
func TestRefusals(t *testing.T) {
	proposal := func(config args) args {
		return args{"config": config, "hypothesis": "h", "gain_low": 0, "gain_high": 0.1, "falsifier": "f"}
	}
	good := args{"--max-num-seqs": "32"}
	for _, row := range []struct {
		name, tool string
		args       args
		want       Code
	}{
		{"an address for a target", "run", args{"target": "http://10.0.0.1:8000", "concurrency": 1, "seconds": 5}, NotAllowed},
		{"too many users", "run", args{"target": "prod", "concurrency": 65, "seconds": 5}, OverCeiling},
		{"too high a rate", "run", args{"target": "prod", "request_rate": 21, "seconds": 5}, OverCeiling},
		{"too long", "run", args{"target": "prod", "concurrency": 1, "seconds": 301}, OverCeiling},
		{"no load", "run", args{"target": "prod", "seconds": 5}, BadInput},
		{"two loads", "run", args{"target": "prod", "concurrency": 1, "request_rate": 1, "seconds": 5}, BadInput},
		{"no time", "run", args{"target": "prod", "concurrency": 1, "seconds": 0}, BadInput},
		{"a name that is a path", "run", args{"target": "prod", "concurrency": 1, "seconds": 5, "name": "../x"}, BadInput},
		{"an argument that there is not", "run", args{"target": "prod", "concurrency": 1, "seconds": 5, "url": "http://evil"}, "schema"},
		{"a path for a run", "analyze", args{"run": "../../etc"}, NotAllowed},
		{"a link out of the folder", "analyze", args{"run": "link"}, NotAllowed},
		{"the folder itself", "analyze", args{"run": "."}, NotAllowed},
		{"no run at all", "compare", args{"base": "20260101T000000Z-run-1", "heads": []string{}}, BadInput},
		{"a run that is not there", "compare", args{"base": "20260101T000000Z-run-1", "heads": []string{"x"}}, NotAllowed},
		{"experiments on another target", "probe", args{"target": "elsewhere", "run": "20260101T000000Z-run-1"}, NotAllowed},
		{"experiments beside a run that is not there", "probe", args{"target": "prod", "run": "../x"}, NotAllowed},
		{"tuning production", "tune", args{"target": "prod"}, ReadOnly},
		{"a trial on production", "trial", args{"target": "prod", "proposals": []args{proposal(good)}}, ReadOnly},
		{"a knob that there is not", "trial", args{"target": "lab", "proposals": []args{proposal(args{"--trust-remote-code": "true"})}}, NotAllowed},
		{"a value out of range", "trial", args{"target": "lab", "proposals": []args{proposal(args{"--max-num-seqs": "4096"})}}, NotAllowed},
		{"a value that is a command", "trial", args{"target": "lab", "proposals": []args{proposal(args{"--max-num-seqs": "16; rm -rf /"})}}, NotAllowed},
		{"no proposal", "trial", args{"target": "lab", "proposals": []args{}}, BadInput},
		{"nothing committed to", "trial", args{"target": "lab", "proposals": []args{{"config": good, "hypothesis": "", "gain_low": 0, "gain_high": 1, "falsifier": "f"}}}, BadInput},
		{"an interval upside down", "trial", args{"target": "lab", "proposals": []args{{"config": good, "hypothesis": "h", "gain_low": 1, "gain_high": 0, "falsifier": "f"}}}, BadInput},
		{"a knob beside the study's", "tune", args{"target": "lab", "knobs": []string{"--model"}}, NotAllowed},
		{"more time than there is", "tune", args{"target": "lab", "seconds": 99999}, BudgetSpent},
	} {
		st := &stage{}
		cs := connect(t, st, DefaultLimits(), nil)
		_, f := call[json.RawMessage](t, cs, row.tool, row.args)
		if f == nil || f.Code != row.want {
			t.Errorf("%s: %+v; want %s", row.name, f, row.want)
		}
		if len(st.ran)+len(st.orders) > 0 {
			t.Errorf("%s: something was done all the same", row.name)
		}
	}
}

func TestStudiesGetWhatWasAskedAndNoMore(t *testing.T) {
	st := &stage{}
	cs := connect(t, st, DefaultLimits(), nil)
	got, f := call[Study](t, cs, "trial", args{"target": "lab", "seconds": 60, "proposals": []args{
		{"config": args{"--max-num-seqs": "32"}, "hypothesis": "h\nx", "gain_low": -0.1, "gain_high": 0.3, "falsifier": "f"},
	}})
	if f != nil || got.Decision != "keep" || len(got.Trials) != maxTrials || got.LeftOut == "" {
		t.Errorf("trial = %+v, %v", got, f)
	}
	o := st.orders[0]
	if len(o.Proposals) != 1 || o.Proposals[0].Config["--max-num-seqs"] != "32" || o.Proposals[0].Hypothesis != "h x" || o.Proposals[0].Predicted.High != 0.3 || o.Time != time.Minute || o.Room < o.Time {
		t.Errorf("order %+v", o)
	}
	if got.Left.Requests != DefaultLimits().Requests-70 {
		t.Errorf("left %+v; want 70 requests less", got.Left)
	}
	if _, f := call[Study](t, cs, "tune", args{"target": "lab", "knobs": []string{"--max-num-seqs"}}); f != nil || len(st.orders[1].Knobs) != 1 {
		t.Errorf("tune: %v, orders %+v", f, st.orders)
	}
	c, f := call[Comparison](t, cs, "compare", args{"base": "20260101T000000Z-run-1", "heads": []string{"20260101T000000Z-run-1"}})
	if f != nil || len(c.Heads) != 1 || len(c.Heads[0].Changes) != maxChanges {
		t.Errorf("compare = %d heads, %v; want the changes cut to %d", len(c.Heads), f, maxChanges)
	}
}

func TestProbeWithinBounds(t *testing.T) {
	st := &stage{}
	cs := connect(t, st, DefaultLimits(), nil)
	got, f := call[Probes](t, cs, "probe", args{"target": "prod", "run": "20260101T000000Z-run-1", "probes": []string{"P4"}, "seconds": 1e9})
	if f != nil || len(got.Results) != 20 || len(got.Results[0].Observed) > maxText+3 || got.Left.Requests != DefaultLimits().Requests-12 || st.limit != DefaultLimits().Duration {
		t.Errorf("probe = %d results, left %+v, limit %v, %v", len(got.Results), got.Left, st.limit, f)
	}
}

func TestBudgetsRunOut(t *testing.T) {
	at := time.Unix(0, 0)
	now := func() time.Time { at = at.Add(2 * time.Second); return at }
	st := &stage{sends: 60}
	cs := connect(t, st, Limits{Time: time.Hour, Requests: 100, Concurrency: 8, Rate: 1, Duration: time.Minute}, now)
	in := args{"target": "prod", "concurrency": 1, "seconds": 5}
	for i := range 2 {
		if _, f := call[Summary](t, cs, "run", in); f != nil {
			t.Fatalf("run %d: %v", i, f)
		}
	}
	if !slices.Equal(st.most, []int{100, 40}) {
		t.Errorf("runs were allowed %v requests; want 100 and then the 40 that were left", st.most)
	}
	if _, f := call[Summary](t, cs, "run", in); f == nil || f.Code != BudgetSpent {
		t.Errorf("after 120 of 100 requests: %v; want %s", f, BudgetSpent)
	}
	cs = connect(t, st, Limits{Time: 3 * time.Second, Requests: 1000, Concurrency: 8, Rate: 1, Duration: time.Minute}, now)
	if _, f := call[Study](t, cs, "tune", args{"target": "lab"}); f != nil {
		t.Fatal(f)
	}
	if _, f := call[Study](t, cs, "tune", args{"target": "lab"}); f == nil || f.Code != BudgetSpent {
		t.Errorf("after more than 3 s: %v; want %s", f, BudgetSpent)
	}
}

func TestOneToolAtATimeAndCancelling(t *testing.T) {
	st := &stage{block: make(chan struct{}), started: make(chan struct{})}
	cs := connect(t, st, DefaultLimits(), nil)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		_, err := cs.CallTool(ctx, &sdk.CallToolParams{Name: "run", Arguments: args{"target": "prod", "concurrency": 1, "seconds": 5}})
		done <- err
	}()
	<-st.started
	if _, f := call[Study](t, cs, "tune", args{"target": "lab"}); f == nil || f.Code != Busy {
		t.Errorf("a second tool: %v; want %s", f, Busy)
	}
	if _, f := call[TargetsOutput](t, cs, "targets", args{}); f != nil {
		t.Errorf("targets while a run goes on: %v", f)
	}
	cancel()
	if err := <-done; err == nil {
		t.Error("a cancelled call returned without an error")
	}
	for { // the handler ends a moment after its caller left
		_, f := call[Study](t, cs, "tune", args{"target": "lab"})
		if f == nil {
			break
		}
		if f.Code != Busy {
			t.Fatalf("after a cancelled run: %v", f)
		}
	}
}

func TestErrorsAreTyped(t *testing.T) {
	st := &stage{fail: &Fault{Code: Unreachable, Message: "nobody listens", Try: "start it"}}
	cs := connect(t, st, DefaultLimits(), nil)
	in := args{"target": "prod", "concurrency": 1, "seconds": 5}
	if _, f := call[Summary](t, cs, "run", in); f == nil || *f != (Fault{Unreachable, "nobody listens", "start it"}) {
		t.Errorf("run = %+v; want the fault of the action", f)
	}
	st.fail = errors.New("a\x1b[31m surprise")
	if _, f := call[Summary](t, cs, "run", in); f == nil || f.Code != Internal || strings.Contains(f.Message, "\x1b") {
		t.Errorf("run = %+v; want an internal fault in printable words", f)
	}
}

func TestNewChecksTargets(t *testing.T) {
	for _, names := range [][]string{{}, {"a b"}, {"a", "a"}, {""}} {
		var ts []*Target
		for _, n := range names {
			ts = append(ts, &Target{Name: n})
		}
		if _, err := New(Config{Targets: ts, Runs: "runs", Actions: &stage{}}); err == nil {
			t.Errorf("New accepts targets %q", names)
		}
	}
}
