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
	saturated, err = Saturated(ctx, cfg, shape)
	if err != nil {
		return 0, 0, err
	}
	lo, hi := 0.02*saturated, saturated
	for hi/lo > 1.05 {
		mid := lo + 0.5*(hi-lo)
		open := cfg
		shape.Rate = mid
		open.Source, open.Duration, open.Drain = shape.Source(), max(90*time.Second, time.Duration(200/mid*1e9)), 5*time.Second
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

// Saturated returns the sessions a second that a server completes when there is always more
// to do: twice as many users as it runs requests, at most 512 a replica, in a closed loop,
// counted over the second half of the time that each needs to come round several times.
// Requests are counted and divided by the turns of a session.
func Saturated(ctx context.Context, cfg Config, shape Shape) (float64, error) {
	cfg.Records, cfg.Sampling, cfg.Client, cfg.Proxy = true, Sampling{}, Client{}, Proxy{}
	users := min(max(2*cfg.Engine.Resolved().MaxNumSeqs, 16), 256)
	if n := cfg.Engine.MaxNumSeqs; n > 128 {
		users = min(2*n, 512)
	}
	cfg.Source, cfg.Concurrency, cfg.Duration, cfg.Drain = shape.Source(), users*max(cfg.Replicas, 1), 60*time.Second, time.Nanosecond
	for {
		res, err := Run(ctx, cfg)
		if err != nil {
			return 0, err
		}
		done, half := 0, Instant(cfg.Duration/2)
		for _, r := range res.Requests {
			if r.Error == nil && r.T.Done > half && r.T.Done <= Instant(cfg.Duration) {
				done++
			}
		}
		if done >= cfg.Concurrency || cfg.Duration >= 16*time.Minute {
			return float64(max(done, 1)) / (cfg.Duration / 2).Seconds() / shape.meanTurns(), nil
		}
		cfg.Duration *= 2
		cfg.Source = shape.Source()
	}
}

// meanTurns is the mean number of turns of a session, from a thousand of them.
func (s Shape) meanTurns() float64 {
	if s.Turns == nil {
		return 1
	}
	const n = 1000
	src, total := s.Source(), 0
	for range n {
		p, _ := src.Next()
		total += len(p.Turns)
	}
	return float64(total) / n
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
