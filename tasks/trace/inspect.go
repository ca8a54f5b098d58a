package trace

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// Report says what a trace is like. Unknown figures are negative.
type Report struct {
	Name   string
	Format Format
	Rows   int
	Failed int // requests that the trace marks as failed
	Timed  bool
	Span   time.Duration // from the first to the last arrival
	Rate   float64       // arrivals per second over the span
	CV     float64       // coefficient of variation of the gaps between arrivals
	Zero   float64       // share of gaps that are exactly zero
	// Quantum is the grid that the time stamps lie on, 0 when there is none that matters:
	// a grid matters when it is 10 ms or more and several arrivals share its points.
	Quantum    time.Duration
	OutOfOrder int
	Sessions   int // conversations, where the trace has them
	MeanIn     float64
	MeanOut    float64
	// Reused is the share of prefix blocks, of all in the trace, that an earlier request
	// held at the same place after the same blocks: the hit rate of an endless cache.
	Reused float64
	// Cached is the share of prompt tokens that the trace says came from a cache.
	Cached float64
}

// Inspect measures a trace.
func Inspect(t *Trace) Report {
	r := Report{Name: t.Name, Format: t.Format, Rows: len(t.Rows), OutOfOrder: t.OutOfOrder, Rate: -1, CV: -1, Zero: -1, Reused: -1, Cached: -1}
	sessions := map[string]struct{}{}
	var in, out, cachedIn, cached float64
	r.Timed = len(t.Rows) > 0
	for i := range t.Rows {
		row := &t.Rows[i]
		r.Timed = r.Timed && row.Timed
		if row.Failed {
			r.Failed++
		}
		in, out = in+float64(row.In), out+float64(row.Out)
		if row.Session != "" {
			sessions[row.Session] = struct{}{}
		}
		if row.Cached >= 0 {
			cachedIn, cached = cachedIn+float64(row.In), cached+float64(row.Cached)
		}
	}
	r.Sessions = len(sessions)
	if n := float64(len(t.Rows)); n > 0 {
		r.MeanIn, r.MeanOut = in/n, out/n
	}
	if cachedIn > 0 {
		r.Cached = cached / cachedIn
	}
	r.Reused = reused(t.Rows)
	if r.Timed && len(t.Rows) > 1 {
		r.times(t.Rows)
	}
	return r
}

func (r *Report) times(rows []Row) {
	gaps := make([]float64, len(rows)-1)
	zero := 0
	var sum float64
	for i := range gaps {
		gaps[i] = (rows[i+1].At - rows[i].At).Seconds()
		sum += gaps[i]
		if gaps[i] == 0 {
			zero++
		}
	}
	n := float64(len(gaps))
	r.Span = rows[len(rows)-1].At - rows[0].At
	r.Zero = float64(zero) / n
	if sum <= 0 {
		return
	}
	mean := sum / n
	r.Rate = n / sum
	var sq float64
	for _, g := range gaps {
		sq += (g - mean) * (g - mean)
	}
	r.CV = math.Sqrt(sq/n) / mean
	r.Quantum = quantum(gaps, r.Zero)
}

// quantum is the grid of the time stamps: the gap that nine tenths of all gaps that are
// not zero, or within a hundredth of it, are a multiple of. Traces write their stamps with
// a few milliseconds of jitter, so gaps below 20 ms count as zero where most gaps are.
func quantum(gaps []float64, zero float64) time.Duration {
	const jitter = 0.020
	var steps []float64
	small := 0
	for _, g := range gaps {
		if g > jitter {
			steps = append(steps, g)
		} else {
			small++
		}
	}
	if zero < 0.2 || len(steps) < 8 || float64(small) < 0.5*float64(len(gaps)) {
		return 0
	}
	slices.Sort(steps)
	q := steps[len(steps)/20]
	for _, multiple := range []float64{1, 2} { // the smallest gap may itself be two steps
		if unit := q / multiple; unit >= 0.010 && onGrid(steps, unit) {
			// The median of the single steps is free of the stamps' jitter.
			i := 0
			for i < len(steps) && steps[i] < 1.5*unit {
				i++
			}
			if i > 0 {
				unit = steps[i/2]
			}
			return time.Duration(math.Round(unit*1000)) * time.Millisecond
		}
	}
	return 0
}

func onGrid(steps []float64, unit float64) bool {
	fit := 0
	for _, s := range steps {
		k := math.Round(s / unit)
		if k >= 1 && math.Abs(s-k*unit) <= math.Max(0.012, 0.01*unit) {
			fit++
		}
	}
	return float64(fit) >= 0.9*float64(len(steps))
}

// reused walks the blocks of all rows as one prefix tree.
func reused(rows []Row) float64 {
	type at struct{ parent, block uint64 }
	seen := map[at]uint64{}
	var total, hits, next uint64
	for i := range rows {
		parent := uint64(0)
		for _, b := range rows[i].Blocks {
			total++
			k := at{parent, b}
			id, ok := seen[k]
			if ok {
				hits++
			} else {
				next++
				id = next
				seen[k] = id
			}
			parent = id
		}
	}
	if total == 0 {
		return -1
	}
	return float64(hits) / float64(total)
}

// String is the report in a few lines for a terminal.
func (r Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s trace, %d requests", r.Name, r.Format, r.Rows)
	if r.Failed > 0 {
		fmt.Fprintf(&b, ", %d of them marked as failed", r.Failed)
	}
	if r.Sessions > 0 {
		fmt.Fprintf(&b, ", %d sessions", r.Sessions)
	}
	b.WriteByte('\n')
	if r.Timed {
		fmt.Fprintf(&b, "span %s, %.3g requests/s, gaps: CV %.2f, %.1f %% zero", r.Span.Round(time.Second), r.Rate, r.CV, 100*r.Zero)
		if r.Quantum > 0 {
			fmt.Fprintf(&b, ", time stamps on a grid of %s", r.Quantum)
		}
		if r.OutOfOrder > 0 {
			fmt.Fprintf(&b, ", %d rows out of order", r.OutOfOrder)
		}
		b.WriteByte('\n')
	} else {
		b.WriteString("lengths only, without times\n")
	}
	fmt.Fprintf(&b, "mean prompt %.0f tokens, mean answer %.0f tokens", r.MeanIn, r.MeanOut)
	if r.Reused >= 0 {
		fmt.Fprintf(&b, ", %.1f %% of prefix blocks seen before", 100*r.Reused)
	}
	if r.Cached >= 0 {
		fmt.Fprintf(&b, ", %.1f %% of prompt tokens cached", 100*r.Cached)
	}
	b.WriteByte('\n')
	return b.String()
}
