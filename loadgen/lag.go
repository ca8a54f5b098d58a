package loadgen

import (
	"math"
	"sync"
	"time"

	"github.com/inferencebench/inferencebench/archive"
)

// busyClient is the P99, over the requests, of the longest time that bytes waited to be
// read, from which the run says that the client was busy.
const busyClient = time.Millisecond

// lags is a histogram of the longest read lag of each request, with ten buckets to the
// e-fold. It is safe for concurrent use.
type lags struct {
	mu      sync.Mutex
	buckets [300]int
	n       int
}

const perEfold = 10

// add counts a request, when its lag is known.
func (l *lags) add(lag archive.Opt[int64]) {
	ns, known := lag.Get()
	if !known {
		return
	}
	i := min(int(perEfold*math.Log(float64(max(ns, 1)))), len(l.buckets)-1)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.buckets[i]++
	l.n++
}

// quantile returns a lag within 10 % of the truth; false when no lag is known.
func (l *lags) quantile(q float64) (time.Duration, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	left := int(math.Ceil(q * float64(l.n)))
	for i, n := range l.buckets {
		if left -= n; left <= 0 && n > 0 {
			return time.Duration(math.Exp((float64(i) + 0.5) / perEfold)), true
		}
	}
	return 0, false
}

// reportLag emits how late this program read what the kernel had, and warns when it was
// too busy.
func (p *phase) reportLag(now archive.Instant) {
	median, known := p.lags.quantile(0.5)
	if !known {
		return
	}
	high, _ := p.lags.quantile(0.99)
	severity, format := archive.SeverityInfo, "the longest wait of arrived bytes for this program was %v in the median request, %v at P99"
	if high > busyClient {
		severity = archive.SeverityWarning
		format = "the client was busy: arrived bytes waited for this program for up to %v in the median request and %v at P99; arrivals are stamped by the kernel and not affected, but what follows a reply is as late"
	}
	p.emit(now, EventClientLag, severity, map[string]any{"p50_ns": int64(median), "p99_ns": int64(high)}, format, median, high)
}
