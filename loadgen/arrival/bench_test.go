package arrival_test

import (
	"testing"
	"time"

	"github.com/inferencebench/inferencebench/loadgen/arrival"
)

// BenchmarkNext is the cost of one arrival of each shape.
func BenchmarkNext(b *testing.B) {
	for _, description := range []string{"constant", "poisson", "gamma cv=2", "weibull cv=2", "onoff", "diurnal"} {
		b.Run(description, func(b *testing.B) {
			p := must(arrival.Parse(description, 1000, 1))
			var prev time.Duration
			n := uint64(0)
			b.ReportAllocs()
			for b.Loop() {
				due, ok := p.Next(prev, n)
				if !ok {
					b.Fatal("the schedule ended")
				}
				prev, n = due, n+1
			}
		})
	}
}
