package offline

import (
	"context"
	"time"
)

// Objective is what a load must meet to count as sustained: the shares of requests within
// the time to first token and the mean time a token.
type Objective struct {
	TTFT, TPOT time.Duration
	Share      float64
}

// Capacity returns two rates of a workload on a server, in sessions a second: the largest
// at which the objective holds, and the largest that the server completes at all. It
// bisects over short runs and is good to about five per cent.
func Capacity(ctx context.Context, cfg Config, shape Shape, obj Objective) (sustained, saturated float64, err error) {
	cfg.Records, cfg.Sampling, cfg.Client, cfg.Proxy = true, Sampling{}, Client{}, Proxy{}
	cfg.Concurrency = 0
	// Saturation: many users in a closed loop, completions a second of the second half.
	closed := cfg
	closed.Source, closed.Concurrency, closed.Duration, closed.Drain = shape.Source(), 256*max(cfg.Replicas, 1), 60*time.Second, time.Nanosecond
	res, err := Run(ctx, closed)
	if err != nil {
		return 0, 0, err
	}
	done := 0
	for _, r := range res.Requests {
		if r.T.Last.Known() && r.T.Done > Instant(closed.Duration/2) && r.T.Done <= Instant(closed.Duration) && r.Error == nil && r.Turn == 0 {
			done++
		}
	}
	saturated = float64(done) / (closed.Duration / 2).Seconds()
	if saturated <= 0 {
		saturated = float64(max(res.OK, 1)) / closed.Duration.Seconds()
	}
	lo, hi := 0.02*saturated, saturated
	for hi/lo > 1.05 {
		mid := lo + 0.5*(hi-lo)
		open := cfg
		shape.Rate = mid
		open.Source, open.Duration, open.Drain = shape.Source(), 90*time.Second, 5*time.Second
		res, err := Run(ctx, open)
		if err != nil {
			return 0, 0, err
		}
		if obj.met(res) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo, saturated, nil
}

func (o Objective) met(res *Result) bool {
	good := 0
	for _, r := range res.Requests {
		n := r.Usage.Completion.Or(0)
		if r.Error != nil || n == 0 || r.T.First.Sub(r.T.Intended) > o.TTFT {
			continue
		}
		if n > 1 && r.T.Last.Sub(r.T.First) > o.TPOT*time.Duration(n-1) {
			continue
		}
		good++
	}
	return res.Planned > 0 && float64(good) >= o.Share*float64(res.Planned)
}
