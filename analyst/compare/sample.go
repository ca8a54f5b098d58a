package compare

import (
	"cmp"
	"errors"
	"hash/fnv"
	"iter"
	"slices"
	"strconv"

	"github.com/inferencebench/inferencebench/analyst/metrics"
	"github.com/inferencebench/inferencebench/archive"
)

// point is what one ok load request contributes.
type point struct {
	key    uint64 // which request of the workload it is
	at     archive.Instant
	last   archive.Instant
	values [valueCount]float64 // NaN-free; valid where ok
	ok     [valueCount]bool
	tokens float64
}

// The values of a request.
const (
	vTTFT = iota
	vTPOT
	vE2E
	valueCount
)

// Sample is what a comparison keeps of one run: about 120 bytes for each ok load request.
type Sample struct {
	Name   string
	points []point // in the order in which they were due
	sent   int     // load requests that ended, ok or not
	failed int
	from   archive.Instant
	to     archive.Instant
	rate   float64 // output tokens a second as the analysis has them; 0 where it is not known
}

// Measured takes the output rate from the run's analysis, which counts what came inside
// the measured window, so that a comparison and a report show one value for one run. The
// stretches of time that tell its spread then come from that window too.
func (s *Sample) Measured(a *archive.Analysis) {
	for i := range a.Metrics {
		if m := &a.Metrics[i]; m.ID == "output_rate" && m.Scope == "all" {
			s.rate = m.Stats["value"].Value.Or(0)
		}
	}
	if len(a.Windows) == 1 && s.rate > 0 && a.Windows[0].To > a.Windows[0].From {
		s.from, s.to = a.Windows[0].From, a.Windows[0].To
	}
}

// Collect reads the load requests of a run once. Lines that cannot be read are skipped.
func Collect(run *archive.Run) (*Sample, error) { return FromRequests(run.Manifest.ID, run.Requests()) }

// FromRequests collects records that need not be on disk.
func FromRequests(name string, requests iter.Seq2[*archive.Request, error]) (*Sample, error) {
	s := &Sample{Name: name}
	for r, err := range requests {
		var line *archive.LineError
		if errors.As(err, &line) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if r.Kind != archive.KindLoad {
			continue
		}
		switch r.Status {
		case archive.StatusFailed:
			s.failed++
			s.sent++
			continue
		case archive.StatusOK:
			s.sent++
		default:
			continue
		}
		row := metrics.RowOf(r)
		p := point{key: key(r), at: r.T.Intended, last: r.T.Last}
		for i, f := range []func(*metrics.Row) (float64, bool){(*metrics.Row).TTFT, (*metrics.Row).TPOT, (*metrics.Row).E2EL} {
			p.values[i], p.ok[i] = f(&row)
		}
		p.tokens, _ = row.OutputTokens()
		s.points = append(s.points, p)
	}
	slices.SortStableFunc(s.points, func(a, b point) int { return cmp.Compare(a.at, b.at) })
	for i, p := range s.points {
		if i == 0 {
			s.from = p.at
		}
		s.to = max(s.to, p.last)
	}
	return s, nil
}

// Len returns how many ok load requests the sample holds.
func (s *Sample) Len() int { return len(s.points) }

// key names a request of the workload by its place and what it asked for.
func key(r *archive.Request) uint64 {
	h := fnv.New64a()
	for _, part := range []string{r.Phase, r.Session, strconv.Itoa(r.Turn), r.Task, strconv.Itoa(r.Asked.MaxTokens.Or(-1))} {
		h.Write([]byte(part))
		h.Write([]byte{0})
	}
	return h.Sum64()
}

// pair returns the points of both runs that are the same request, in the order of the
// first. ok is false when fewer than nine tenths of either run match.
func pair(a, b *Sample) (pa, pb []point, ok bool) {
	at := make(map[uint64]int, len(b.points))
	for i, p := range b.points {
		at[p.key] = i
	}
	for _, p := range a.points {
		if i, found := at[p.key]; found {
			pa, pb = append(pa, p), append(pb, b.points[i])
		}
	}
	most := max(len(a.points), len(b.points))
	return pa, pb, most > 0 && 10*len(pa) >= 9*most
}
