package proc

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// machine is a /proc of files, for tests.
type machine string

func (m machine) write(t *testing.T, path, text string) {
	t.Helper()
	p := filepath.Join(string(m), path)
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (m machine) process(t *testing.T, pid, parent, threads int) {
	t.Helper()
	// A name with a space and a parenthesis is allowed.
	m.write(t, fmt.Sprintf("%d/stat", pid), fmt.Sprintf("%d (py (x) y) S %d 1 1 0 -1 0 0 0 3 0 100 50 0 0 20 0 %d 0 99 1000 10 0\n", pid, parent, threads))
	m.write(t, fmt.Sprintf("%d/status", pid), "Name:\tpy\nvoluntary_ctxt_switches:\t7\nnonvoluntary_ctxt_switches:\t4\n")
}

func (m machine) thread(t *testing.T, pid, tid int, ran, wait time.Duration) {
	t.Helper()
	m.write(t, fmt.Sprintf("%d/task/%d/schedstat", pid, tid), fmt.Sprintf("%d %d 5\n", ran.Nanoseconds(), wait.Nanoseconds()))
}

func TestTree(t *testing.T) {
	m := machine(t.TempDir())
	m.process(t, 100, 1, 2)
	m.thread(t, 100, 100, 10*time.Second, time.Second)
	m.thread(t, 100, 101, time.Second, 0)
	m.process(t, 200, 100, 1) // a worker
	m.thread(t, 200, 200, 5*time.Second, 2*time.Second)
	m.process(t, 300, 1, 1) // somebody else
	m.thread(t, 300, 300, 99*time.Second, 0)

	s := New(string(m), 100)
	now := time.Unix(1000, 0)
	s.now = func() time.Time { return now }
	v, err := s.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]float64{
		"process_cpu_seconds_total": 16, "process_runqueue_wait_seconds_total": 3, "processes": 2, "process_threads": 3,
		"process_major_faults_total": 6, "process_involuntary_switches_total": 8, "process_rss_bytes": float64(20 * os.Getpagesize()),
	}
	for name, x := range want {
		if v[name] != x {
			t.Errorf("%s = %v; want %v", name, v[name], x)
		}
	}
	if _, ok := v["process_cpu_cores"]; ok {
		t.Error("a difference is known from the first reading")
	}

	// Two seconds later: the main thread was busy all the time, one thread ended.
	now = now.Add(2 * time.Second)
	m.thread(t, 100, 100, 12*time.Second, 1500*time.Millisecond)
	if err := os.RemoveAll(filepath.Join(string(m), "100/task/101")); err != nil {
		t.Fatal(err)
	}
	v, err = s.Read(t.Context())
	if err != nil || v["process_cpu_seconds_total"] != 18 || v["process_cpu_cores"] != 1 || v["process_busiest_thread_cores"] != 1 || v["process_runqueue_wait_seconds_total"] != 3.5 {
		t.Errorf("second reading %v, %v; want 18 s, 1 core, its busiest thread 1 core, 3.5 s waited", v, err)
	}

	if err := os.RemoveAll(filepath.Join(string(m), "100")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Read(t.Context()); !errors.Is(err, ErrGone) {
		t.Errorf("the process is gone: %v; want ErrGone", err)
	}
}

func TestThrottling(t *testing.T) {
	dir := machine(t.TempDir())
	for text, want := range map[string]float64{
		"usage_usec 5\nnr_throttled 3\nthrottled_usec 2500000\n":    2.5,
		"nr_periods 9\nnr_throttled 3\nthrottled_time 1500000000\n": 1.5,
	} {
		dir.write(t, "cpu.stat", text)
		v := map[string]float64{}
		throttling(string(dir), v)
		if v["cgroup_throttled_seconds_total"] != want || v["cgroup_throttled_periods_total"] != 3 {
			t.Errorf("throttling of %q = %v; want %v s in 3 periods", text, v, want)
		}
	}
}

func TestFind(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	pid, ok := Find(Root, "http://"+l.Addr().String())
	if !ok || pid != os.Getpid() {
		t.Errorf("Find = %d, %v; want this process, %d", pid, ok, os.Getpid())
	}
	for _, base := range []string{"http://192.0.2.1:80", "http://example.com", "http://127.0.0.1:1", "::"} {
		if pid, ok := Find(Root, base); ok {
			t.Errorf("Find(%q) = %d; want nobody", base, pid)
		}
	}
	if v, ok := Env(Root, os.Getpid(), "PATH"); !ok || !strings.Contains(v, "/") {
		t.Errorf("Env(PATH) = %q, %v", v, ok)
	}
	if _, ok := Env(Root, os.Getpid(), "NO_SUCH_VARIABLE"); ok {
		t.Error("Env finds a variable that is not set")
	}
	v, err := New(Root, os.Getpid()).Read(t.Context())
	if err != nil || v["process_threads"] < 1 || v["process_rss_bytes"] <= 0 {
		t.Errorf("this process: %v, %v", v, err)
	}
}
