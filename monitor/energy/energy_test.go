package energy

import (
	"math"
	"testing"
	"time"

	"github.com/inferencebench/inferencebench/archive"
)

// seconds makes one sample a second of a GPU.
func seconds(n int, target string, at func(i int) map[string]float64) (out []archive.Sample) {
	for i := range n {
		if v := at(i); v != nil {
			out = append(out, archive.Sample{T: archive.Instant(i+1) * 1e9, Source: archive.SourceGPU, Target: target, Values: v})
		}
	}
	return out
}

func TestWindow(t *testing.T) {
	both := func(i int) map[string]float64 {
		return map[string]float64{"energy_joules_total": 1000 + 300*float64(i), "power_watts": 310}
	}
	power := func(i int) map[string]float64 { return map[string]float64{"power_watts": 200} }
	none := func(int) map[string]float64 { return map[string]float64{"util_percent": 90} }
	gap := func(i int) map[string]float64 {
		if i > 3 && i < 9 {
			return nil
		}
		return both(i)
	}
	restarted := func(i int) map[string]float64 {
		e := 300 * float64(i)
		if i >= 5 {
			e -= 1500
		}
		return map[string]float64{"energy_joules_total": e, "power_watts": 300}
	}
	tests := []struct {
		why      string
		samples  []archive.Sample
		from, to float64
		want     float64
		method   string
		ok       bool
	}{
		{"by counter, edges between samples", seconds(20, "a", both), 2.5, 12.5, 3000, ByCounter, true},
		{"by power where there is no counter", seconds(20, "a", power), 2, 12, 2000, ByPower, true},
		{"two GPUs add up; the weaker method names the sum", append(seconds(20, "a", both), seconds(20, "b", power)...), 2, 12, 5000, ByPower, true},
		{"one GPU that tells neither: the whole is unknown", append(seconds(20, "a", both), seconds(20, "b", none)...), 2, 12, 0, "", false},
		{"a gap at an edge is refused", seconds(20, "a", gap), 2, 7.5, 0, "", false},
		{"a gap between the edges does not matter to a counter", seconds(20, "a", gap), 2, 15, 3900, ByCounter, true},
		{"a counter that was reset gives way to power", seconds(20, "a", restarted), 2, 12, 3000, ByPower, true},
		{"samples that do not reach the end", seconds(5, "a", both), 2, 12, 0, "", false},
		{"a MIG instance without readings stands aside", append(seconds(20, "a", both), seconds(20, "a/gi-1", none)...), 2, 12, 3000, ByCounter, true},
		{"nothing watched", nil, 2, 12, 0, "", false},
	}
	at := func(s float64) archive.Instant { return archive.Instant(s * 1e9) }
	for _, tt := range tests {
		got := Window(tt.samples, at(tt.from), at(tt.to), 3*time.Second)
		if math.Abs(got.Joules-tt.want) > 1e-6 || got.OK != tt.ok || got.OK && got.Method != tt.method || !got.OK && got.Reason == "" {
			t.Errorf("%s: Window = %+v; want %v J by %s, %v", tt.why, got, tt.want, tt.method, tt.ok)
		}
	}
}
