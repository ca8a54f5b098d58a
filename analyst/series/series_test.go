package series

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/inferencebench/inferencebench/archive"
)

func sample(sec float64, target string, v map[string]float64) *archive.Sample {
	return &archive.Sample{T: archive.Instant(sec * 1e9), Source: archive.SourceEngine, Target: target, Values: v}
}

// B121: the counter of a server that restarts is never negative, and what is known of it
// is a lower bound.
func TestGrowthB121(t *testing.T) {
	var s Set
	for i, v := range []float64{90000, 95000, 1200, 4000} {
		s.Add(sample(float64(i+1), "a", map[string]float64{"generation_tokens_total": v}))
	}
	d, ok := s.Growth(archive.SourceEngine, "generation_tokens_total", 1e9, 4e9)
	if !ok || d.Value != 9000 || !d.Reset || d.Span() != 3 {
		t.Errorf("Growth = %+v, %v; want 9000 over 3 s, reset", d, ok)
	}
	if _, ok := s.Growth(archive.SourceEngine, "absent_total", 1e9, 4e9); ok {
		t.Error("a series that is not there has a growth")
	}
}

func TestGaugeJoinsTargets(t *testing.T) {
	var s Set
	s.Add(sample(1, "a", map[string]float64{"requests_running": 12}))
	s.Add(sample(2, "b", map[string]float64{"requests_running": 30}))
	s.Add(sample(3, "a", map[string]float64{"requests_running": 10, "x_bucket:0.1": 4}))
	s.Add(&archive.Sample{T: 4e9, Source: archive.SourceEngine, Error: "refused"})
	got := s.Gauge(archive.SourceEngine, "requests_running", Sum, 0, 9e9)
	want := []Point{{1e9, 12}, {2e9, 42}, {3e9, 40}}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("Gauge (-want +got):\n%s", d)
	}
	if s.Has(archive.SourceEngine, "x_bucket:0.1") || s.Errors[archive.SourceEngine] != 1 || s.Reads[archive.SourceEngine] != 3 {
		t.Error("buckets are kept, or readings miscounted")
	}
	if m, _ := Average(got); m < 31.3 || m > 31.4 {
		t.Errorf("Average = %v", m)
	}
	if v, _ := Share(got, func(v float64) bool { return v >= 40 }); v < 0.66 || v > 0.67 {
		t.Errorf("Share = %v", v)
	}
}
