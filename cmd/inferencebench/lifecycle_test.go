package main

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/inferencebench/inferencebench/archive"
)

// program returns a path that runs this test binary as the program itself.
func program(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "inferencebench")
	if err := os.Symlink(self, link); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	return link
}

var shortRun = []string{"run", "--no-calibration", "--concurrency", "8", "--duration", "60s", "--warmup", "0", "--isl", "64", "--osl", "16", "--interval", "100ms", "--think", "10ms"}

// awaitRecords waits until the run in out has at least n bytes of records.
func awaitRecords(t *testing.T, out string, n int64) {
	t.Helper()
	deadline := time.After(30 * time.Second)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		files, _ := filepath.Glob(filepath.Join(out, "*", archive.RequestsFile))
		if len(files) == 1 {
			if info, err := os.Stat(files[0]); err == nil && info.Size() >= n {
				return
			}
		}
		select {
		case <-deadline:
			t.Fatal("the run recorded nothing for 30 s")
		case <-tick.C:
		}
	}
}

// TestB68Interrupt stops a run as Ctrl-C does: every record is there, the run is marked,
// and the exit code says so.
func TestB68Interrupt(t *testing.T) {
	out := t.TempDir()
	ctx, cancel := context.WithCancelCause(t.Context())
	var stdout, stderr bytes.Buffer
	code := make(chan int, 1)
	go func() { code <- execute(ctx, append(shortRun, "--out", out), &stdout, &stderr) }()
	awaitRecords(t, out, 20_000)
	cancel(errors.New("stopped by interrupt"))
	if got := <-code; got != exitInterrupted {
		t.Errorf("exit code = %d; want %d\n%s", got, exitInterrupted, stderr.String())
	}
	run := onlyRun(t, out)
	if run.Manifest.State != archive.StateInterrupted || !strings.Contains(run.Manifest.Reason, "interrupt") {
		t.Errorf("state %s, reason %q", run.Manifest.State, run.Manifest.Reason)
	}
	n := int64(0)
	for _, err := range run.Requests() {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	a, err := run.Analysis()
	if err != nil {
		t.Fatal(err)
	}
	if n == 0 || n != run.Manifest.Files[archive.RequestsFile] || int64(a.Counts.Planned) != n {
		t.Errorf("%d records; the manifest says %d, the analysis %d", n, run.Manifest.Files[archive.RequestsFile], a.Counts.Planned)
	}
}

// TestKill kills the program at random moments: report opens whatever it left.
func TestKill(t *testing.T) {
	prog := program(t)
	r := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 0)) // a new moment in every run
	for i := range 5 {
		out := t.TempDir()
		cmd := exec.Command(prog, append(shortRun, "--out", out)...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		awaitRecords(t, out, int64(1+i*30_000))
		wait := time.Duration(r.IntN(300)) * time.Millisecond
		<-time.After(wait)
		_ = cmd.Process.Signal(syscall.SIGKILL)
		_ = cmd.Wait()

		run := onlyRun(t, out)
		if run.Manifest.State != archive.StateInterrupted {
			t.Errorf("kill %d: state = %s; want interrupted", i, run.Manifest.State)
		}
		code, stdout, stderr := command(t, "report", run.Dir)
		if code != exitOK || !strings.Contains(strings.ToLower(stdout), "interrupted") {
			t.Errorf("kill %d after %v: report = %d, and must say interrupted\n%s\n%s", i, wait, code, stdout, stderr)
		}
		if _, err := os.Stat(filepath.Join(run.Dir, archive.ReportFile)); err != nil {
			t.Errorf("kill %d: %v", i, err)
		}
	}
}
