package server

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// BenchmarkStreaming measures the processor time of one streamed token, in wall-clock mode
// with 32 streams. Server and client share the process, so the figure is an upper bound.
func BenchmarkStreaming(b *testing.B) {
	s, err := New(Config{})
	if err != nil {
		b.Fatal(err)
	}
	h := httptest.NewServer(s.Handler())
	defer h.Close()
	defer s.Close()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	const streams, tokens = 32, 200
	total := 0
	cpu, began := cpuTime(), time.Now()
	for b.Loop() {
		var wg sync.WaitGroup
		for range streams {
			wg.Go(func() {
				res, err := client.Post(h.URL+"/v1/chat/completions", "application/json", strings.NewReader(
					`{"messages":[{"role":"user","content":"Tell me about harbours"}],"stream":true,"max_tokens":200,"ignore_eos":true}`))
				if err != nil {
					b.Error(err)
					return
				}
				_, _ = io.Copy(io.Discard, res.Body)
				res.Body.Close()
			})
		}
		wg.Wait()
		total += streams * tokens
	}
	b.ReportMetric(float64((cpuTime()-cpu).Microseconds())/float64(total), "cpu-µs/token")
	b.ReportMetric(float64(total)/time.Since(began).Seconds(), "tokens/s")
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
