//go:build unix

package analyst

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/inferencebench/inferencebench/archive"
)

// writeMany writes a run directory of n requests: open loop at 1,000 a second, 32 chunks
// each, two phases and a line of telemetry a second.
func writeMany(t testing.TB, dir string, n int) {
	t.Helper()
	w, err := archive.Create(dir, archive.Manifest{ID: "many", Server: archive.Server{Engine: "vllm", Model: "llama-3.1-8b"}, GPUs: []archive.GPU{{Name: "NVIDIA H100 80GB HBM3"}}, Host: archive.Host{Cores: 16}})
	if err != nil {
		t.Fatal(err)
	}
	end := archive.Instant(1e9 + int64(n)*1e6)
	half := archive.Instant(1e9 + int64(n)*5e5)
	for _, e := range []archive.Event{
		{T: 1e9, Kind: archive.EventPhaseStart, Fields: map[string]any{"phase": "one", "rate": 1000.0}}, {T: half, Kind: archive.EventPhaseEnd, Fields: map[string]any{"phase": "one"}},
		{T: half, Kind: archive.EventPhaseStart, Fields: map[string]any{"phase": "two", "rate": 1000.0}}, {T: end, Kind: archive.EventPhaseEnd, Fields: map[string]any{"phase": "two"}},
	} {
		e.Severity = archive.SeverityInfo
		w.Event(e)
	}
	for s := int64(1); s < int64(end)/1e9; s++ {
		w.Sample(archive.Sample{T: archive.Instant(s * 1e9), Source: archive.SourceEngine, Values: map[string]float64{"requests_running": 40 + float64(s%5), "requests_waiting": float64(s % 2), "kv_cache_usage": 0.3, "generation_tokens_total": float64(s) * 32000, "iteration_tokens_count": float64(s) * 100}})
	}
	if err := w.Close(archive.Manifest{ID: "many", State: archive.StateComplete, Server: archive.Server{Engine: "vllm", Model: "llama-3.1-8b"}, GPUs: []archive.GPU{{Name: "NVIDIA H100 80GB HBM3"}}, Host: archive.Host{Cores: 16}}); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(filepath.Join(dir, archive.RequestsFile))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	bw := bufio.NewWriterSize(f, 1<<20)
	seed := uint64(88172645463325252)
	random := func(n int64) int64 { // xorshift
		seed ^= seed << 13
		seed ^= seed >> 7
		seed ^= seed << 17
		return int64(seed % uint64(n))
	}
	var b []byte
	for i := range n {
		at := 1e9 + int64(i)*1e6
		phase := "one"
		if i >= n/2 {
			phase = "two"
		}
		first := at + 2e7 + random(6e7)
		b = fmt.Appendf(b[:0], `{"id":"r%d","session":"s%d","turn":%d,"phase":"%s","task":"chat","kind":"load","status":"ok","error":null,"t":{"int":%d,"send":%d,"headers":%d,"first":%d,"answer":%d,`, i, i/2, i%2, phase, at, at+random(4e5), at+1e7, first, first)
		chunks, last := []byte(`"chunks":{"t":[`), first
		for k := range 32 {
			if k > 0 {
				chunks = append(chunks, ',')
				last += 8e6 + random(6e6)
			}
			chunks = strconv.AppendInt(chunks, last, 10)
		}
		b = fmt.Appendf(b, `"last":%d,"done":%d},%s],"tokens":null},"usage":{"prompt":512,"completion":33,"reasoning":null,"cached":256,"source":"server"},"asked":{"prompt_tokens":500,"max_tokens":64,"shared_prefix":256},"conn":{"reused":true,"protocol":"HTTP/1.1","dial_ns":null,"tls_ns":null,"wait_ns":0,"stamp":"user","lag_ns":null},"in_flight":40,"finish":"stop","text":"A reply of some words that says little.","text_sha256":"","body_sha256":""}`+"\n", last, last+1e5, chunks)
		if _, err := bw.Write(b); err != nil {
			t.Fatal(err)
		}
	}
	if err := bw.Flush(); err != nil {
		t.Fatal(err)
	}
}

// A million requests are analysed in one pass in bounded time and memory. Ordinary test
// runs use a hundredth of them; INFERENCEBENCH_REQUESTS sets the number.
func TestManyRequests(t *testing.T) {
	n := 10_000
	if s := os.Getenv("INFERENCEBENCH_REQUESTS"); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil {
			t.Fatal(err)
		}
	}
	dir := filepath.Join(t.TempDir(), "run")
	writeMany(t, dir, n)
	run, err := archive.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	var most uint64
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			most = max(most, m.Sys-m.HeapReleased)
			select {
			case <-stop:
				return
			case <-tick.C:
			}
		}
	}()
	start, cpu := time.Now(), cpuTime(t)
	a, err := Analyze(run, Options{SLO: []string{"ttft<500ms && tpot<40ms && attainment>=99%", "ttft_p99<1s"}})
	took, used := time.Since(start), cpuTime(t)-cpu
	close(stop)
	<-done
	if err != nil {
		t.Fatal(err)
	}
	if a.Counts.OK != n {
		t.Errorf("%d requests are counted; want %d", a.Counts.OK, n)
	}
	t.Logf("%d requests: %.1f s, %.1f s of CPU, %.0f MiB, verdict %s", n, took.Seconds(), used.Seconds(), float64(most)/(1<<20), a.Verdict.State)
	// CPU time does not depend on what else the machine does: 20 s on two cores are 40 s.
	if limit := max(20*time.Second, time.Duration(n)*40*time.Microsecond); used > limit {
		t.Errorf("%d requests took %v of CPU; want at most %v", n, used, limit)
	}
	if most > 600<<20 {
		t.Errorf("%d requests took %d MiB; want at most 600", n, most>>20)
	}
}

// cpuTime returns the processor time that this process has used.
func cpuTime(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
