package analyst

import (
	"fmt"
	"math"

	"github.com/inferencebench/inferencebench/analyst/metrics"
	"github.com/inferencebench/inferencebench/analyst/stats"
	"github.com/inferencebench/inferencebench/archive"
)

// discordance is the share of items that two healthy runs of one server answer
// differently; it sets what a comparison of two runs can detect.
const discordance = 0.06

// qualities counts checkpoint scores by kind and item set.
type qualities struct {
	order []string
	by    map[string]*archive.Quality
	why   map[string]map[string]int // reasons of unscored items
}

func (q *qualities) add(c *archive.Checkpoint) {
	key := c.Kind + "\x00" + c.Set
	if q.by == nil {
		q.by, q.why = map[string]*archive.Quality{}, map[string]map[string]int{}
	}
	row := q.by[key]
	if row == nil {
		row = &archive.Quality{Kind: c.Kind, Set: c.Set}
		q.by[key], q.why[key] = row, map[string]int{}
		q.order = append(q.order, key)
	}
	s, ok := c.Score.Get()
	if !ok {
		row.Unscored++
		if len(q.why[key]) < maxCodes {
			q.why[key][c.Reason]++
		}
		return
	}
	row.Scored++
	if s >= 1 {
		row.Correct++
	}
}

func (q *qualities) rows() []archive.Quality {
	var out []archive.Quality
	for _, key := range q.order {
		r := *q.by[key]
		if lo, hi, ok := stats.Wilson(r.Correct, r.Scored, metrics.Level); ok {
			r.Accuracy = archive.Estimate{Value: metrics.Number(float64(r.Correct) / float64(r.Scored)), Low: metrics.Number(lo), High: metrics.Number(hi)}
			// Non-inferiority of paired items at 5 % one-sided with 80 % power: n = 6.18·d/δ².
			delta := math.Sqrt(6.18 * discordance / float64(r.Scored))
			r.Power = fmt.Sprintf("%d items show the accuracy within %.0f to %.0f %%; against a second run they can show a loss of about %.0f points or more, and nothing smaller.", r.Scored, 100*lo, 100*hi, math.Min(100, 100*delta))
		} else {
			r.Accuracy = metrics.Withheld("no item could be scored")
			r.Power = "No item was scored, so nothing is known of the quality."
		}
		if r.Unscored > 0 {
			top, n := "", 0
			for why, c := range q.why[key] {
				if c > n || c == n && why < top {
					top, n = why, c
				}
			}
			r.Notes = append(r.Notes, archive.Annotation{Code: "unscored", Message: fmt.Sprintf("%d items were not scored, mostly because: %s", r.Unscored, either(top == "", "no reason was given", top))})
		}
		out = append(out, r)
	}
	return out
}
