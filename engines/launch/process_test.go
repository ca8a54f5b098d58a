//go:build unix

package launch_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/inferencebench/inferencebench/engines"
	"github.com/inferencebench/inferencebench/engines/launch"
)

// TestMain lets the test binary stand in for a server: its first argument says how it acts.
func TestMain(m *testing.M) {
	if mode := os.Getenv("LAUNCH_TEST_SERVER"); mode != "" {
		serve(mode, os.Getenv("LAUNCH_TEST_ADDR"))
	}
	os.Exit(m.Run())
}

func serve(mode, addr string) {
	block := func() {
		c := make(chan os.Signal, 1)
		signal.Notify(c, syscall.SIGHUP) // nobody sends it
		<-c
	}
	switch mode {
	case "refuses":
		fmt.Fprintln(os.Stderr, "error: unrecognized arguments: --frobnicate")
		os.Exit(2)
	case "memory":
		fmt.Fprintln(os.Stderr, "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB")
		fmt.Fprintln(os.Stderr, "RuntimeError: Engine core initialization failed")
		os.Exit(1)
	case "hangs":
		fmt.Println("loading weights")
		block()
	case "child": // keeps the pipe open and outlives a careless stop
		signal.Ignore(syscall.SIGTERM)
		block()
	case "stubborn":
		signal.Ignore(syscall.SIGTERM)
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), "LAUNCH_TEST_SERVER=child")
		child.Stdout = os.Stdout
		if err := child.Start(); err != nil {
			os.Exit(3)
		}
		fmt.Printf("child %d\n", child.Process.Pid)
	}
	http.HandleFunc("/health", func(w http.ResponseWriter, _ *http.Request) {})
	http.HandleFunc("/die", func(http.ResponseWriter, *http.Request) {
		fmt.Fprintln(os.Stderr, "EngineCore encountered a fatal error")
		os.Exit(1)
	})
	http.HandleFunc("/killed", func(http.ResponseWriter, *http.Request) { _ = syscall.Kill(os.Getpid(), syscall.SIGKILL) })
	if err := http.ListenAndServe(addr, nil); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func machine() launch.Machine {
	return launch.Machine{
		Now: time.Now, HTTP: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}, Poll: 5 * time.Millisecond,
		Available: func() (uint64, error) { return 8 << 30, nil },
	}
}

// freeAddr is an address where nobody listens.
func freeAddr(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func spec(t *testing.T, mode string) launch.Spec {
	t.Helper()
	addr := freeAddr(t)
	a := adapter(t, "vllm")
	return launch.Spec{
		Argv: []string{os.Args[0]}, Env: []string{"LAUNCH_TEST_SERVER=" + mode, "LAUNCH_TEST_ADDR=" + addr},
		Base: "http://" + addr, Ready: "/health", Timeout: 60 * time.Second, Grace: 100 * time.Millisecond,
		Patterns: append(engines.CommonLogs(), a.Logs...), Log: filepath.Join(t.TempDir(), "server.log"),
	}
}

func TestStartAndStop(t *testing.T) {
	s := spec(t, "serves")
	p, err := launch.Start(t.Context(), s, machine())
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Alive(); err != nil {
		t.Errorf("a running server is said to have ended: %v", err)
	}
	if _, err := launch.Start(t.Context(), s, machine()); !errors.Is(err, launch.ErrOccupied) {
		t.Errorf("a second server at one address: %v; want ErrOccupied", err)
	}
	p.Stop()
	p.Stop()
	if p.Alive() == nil {
		t.Error("alive after Stop")
	}
	again, err := launch.Start(t.Context(), s, machine())
	if err != nil {
		t.Fatalf("the address is not free after Stop: %v", err)
	}
	again.Stop()
}

func TestFailures(t *testing.T) {
	for _, c := range []struct {
		why, mode string
		kind      launch.Kind
		says      string
	}{
		{"a refused flag is named", "refuses", launch.StartFailure, "--frobnicate"},
		{"memory is told from other refusals, though a general line follows", "memory", launch.OOM, "Tried to allocate"},
		{"a server that never gets ready is stopped", "hangs", launch.StartTimeout, "loading weights"},
	} {
		s := spec(t, c.mode)
		if c.kind == launch.StartTimeout {
			s.Timeout = 500 * time.Millisecond
		}
		_, err := launch.Start(t.Context(), s, machine())
		f, ok := errors.AsType[*launch.Failure](err)
		if !ok || f.Kind != c.kind || !strings.Contains(f.Reason, c.says) && c.kind != launch.StartTimeout {
			t.Errorf("%s: %v", c.why, err)
		}
	}
	s := spec(t, "serves")
	s.Argv = []string{"/no/such/server"}
	if f, ok := errors.AsType[*launch.Failure](start(t, s)); !ok || f.Kind != launch.StartFailure {
		t.Errorf("a command that is not there: %v", f)
	}
	s = spec(t, "serves")
	s.MinMemory = 9 << 30
	if f, ok := errors.AsType[*launch.Failure](start(t, s)); !ok || f.Kind != launch.OOM {
		t.Errorf("a machine without memory to spare: %v", f)
	}
}

func start(t *testing.T, s launch.Spec) error {
	t.Helper()
	p, err := launch.Start(t.Context(), s, machine())
	if err == nil {
		p.Stop()
		t.Error("the server started")
	}
	return err
}

// A server that dies under load says how.
func TestDeath(t *testing.T) {
	for path, want := range map[string]launch.Kind{"/die": launch.Crash, "/killed": launch.OOM} {
		s := spec(t, "serves")
		p, err := launch.Start(t.Context(), s, machine())
		if err != nil {
			t.Fatal(err)
		}
		if resp, err := http.Get(s.Base + path); err == nil {
			resp.Body.Close()
		}
		f := await(t, p)
		if f.Kind != want {
			t.Errorf("%s: %s (%s); want %s", path, f.Kind, f.Reason, want)
		}
	}
}

// await waits for a process's end.
func await(t *testing.T, p *launch.Process) *launch.Failure {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		if f, ok := errors.AsType[*launch.Failure](p.Alive()); ok {
			return f
		}
		select {
		case <-ctx.Done():
			t.Fatal("it did not end")
		case <-tick.C:
		}
	}
}

