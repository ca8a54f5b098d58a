package loadgen_test

import (
	"context"
	"testing"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/loadgen"
	"github.com/inferencebench/inferencebench/loadgen/wire"
)

// BenchmarkDriver is the cost of the driver itself for one request of one turn in a closed
// loop: planning, accounting and handing on, with a sender that does nothing.
func BenchmarkDriver(b *testing.B) {
	clock := archive.NewRunClock()
	b.ReportAllocs()
	err := loadgen.Run(b.Context(), loadgen.Config{
		Clock: clock,
		Sender: loadgen.SenderFunc(func(_ context.Context, _ *wire.Call, rec *archive.Request) {
			rec.T.Send = clock.Now()
			rec.T.Done, rec.Status = rec.T.Send, archive.StatusOK
		}),
		Record: func(*archive.Request) {},
	}, []loadgen.Phase{{Name: "p", Source: once(), Concurrency: 16, Requests: b.N}})
	if err != nil {
		b.Fatal(err)
	}
}
