package compare

import (
	"fmt"
	"math"
	"slices"

	"github.com/inferencebench/inferencebench/analyst/stats"
)

// MinNoiseRuns is the least runs of a history that tell its noise.
const MinNoiseRuns = 6

// Floor returns the standard deviation of ln(head/base) between two runs that differ in
// nothing, from the values of one statistic in the order of the runs. It comes from the
// median of the steps between neighbours, so that a lasting change in the middle of the
// history does not count as noise. ok is false with fewer than MinNoiseRuns positive values.
func Floor(values []float64) (sd float64, ok bool) {
	var steps []float64
	for i := 1; i < len(values); i++ {
		if values[i] > 0 && values[i-1] > 0 {
			steps = append(steps, math.Abs(math.Log(values[i]/values[i-1])))
		}
	}
	if len(steps) < MinNoiseRuns-1 {
		return 0, false
	}
	slices.Sort(steps)
	return 1.4826 * stats.Quantile(steps, 0.5), true
}

const (
	// segment is the least number of runs on either side of a change.
	segment = 3
	// limit is how many standard errors the means of both sides must lie apart. It allows for
	// the search over all places of the change and for a noise that comes from few runs.
	limit = 5.0
	// minFloor keeps a history without any noise from raising an alarm at a rounding error.
	minFloor = 0.002
)

// Trend is what the history of one statistic shows.
type Trend struct {
	Runs      int
	Reference float64 // median of the runs since the last change, in the statistic's unit
	Floor     float64 // noise between two runs that differ in nothing, as ln(head/base)
	// Drifted says that the values changed for good; From is the index of the first run
	// behind the change, and Change is by how much the runs from there on differ.
	Drifted bool
	From    int
	Change  float64
	// Reason says why nothing can be told; "" when it can.
	Reason string
}

// TrendOf looks for a lasting change in the values of one statistic, in the order of the
// runs: the place that parts ln(value) into two sides whose means lie furthest apart, by the
// noise within the sides (the cumulative sum test with unknown mean and variance). Values
// that are not positive tell nothing.
func TrendOf(values []float64) Trend {
	t := Trend{Runs: len(values)}
	if slices.ContainsFunc(values, func(v float64) bool { return !(v > 0) || math.IsInf(v, 0) }) {
		t.Reason = "a value is not positive"
		return t
	}
	floor, ok := Floor(values)
	if !ok {
		t.Reason = fmt.Sprintf("needs %d runs, has %d", MinNoiseRuns, len(values))
		return t
	}
	t.Floor = floor
	logs := make([]float64, len(values))
	for i, v := range values {
		logs[i] = math.Log(v)
	}
	t.Reference = math.Exp(stats.Quantile(stats.Sorted(logs), 0.5))
	best := 0.0
	for k := segment; k <= len(logs)-segment; k++ {
		a, b := logs[:k], logs[k:]
		ma, mb := stats.Mean(a), stats.Mean(b)
		var within float64
		for _, v := range a {
			within += (v - ma) * (v - ma)
		}
		for _, v := range b {
			within += (v - mb) * (v - mb)
		}
		sd := math.Max(math.Sqrt(within/float64(len(logs)-2)), minFloor/math.Sqrt2)
		if apart := math.Abs(mb-ma) / (sd * math.Sqrt(1/float64(len(a))+1/float64(len(b)))); apart > best {
			best = apart
			t.From, t.Change = k, math.Expm1(mb-ma)
		}
	}
	if t.Drifted = best > limit; !t.Drifted {
		t.From, t.Change = 0, 0
		return t
	}
	t.Reference = math.Exp(stats.Quantile(stats.Sorted(logs[t.From:]), 0.5))
	return t
}

// Outside reports whether a new value lies beyond what the noise of a history explains: more
// than three standard deviations from the median of the runs, with the noise of both.
func (t *Trend) Outside(value float64) (change float64, outside bool) {
	if t.Reason != "" || value <= 0 || t.Reference <= 0 {
		return 0, false
	}
	r := math.Log(value / t.Reference)
	return math.Expm1(r), math.Abs(r) > 3*math.Max(t.Floor, minFloor)
}
