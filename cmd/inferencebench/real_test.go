package main

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/inferencebench/inferencebench/archive"
)

// realServer starts a real llama.cpp server on a free loopback port and returns its URL.
// It needs the Python environment that `make test-real` makes.
func realServer(t *testing.T) string {
	t.Helper()
	python := os.Getenv("INFERENCEBENCH_REAL_PYTHON")
	if python == "" {
		t.Skip("needs a real engine: run `make test-real`, which sets one up")
	}
	cmd := exec.Command(python, filepath.Join("..", "..", "scripts", "llamacpp-server.py"), "--port", "0", "--parallel", "4", "--threads", "1")
	var logs bytes.Buffer
	cmd.Stderr = &logs
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM) // its own process id, nothing else
		if err := cmd.Wait(); err != nil && t.Failed() {
			t.Logf("server ended: %v\n%s", err, tail(logs.Bytes(), 4000))
		}
	})
	ready := make(chan string, 1)
	go func() {
		for sc := bufio.NewScanner(out); sc.Scan(); {
			if u, ok := strings.CutPrefix(sc.Text(), "ready "); ok {
				ready <- u
			}
		}
		close(ready)
	}()
	select {
	case u := <-ready:
		if u == "" {
			t.Fatalf("the server ended before it was ready:\n%s", tail(logs.Bytes(), 4000))
		}
		return u
	case <-time.After(3 * time.Minute):
		t.Fatal("the server was not ready within three minutes")
		return ""
	}
}

func tail(b []byte, n int) []byte { return b[max(0, len(b)-n):] }

// TestRealEngine runs a multi-turn campaign with checkpoints against a real engine and
// checks that the run directory tells the truth about it.
func TestRealEngine(t *testing.T) {
	url := realServer(t)
	out := t.TempDir()
	var stdout, stderr bytes.Buffer
	code := execute(t.Context(), []string{
		"run", "--url", url, "--out", out, "--name", "real",
		"--concurrency", "3", "--requests", "30", "--warmup", "3", "--drain", "5m",
		"--isl", "uniform(40,120)", "--osl", "32", "--turns", "uniform(2,3)", "--think", "50ms",
		"--checkpoint-every", "4", "--interval", "500ms", "--seed", "7",
	}, &stdout, &stderr)
	t.Logf("exit %d\n%s\n%s", code, stderr.String(), stdout.String())
	if code != exitOK {
		t.Errorf("exit code = %d; want %d", code, exitOK)
	}
	run := onlyRun(t, out)
	if run.Manifest.State != archive.StateComplete || run.Manifest.Server.Engine != "llama_cpp" {
		t.Errorf("manifest: state %s, engine %q; want complete, llama_cpp", run.Manifest.State, run.Manifest.Server.Engine)
	}
	a, err := run.Analysis()
	if err != nil {
		t.Fatal(err)
	}

	lines := map[archive.Kind]int{}
	var later, ok, tokens int
	for r, err := range run.Requests() {
		if err != nil {
			t.Fatal(err)
		}
		lines[r.Kind]++
		if r.Status != archive.StatusOK {
			t.Errorf("%s: %s %+v, conn %+v, %d chunks, sent %v after the plan, over %v later", r.ID, r.Status, r.Error, r.Conn, len(r.Chunks.T), r.T.Send.Sub(r.T.Intended), r.T.Done.Sub(r.T.Send))
			continue
		}
		ok++
		tokens += r.Usage.Completion.Or(0)
		checkHonest(t, r)
		if r.Turn > 0 {
			later++
		}
	}
	if got := a.Counts.OK + a.Counts.Failed + a.Counts.Cancelled; got != a.Counts.Planned {
		t.Errorf("counts %+v do not add up", a.Counts)
	}
	if lines[archive.KindLoad]+lines[archive.KindCheckpoint] != 30 || lines[archive.KindWarmup] < 3 {
		t.Errorf("records by kind = %v; want 30 measured and at least 3 of warm-up", lines)
	}
	if later == 0 {
		t.Error("no second turn was sent")
	}
	checkEngineSeries(t, run, tokens)
	checkScores(t, run)
	if info, err := os.Stat(filepath.Join(run.Dir, archive.ReportFile)); err != nil || info.Size() < 20_000 {
		t.Errorf("report: %v, %v", info, err)
	}
}

