// Package self reads this process: what the load generator costs and whether it was
// disturbed. A client that is short of processor time, or that pauses, measures itself.
package self

import (
	"context"
	"math"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"github.com/inferencebench/inferencebench/archive"
)

// Counters are the load generator's own numbers at one moment.
type Counters struct {
	InFlight     int64 // requests sent and not over
	OK           int64
	Failed       int64
	OutputTokens int64 // of finished requests
}

// The runtime's names.
const (
	schedLatency = "/sched/latencies:seconds"
	goroutines   = "/sched/goroutines:goroutines"
)

// Source reads this process. It is used by one goroutine at a time.
type Source struct {
	counters func() Counters

	samples []metrics.Sample
	sched   []uint64 // counts of the latency histogram at the reading before
	gc      debug.GCStats
	gcs     int64
	cpu     time.Duration
	at      time.Time
}

// New reads this process; counters may be nil.
func New(counters func() Counters) *Source {
	return &Source{counters: counters, samples: []metrics.Sample{{Name: schedLatency}, {Name: goroutines}}}
}

// Kind is archive.SourceClient.
func (s *Source) Kind() string { return archive.SourceClient }

// Target is "": there is one.
func (s *Source) Target() string { return "" }

// Read takes one reading. Values that are differences are absent from the first.
func (s *Source) Read(context.Context) (map[string]float64, error) {
	v := make(map[string]float64, 16)
	s.runtime(v)
	s.process(v)
	if s.counters != nil {
		c := s.counters()
		v["in_flight"] = float64(c.InFlight)
		v["requests_ok_total"] = float64(c.OK)
		v["requests_failed_total"] = float64(c.Failed)
		v["output_tokens_total"] = float64(c.OutputTokens)
	}
	return v, nil
}

func (s *Source) runtime(v map[string]float64) {
	metrics.Read(s.samples)
	if s.samples[1].Value.Kind() == metrics.KindUint64 {
		v["goroutines"] = float64(s.samples[1].Value.Uint64())
	}
	if s.samples[0].Value.Kind() == metrics.KindFloat64Histogram {
		h := s.samples[0].Value.Float64Histogram()
		if len(s.sched) == len(h.Counts) {
			if p, ok := quantile(h.Buckets, h.Counts, s.sched, 0.99); ok {
				v["sched_latency_p99_seconds"] = p
			}
		}
		s.sched = append(s.sched[:0], h.Counts...)
	}
	debug.ReadGCStats(&s.gc)
	v["gc_pause_seconds_total"] = s.gc.PauseTotal.Seconds()
	if !s.at.IsZero() {
		longest := time.Duration(0)
		for i := range min(s.gc.NumGC-s.gcs, int64(len(s.gc.Pause))) {
			longest = max(longest, s.gc.Pause[i]) // most recent first
		}
		v["gc_pause_max_seconds"] = longest.Seconds()
	}
	s.gcs = s.gc.NumGC
}

func (s *Source) process(v map[string]float64) {
	now := time.Now()
	if cpu, ok := cpuTime(); ok {
		if wall := now.Sub(s.at); !s.at.IsZero() && wall > 0 {
			v["cpu_cores"] = max(0, (cpu-s.cpu).Seconds()/wall.Seconds())
		}
		s.cpu = cpu
	}
	s.at = now
	if rss, ok := residentBytes(); ok {
		v["rss_bytes"] = rss
	}
	if n, ok := openFiles(); ok {
		v["open_fds"] = n
	}
}

// quantile is the upper edge of the bucket that holds the q-quantile of what was counted
// between two readings; unknown when nothing was.
func quantile(bounds []float64, now, before []uint64, q float64) (float64, bool) {
	total := uint64(0)
	for i := range now {
		total += now[i] - before[i]
	}
	if total == 0 {
		return 0, false
	}
	rank := uint64(math.Ceil(q * float64(total)))
	seen := uint64(0)
	for i := range now {
		seen += now[i] - before[i]
		if seen >= rank {
			if hi := bounds[i+1]; !math.IsInf(hi, 0) {
				return hi, true
			}
			return bounds[i], true
		}
	}
	return 0, false
}

// openFiles counts the file descriptors of this process, where the system lists them.
func openFiles() (float64, bool) {
	d, err := os.Open("/proc/self/fd")
	if err != nil {
		return 0, false
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	if err != nil {
		return 0, false
	}
	return float64(len(names) - 1), true // without the one that lists them
}