// Memory that runs out while the server runs ends the server, not the machine.
func TestGuard(t *testing.T) {
	m := machine()
	var asked int
	m.Available = func() (uint64, error) {
		if asked++; asked > 2 {
			return 1 << 20, nil
		}
		return 8 << 30, nil
	}
	s := spec(t, "serves")
	s.MinMemory = 1 << 30
	p, err := launch.Start(t.Context(), s, m)
	if err != nil {
		// The guard may win against readiness: then the start says the same.
		if f, ok := errors.AsType[*launch.Failure](err); !ok || f.Kind != launch.OOM {
			t.Fatal(err)
		}
		return
	}
	if f := await(t, p); f.Kind != launch.OOM || !strings.Contains(f.Reason, "1024 MiB") {
		t.Errorf("%+v", f)
	}
}

// Neither a server that ignores the request to stop nor its child outlives Stop.
func TestStopIsFinal(t *testing.T) {
	s := spec(t, "stubborn")
	p, err := launch.Start(t.Context(), s, machine())
	if err != nil {
		t.Fatal(err)
	}
	p.Stop()
	b, err := os.ReadFile(s.Log)
	if err != nil {
		t.Fatal(err)
	}
	var child int
	if _, err := fmt.Sscanf(string(b), "child %d", &child); err != nil {
		t.Fatalf("log %q: %v", b, err)
	}
	if stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", child)); err == nil && !strings.Contains(string(stat), ") Z") {
		t.Errorf("the child is there: %s", stat)
	}
}

// A cancelled start leaves nothing behind and is no failure of the configuration.
func TestCancelledStart(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := launch.Start(ctx, spec(t, "hangs"), machine())
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v; want context.Canceled", err)
	}
}

// What stops in its own way is asked to also where the process that started it is gone.
func TestHaltAfterTheEnd(t *testing.T) {
	s, asked := spec(t, "serves"), 0
	s.Halt = func(context.Context, time.Duration) error { asked++; return nil }
	p, err := launch.Start(t.Context(), s, machine())
	if err != nil {
		t.Fatal(err)
	}
	if resp, err := http.Get(s.Base + "/die"); err == nil {
		resp.Body.Close()
	}
	await(t, p)
	p.Stop()
	p.Stop()
	if asked != 1 {
		t.Errorf("asked to stop %d times; want once", asked)
	}
}