// checkHonest checks one finished request of a server that counts its tokens.
func checkHonest(t *testing.T, r *archive.Request) {
	t.Helper()
	if r.Usage.Source != archive.UsageServer {
		t.Errorf("%s: usage source = %q; want server", r.ID, r.Usage.Source)
	}
	n := r.Usage.Completion.Or(0)
	if n < 1 || r.Usage.Prompt.Or(0) < 1 {
		t.Errorf("%s: usage = %+v", r.ID, r.Usage)
	}
	if len(r.Chunks.T) == 0 || len(r.Chunks.T) > n {
		t.Errorf("%s: %d chunks carry %d tokens", r.ID, len(r.Chunks.T), n)
	}
	x := r.T
	for i, pair := range [][2]archive.Instant{{x.Intended, x.Send}, {x.Send, x.Headers}, {x.Headers, x.First}, {x.First, x.Last}, {x.Last, x.Done}} {
		if !pair[0].Known() || pair[1] < pair[0] {
			t.Errorf("%s: instants out of order at step %d: %+v", r.ID, i, x)
			return
		}
	}
	if n > 1 && x.First.Sub(x.Intended) >= x.Last.Sub(x.Intended) {
		t.Errorf("%s: TTFT is not below E2E: %+v", r.ID, x)
	}
}

// checkEngineSeries checks that the engine's own counters were seen to move, and that its
// count of generated tokens is ours.
func checkEngineSeries(t *testing.T, run *archive.Run, tokens int) {
	t.Helper()
	first, last := map[string]float64{}, map[string]float64{}
	for s, err := range run.Samples() {
		if err != nil {
			t.Fatal(err)
		}
		if s.Source != archive.SourceEngine {
			continue
		}
		for k, v := range s.Values {
			if _, seen := first[k]; !seen {
				first[k] = v
			}
			last[k] = v
		}
	}
	for _, name := range []string{"prompt_tokens_total", "generation_tokens_total"} {
		if last[name] <= first[name] {
			t.Errorf("engine signal %s went from %g to %g; want a rise", name, first[name], last[name])
		}
	}
	if got := last["generation_tokens_total"] - first["generation_tokens_total"]; got != float64(tokens) {
		t.Errorf("the engine generated %g tokens while the run's records count %d", got, tokens)
	}
	if _, seen := last["requests_running"]; !seen {
		t.Errorf("engine signal requests_running is missing; have %v", last)
	}
}

// checkScores checks that answers were scored, and honestly: a model of 135M parameters
// is bad at maths, so the scores are not asked to be high.
func checkScores(t *testing.T, run *archive.Run) {
	t.Helper()
	n := 0
	for c, err := range run.Checkpoints() {
		if err != nil {
			t.Fatal(err)
		}
		n++
		score, scored := c.Score.Get()
		got, found := c.Extracted.Get()
		switch {
		case !scored && c.Reason == "":
			t.Errorf("%s: no score and no reason", c.Item)
		case scored && score == 1 && !found:
			t.Errorf("%s: right without an answer", c.Item)
		case scored && found && !strings.Contains(strings.ReplaceAll(c.Reply, ",", ""), strings.TrimPrefix(got, "-")):
			t.Errorf("%s: extracted %q is not in the reply %q", c.Item, got, c.Reply)
		}
		if c.Expected == "" || c.Prompt == "" || c.Reply == "" {
			t.Errorf("checkpoint is incomplete: %+v", c)
		}
	}
	if n == 0 {
		t.Error("no checkpoint was scored")
	}
}

// onlyRun opens the one run directory in out.
func onlyRun(t *testing.T, out string) *archive.Run {
	t.Helper()
	dirs, err := filepath.Glob(filepath.Join(out, "*"))
	if err != nil || len(dirs) != 1 {
		t.Fatalf("run directories in %s = %v, %v; want one", out, dirs, err)
	}
	run, err := archive.Open(dirs[0])
	if err != nil {
		t.Fatal(err)
	}
	return run
}
