package scenario

import (
	"iter"
	"math"
	"slices"
	"time"

	"github.com/inferencebench/inferencebench/archive"
)

// Returned says whether and when a server was itself again after a flood.
type Returned struct {
	// After is the time from the end of the flood until the median time to first token
	// came back to within a quarter of what it was before, and stayed there; unknown when
	// it did not, or when it cannot be told, and then Reason says why.
	After  archive.Opt[time.Duration]
	Before time.Duration // the median before the flood
	Peak   time.Duration // the highest window's median from the flood on
	Reason string
}

// Sizes of what the measures look at.
const (
	window     = 5 * time.Second
	minWindow  = 3  // requests that a window's median needs
	minBefore  = 20 // requests that the median before needs
	tolerance  = 1.25
	minSlope   = 50 // requests that a slope needs
	slopeParts = 10 // stretches that a slope is fitted through
)

// Recovery measures a flood: requests that were due from floodEnd on are after it, those
// that were due before floodStart are before. A failed request counts as infinitely slow.
func Recovery(requests iter.Seq[*archive.Request], floodStart, floodEnd archive.Instant) Returned {
	var before []float64
	windows := map[int64][]float64{}
	for r := range requests {
		if r.Kind != archive.KindLoad || r.Status == archive.StatusCancelled || !r.T.Intended.Known() {
			continue
		}
		ttft := math.Inf(1)
		if r.Status == archive.StatusOK && r.T.First.Known() {
			ttft = r.T.First.Sub(r.T.Intended).Seconds()
		}
		switch {
		case r.T.Intended < floodStart:
			before = append(before, ttft)
		default:
			k := int64(r.T.Intended.Sub(floodEnd)) / int64(window)
			if r.T.Intended < floodEnd {
				k = -1
			}
			windows[k] = append(windows[k], ttft)
		}
	}
	if len(before) < minBefore {
		return Returned{Reason: "too few requests before the flood to say what is usual"}
	}
	usual := median(before)
	out := Returned{Before: seconds(usual)}
	var keys []int64
	for k, x := range windows {
		if len(x) < minWindow && k >= 0 {
			continue
		}
		out.Peak = max(out.Peak, seconds(median(x)))
		if k >= 0 {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	if len(keys) == 0 {
		out.Reason = "too few requests after the flood"
		return out
	}
	back := -1
	for i := len(keys) - 1; i >= 0 && median(windows[keys[i]]) <= tolerance*usual; i-- {
		back = i
	}
	if back < 0 {
		out.Reason = "the time to first token had not come back when the run ended"
		return out
	}
	out.After = archive.Some(time.Duration(keys[back]) * window)
	return out
}

func median(x []float64) float64 {
	s := slices.Clone(x)
	slices.Sort(s)
	return s[len(s)/2]
}

func seconds(s float64) time.Duration {
	if math.IsInf(s, 1) {
		return math.MaxInt64
	}
	return time.Duration(s * float64(time.Second))
}

// Slope is how a figure moves over a run, by least squares through ten equal stretches.
type Slope struct {
	PerHour float64 // change of the figure in an hour
	Low     float64 // 95 % confidence interval of PerHour
	High    float64
	Mean    float64
}

// Rising reports whether the whole interval is above 0.
func (s Slope) Rising() bool { return s.Low > 0 }

// Slopes measures a long run: the median time to first token in seconds ("ttft"), the
// median time between tokens in seconds ("tpot") and the share of failed requests
// ("errors"). A figure that too few requests have is absent.
func Slopes(requests iter.Seq[*archive.Request]) map[string]Slope {
	type point struct{ at, y float64 }
	series := map[string][]point{}
	for r := range requests {
		if r.Kind != archive.KindLoad || r.Status == archive.StatusCancelled || !r.T.Intended.Known() {
			continue
		}
		at := time.Duration(r.T.Intended).Hours()
		failed := 1.0
		if r.Status == archive.StatusOK {
			failed = 0
			if r.T.First.Known() {
				series["ttft"] = append(series["ttft"], point{at, r.T.First.Sub(r.T.Intended).Seconds()})
			}
			if n := r.Usage.Completion.Or(0); n > 1 && r.T.Last > r.T.First && r.T.First.Known() {
				series["tpot"] = append(series["tpot"], point{at, r.T.Last.Sub(r.T.First).Seconds() / float64(n-1)})
			}
		}
		series["errors"] = append(series["errors"], point{at, failed})
	}
	out := map[string]Slope{}
	for name, ps := range series {
		if len(ps) < minSlope {
			continue
		}
		slices.SortFunc(ps, func(a, b point) int {
			switch {
			case a.at < b.at:
				return -1
			case a.at > b.at:
				return 1
			}
			return 0
		})
		var xs, ys []float64
		for k := range slopeParts {
			part := ps[k*len(ps)/slopeParts : (k+1)*len(ps)/slopeParts]
			var values []float64
			var x, mean float64
			for _, p := range part {
				values = append(values, p.y)
				x += p.at / float64(len(part))
				mean += p.y / float64(len(part))
			}
			if name != "errors" {
				mean = median(values)
			}
			xs, ys = append(xs, x), append(ys, mean)
		}
		if s, ok := line(xs, ys); ok {
			out[name] = s
		}
	}
	return out
}

// t95 is the two-sided 95 % point of Student's distribution with slopeParts − 2 degrees.
const t95 = 2.306

func line(x, y []float64) (Slope, bool) {
	n := float64(len(x))
	var mx, my float64
	for i := range x {
		mx, my = mx+x[i]/n, my+y[i]/n
	}
	var sxx, sxy float64
	for i := range x {
		sxx += (x[i] - mx) * (x[i] - mx)
		sxy += (x[i] - mx) * (y[i] - my)
	}
	if sxx <= 0 {
		return Slope{}, false
	}
	b := sxy / sxx
	var rss float64
	for i := range x {
		e := y[i] - my - b*(x[i]-mx)
		rss += e * e
	}
	half := t95 * math.Sqrt(rss/(n-2)/sxx)
	return Slope{PerHour: b, Low: b - half, High: b + half, Mean: my}, true
}
