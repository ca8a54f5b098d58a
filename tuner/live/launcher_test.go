package live_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/inferencebench/inferencebench/engines"
	"github.com/inferencebench/inferencebench/engines/launch"
	"github.com/inferencebench/inferencebench/tuner"
	"github.com/inferencebench/inferencebench/tuner/live"
	"github.com/inferencebench/inferencebench/tuner/space"
)

func elsewhere(t *testing.T) (*engines.Adapter, launch.Machine, string) {
	t.Helper()
	a, ok := engines.Lookup("vllm")
	if !ok {
		t.Fatal("no adapter of vLLM")
	}
	srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(srv.Close)
	return a, launch.Machine{Now: time.Now, HTTP: srv.Client(), Poll: time.Millisecond, Available: func() (uint64, error) { return 1 << 40, nil }}, srv.URL
}

// A user who is asked starts what is printed, or says why it does not start.
func TestAsk(t *testing.T) {
	a, m, url := elsewhere(t)
	var out bytes.Buffer
	ask := &live.Ask{
		Argv: []string{"vllm", "serve", "my model"}, URL: url, Adapter: a, Machine: m, Timeout: time.Minute,
		Out: &out, In: bufio.NewReader(strings.NewReader("\nfail CUDA out of memory\n")),
	}
	if _, _, err := ask.Start(t.Context(), space.Assignment{"--max-num-seqs": "64"}); err != nil {
		t.Fatal(err)
	}
	if want := "vllm serve 'my model' --max-num-seqs 64"; !strings.Contains(out.String(), want) {
		t.Errorf("printed %q; want %q in it", out.String(), want)
	}
	_, _, err := ask.Start(t.Context(), nil)
	if f, ok := errors.AsType[*live.Failure](err); !ok || f.Outcome != tuner.OOM {
		t.Errorf("a failure that the user reports: %v", err)
	}
	if _, _, err := ask.Start(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "nobody answers") {
		t.Errorf("an input at its end: %v", err)
	}
	if err := ask.Alive(); err != nil {
		t.Error(err)
	}
}

// A workload is changed for a trial and put back after the study.
func TestPods(t *testing.T) {
	a, m, url := elsewhere(t)
	var asked []string
	w := &launch.Workload{Name: "deployment/vllm", Run: func(_ context.Context, argv []string, stdin []byte) ([]byte, error) {
		asked = append(asked, strings.Join(argv, " ")+string(stdin))
		return []byte(`{"spec":{"template":{"spec":{"containers":[{"name":"c","args":["--model","m","--max-num-seqs","8"]}]}}}}`), nil
	}}
	pods := &live.Pods{Workload: w, Argv: []string{"--model", "m", "--max-num-seqs", "8"}, URL: url, Adapter: a, Machine: m, Timeout: time.Minute}
	if _, _, err := pods.Start(t.Context(), space.Assignment{"--max-num-seqs": "64"}); err != nil {
		t.Fatal(err)
	}
	if err := pods.Restore(t.Context()); err != nil {
		t.Fatal(err)
	}
	all := strings.Join(asked, "\n")
	for _, want := range []string{`"args":["--model","m","--max-num-seqs","64"]`, `"args":["--model","m","--max-num-seqs","8"]`, "rollout status deployment/vllm"} {
		if !strings.Contains(all, want) {
			t.Errorf("asked %s; want %s in it", all, want)
		}
	}
}

// What the launcher lacks is said with the field.
func TestLauncherIsChecked(t *testing.T) {
	for kind, want := range map[string]string{"ssh": "launcher.ssh", "kubernetes": "launcher.workload", "magic": "launcher.kind"} {
		f := live.Default()
		f.Command, f.Target.URL, f.Launcher.Kind = []string{"vllm", "serve", "m"}, "http://127.0.0.1:1", kind
		if err := f.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %s", kind, err, want)
		}
	}
}
