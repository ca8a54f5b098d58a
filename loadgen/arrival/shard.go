package arrival

import (
	"fmt"
	"time"
)

// Shard returns the arrivals k, k+of, k+2·of, … of p, for k below of. The shards 0 … of−1
// together are p, arrival for arrival: splitting a schedule over workers changes nothing
// that the server sees. (Shards that each drew their own schedule at a share of the rate
// would turn a constant process into bursts.)
func Shard(p Process, k, of int) (Process, error) {
	if of < 1 || k < 0 || k >= of {
		return nil, fmt.Errorf("shard %d of %d does not exist", k, of)
	}
	return shard{p, uint64(k), uint64(of)}, nil
}

type shard struct {
	whole Process
	k, of uint64
}

// Next implements [Process]: it walks over the arrivals of the other shards.
func (s shard) Next(prev time.Duration, n uint64) (time.Duration, bool) {
	from := uint64(0)
	if n > 0 {
		from = s.k + (n-1)*s.of + 1
	}
	for i := from; i <= s.k+n*s.of; i++ {
		due, ok := s.whole.Next(prev, i)
		if !ok {
			return 0, false
		}
		prev = due
	}
	return prev, true
}

// Validate checks the whole process.
func (s shard) Validate() error {
	if v, ok := s.whole.(interface{ Validate() error }); ok {
		return v.Validate()
	}
	return nil
}

// String names the shard.
func (s shard) String() string { return fmt.Sprintf("%v, shard %d of %d", s.whole, s.k+1, s.of) }
