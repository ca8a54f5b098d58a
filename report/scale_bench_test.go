package report

import (
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/inferencebench/inferencebench/archive"
)

// BenchmarkHTML renders a run of 20,000 requests of 64 chunks each.
func BenchmarkHTML(b *testing.B) {
	const requests, chunks = 20_000, 64
	dir := b.TempDir() + "/run"
	m := archive.Manifest{Schema: archive.SchemaVersion, ID: "big", State: archive.StateComplete, Started: 1e9, Ended: 1e9 + requests*1e7}
	w, err := archive.Create(dir, m)
	if err != nil {
		b.Fatal(err)
	}
	for i := range requests {
		at := archive.Instant(1e9 + int64(i)*1e7)
		r := archive.Request{ID: fmt.Sprint(i), Phase: "p", Kind: archive.KindLoad, Status: archive.StatusOK, Usage: archive.Usage{Completion: archive.Some(chunks), Source: archive.UsageServer}}
		for k := range chunks {
			r.Chunks.T = append(r.Chunks.T, at.Add(30*time.Millisecond)+archive.Instant(k)*9e6)
		}
		r.T = archive.Times{Intended: at, Send: at + 1e5, First: r.Chunks.T[0], Answer: r.Chunks.T[0], Last: r.Chunks.T[chunks-1], Done: r.Chunks.T[chunks-1] + 1e5}
		w.Request(&r)
	}
	if err := w.Close(m); err != nil {
		b.Fatal(err)
	}
	run, err := archive.Open(dir)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := HTML(io.Discard, run, &archive.Analysis{}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/requests, "ns/request")
}
