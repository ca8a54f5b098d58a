package launch

import (
	"context"
	"time"
)

// settled is how much more than before the GPUs may hold, in bytes each, when a server's memory
// counts as released: a driver keeps some after the first use.
const settled = 512 << 20

// Settle waits until no GPU holds more memory than it did before, but for half a gibibyte, for
// at most limit. A driver releases the memory of a process some time after its end, and a
// server that starts before that finds too little. It returns how many bytes are still held
// above that, on all GPUs together; 0 also where the memory cannot be read.
func Settle(ctx context.Context, m Machine, before []uint64, limit time.Duration) (held uint64) {
	if m.GPU == nil || len(before) == 0 {
		return 0
	}
	from := m.Now()
	tick := time.NewTicker(m.Poll)
	defer tick.Stop()
	for {
		now, err := m.GPU()
		if err != nil || len(now) != len(before) {
			return 0
		}
		held = 0
		for i, v := range now {
			if v > before[i]+settled {
				held += v - before[i]
			}
		}
		if held == 0 || m.Now().Sub(from) >= limit {
			return held
		}
		select {
		case <-ctx.Done():
			return held
		case <-tick.C:
		}
	}
}

// The rate at which weights are sure to be loaded, in bytes a second, what a start takes beside
// that, and the longest time that is waited for any server.
const (
	slowLoad   = 150e6
	startRest  = 8 * time.Minute
	maxTimeout = 2 * time.Hour
)

// TimeoutFor is how long a server may take to be ready whose weights have so many bytes: what
// a slow disk needs for them, and eight minutes for imports, compilation and graph capture.
// Where the size is not known, bytes of 0, it is DefaultTimeout.
func TimeoutFor(bytes float64) time.Duration {
	if !(bytes > 0) {
		return DefaultTimeout
	}
	return min(startRest+time.Duration(bytes/slowLoad)*time.Second, maxTimeout).Round(time.Second)
}
