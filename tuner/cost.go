package tuner

import "time"

// Spent is the time of all trials.
func Spent(history []Trial) time.Duration {
	var sum time.Duration
	for i := range history {
		sum += history[i].Took
	}
	return sum
}

// cost is what part of a study needs.
type cost struct {
	trials int
	time   time.Duration
}

// left reports whether the budget has room for more.
func (s *Study) left(history []Trial, more cost) bool {
	b, spent := s.Budget, Spent(history)+more.time
	switch {
	case b.Time > 0 && spent > b.Time:
		return false
	case b.Trials > 0 && len(history)+more.trials > b.Trials:
		return false
	case b.USD > 0 && spent.Hours()*s.USDHour > b.USD:
		return false
	}
	return true
}

// margin is added to estimates of time.
const margin = 1.1

// estimate is what n trials at a rung with some restarts will take, judged by the trials so
// far: the mean time under load of the nearest rung, doubled for each rung above it, and the
// mean start-up time.
func estimate(history []Trial, rung, n, starts int) cost {
	type mean struct {
		sum time.Duration
		n   int
	}
	var start mean
	load := map[int]mean{}
	for i := range history {
		t := &history[i]
		if t.StartUp > 0 {
			start = mean{start.sum + t.StartUp, start.n + 1}
		}
		if t.Outcome == OK {
			m := load[t.Load.Rung]
			load[t.Load.Rung] = mean{m.sum + t.Took - t.StartUp - t.Watched, m.n + 1}
		}
	}
	var each time.Duration
	for d := 0; d <= 8; d++ {
		if m := load[rung-d]; m.n > 0 {
			each = m.sum / time.Duration(m.n) << d
			break
		}
		if m := load[rung+d]; m.n > 0 {
			each = m.sum / time.Duration(m.n)
			break
		}
	}
	total := time.Duration(n) * each
	if start.n > 0 {
		total += time.Duration(starts) * (start.sum / time.Duration(start.n))
	}
	return cost{trials: n, time: time.Duration(float64(total) * margin)}
}

// proof is what accepting and certifying one challenger takes when nothing goes wrong.
func (s *Study) proof(history []Trial) cost {
	p := s.Protocol.Resolved()
	a := estimate(history, p.BlockRung, 4*p.Blocks, 2*p.Blocks+1)
	c := s.certification(history)
	a.time += looks(history)
	return a.plus(c)
}

// looks is what looking at a challenger before and both sides in the certification takes.
func looks(history []Trial) time.Duration {
	var sum time.Duration
	n := 0
	for i := range history {
		if w := history[i].Watched; w > 0 {
			sum, n = sum+w, n+1
		}
	}
	return 3 * sum / time.Duration(max(n, 1))
}

func (s *Study) certification(history []Trial) cost {
	p := s.Protocol.Resolved()
	return estimate(history, p.CertifyRung, 2*p.Orders, p.Orders+1)
}

func (c cost) plus(d cost) cost { return cost{c.trials + d.trials, c.time + d.time} }
