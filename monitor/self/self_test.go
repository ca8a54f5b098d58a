package self

import (
	"math"
	"runtime"
	"testing"
)

func TestRead(t *testing.T) {
	s := New(nil)
	first, err := s.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []string{"cpu_cores", "gc_pause_max_seconds", "sched_latency_p99_seconds"} {
		if _, ok := first[n]; ok {
			t.Errorf("%s is known from the first reading", n)
		}
	}
	if _, ok := first["in_flight"]; ok {
		t.Error("counters are there without a function that tells them")
	}
	runtime.GC()
	done := make(chan struct{})
	go close(done)
	<-done
	second, err := s.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if second["gc_pause_seconds_total"] <= first["gc_pause_seconds_total"] || second["gc_pause_max_seconds"] <= 0 {
		t.Errorf("after a collection: %v; want a pause", second)
	}
	if runtime.GOOS == "linux" {
		for _, n := range []string{"cpu_cores", "rss_bytes", "open_fds", "goroutines"} {
			if _, ok := second[n]; !ok {
				t.Errorf("%s is not there", n)
			}
		}
	}
}

func TestQuantile(t *testing.T) {
	bounds := []float64{0, 1, 2, 3, math.Inf(1)}
	tests := []struct {
		why         string
		now, before []uint64
		q, want     float64
		ok          bool
	}{
		{"only what came since counts", []uint64{100, 10, 0, 0}, []uint64{100, 0, 0, 0}, 0.99, 2, true},
		{"the upper edge of the bucket", []uint64{99, 0, 1, 0}, []uint64{0, 0, 0, 0}, 0.99, 1, true},
		{"the last bucket has no upper edge", []uint64{0, 0, 0, 4}, []uint64{0, 0, 0, 0}, 0.5, 3, true},
		{"nothing came", []uint64{5, 5, 0, 0}, []uint64{5, 5, 0, 0}, 0.5, 0, false},
	}
	for _, tt := range tests {
		got, ok := quantile(bounds, tt.now, tt.before, tt.q)
		if got != tt.want || ok != tt.ok {
			t.Errorf("%s: quantile = %v, %v; want %v, %v", tt.why, got, ok, tt.want, tt.ok)
		}
	}
}
