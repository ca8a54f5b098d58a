//go:build linux

package main

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/inferencebench/inferencebench/loadgen/null"
)

// entry is a request that arrives at a millisecond and gets a chunk at each of the others.
func entry(at float64, sent ...float64) null.Entry {
	e := null.Entry{Arrived: int64(at * 1e6), Done: true}
	for _, s := range sent {
		e.Sent = append(e.Sent, int64(s*1e6))
	}
	return e
}

func TestTruth(t *testing.T) {
	got := truthOf([]null.Entry{entry(0, 50, 60, 70), entry(100, 160, 180, 200), entry(200, 250, 260, 300)})
	if got.Requests != 3 || got.Chunks != 9 || got.Open != 1 || got.From != 0 || got.To != 300e6 {
		t.Errorf("%+v; want 3 requests, 9 chunks, never two streams at once (one ends as the next arrives), from 0 to 300 ms", got)
	}
	if got.TTFT.P50 != 50 || got.TTFT.N != 3 || got.MeanGap.P50 != 20 || got.Gap.P50 != 15 || got.Rate != 10 || got.GapCV != 0 {
		t.Errorf("%+v; want TTFT P50 50 ms, mean gap 20 ms, gap 15 ms, 10/s without variation", got)
	}
	if none := truthOf(nil); none.Requests != 0 || none.TTFT.N != 0 {
		t.Errorf("%+v of nothing", none)
	}
}

func TestArrivalsTellAPoissonProcessFromOthers(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	of := func(next func(i int) float64) truth {
		var entries []null.Entry
		at := 0.0
		for i := range 5000 {
			at += next(i)
			entries = append(entries, entry(at, at+1))
		}
		return truthOf(entries)
	}
	near := func(got, want, by float64) bool { return math.Abs(got-want) <= by }
	if p := of(func(int) float64 { return rng.ExpFloat64() * 20 }); !near(p.GapCV, 1, 0.06) || !near(p.Dispersion, 1, 0.2) || !near(p.Rate, 50, 2) {
		t.Errorf("Poisson: gap CV %.2f, dispersion %.2f, rate %.1f; want 1, 1, 50", p.GapCV, p.Dispersion, p.Rate)
	}
	if p := of(func(int) float64 { return 20 }); p.GapCV > 1e-9 || p.Dispersion > 0.05 {
		t.Errorf("equal gaps: gap CV %.2f, dispersion %.2f; want 0, 0", p.GapCV, p.Dispersion)
	}
	// Ten workers that draw the same gaps send each arrival ten times over.
	if p := of(func(i int) float64 {
		if i%10 != 0 {
			return 0
		}
		return rng.ExpFloat64() * 200
	}); p.GapCV < 2 || p.Dispersion < 5 {
		t.Errorf("copies: gap CV %.2f, dispersion %.2f; want far above 1", p.GapCV, p.Dispersion)
	}
}

func TestProcessorTimeBetween(t *testing.T) {
	u := usage{samples: []sample{{at: 0, cpu: 1}, {at: 100, cpu: 2}, {at: 200, cpu: 6}}}
	for _, row := range []struct {
		from, to int64
		want     float64
	}{{0, 200, 5}, {50, 150, 2.5}, {-10, 300, 5}, {100, 100, 0}} {
		if got := u.between(row.from, row.to); math.Abs(got-row.want) > 1e-9 {
			t.Errorf("between(%d, %d) = %g; want %g", row.from, row.to, got, row.want)
		}
	}
	if got := (&usage{}).between(0, 1); got != 0 {
		t.Errorf("without samples %g", got)
	}
}
