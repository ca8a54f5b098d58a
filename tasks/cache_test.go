package tasks

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/inferencebench/inferencebench/archive"
)

func TestMeasureCache(t *testing.T) {
	for _, c := range []struct {
		about                          string
		saved                          float64 // share of a token's cost that a shared one saves
		reports                        bool
		n                              int
		potential, reported, effective float64 // negative is unknown
	}{
		{"a cache that works", 0.95, true, 400, 0.5, 0.45, 0.475},
		{"a cache that is off", 0, true, 400, 0.5, 0, 0},
		{"a server that does not report", 0.95, false, 400, 0.5, -1, 0.475},
		{"too few requests for times", 0.95, true, 10, 0.5, 0.45, -1},
	} {
		r := rand.New(rand.NewPCG(1, 1))
		var recs []*archive.Request
		for range c.n {
			n := 200 + r.IntN(2000)
			shared := int(float64(n) * r.Float64())
			rec := &archive.Request{Status: archive.StatusOK, Kind: archive.KindLoad}
			rec.Usage.Prompt = archive.Some(n)
			rec.Asked.SharedPrefix = archive.Some(shared)
			if c.reports {
				cached := 0
				if c.saved > 0 {
					cached = int(0.9 * float64(shared))
				}
				rec.Usage.Cached = archive.Some(cached)
			}
			rec.T.Send = 1e9
			ttft := 0.02 + 1e-4*(float64(n)-c.saved*float64(shared)) + 0.002*r.NormFloat64()
			rec.T.First = rec.T.Send + archive.Instant(math.Max(ttft, 1e-4)*1e9)
			recs = append(recs, rec)
		}
		got := MeasureCache(slices.Values(recs))
		for _, v := range []struct {
			name string
			got  archive.Opt[float64]
			want float64
		}{{"potential", got.Potential, c.potential}, {"reported", got.Reported, c.reported}, {"effective", got.Effective, c.effective}} {
			x, ok := v.got.Get()
			if ok != (v.want >= 0) || ok && math.Abs(x-v.want) > 0.06 && c.n > 100 || !ok && got.Reasons[v.name] == "" {
				t.Errorf("%s: %s is %.3f, %v (%s); want %.3f", c.about, v.name, x, ok, got.Reasons[v.name], v.want)
			}
		}
	}
}
