package parquet

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
	pq "github.com/parquet-go/parquet-go"

	"github.com/inferencebench/inferencebench/report/reporttest"
)

func TestRequestsRoundTrip(t *testing.T) {
	for _, kind := range reporttest.Kinds() {
		run, _ := reporttest.Build(t, kind)
		var b bytes.Buffer
		if err := Requests(&b, run); err != nil {
			t.Fatal(err)
		}
		got, err := pq.Read[Request](bytes.NewReader(b.Bytes()), int64(b.Len()))
		if err != nil {
			t.Fatal(err)
		}
		i := 0
		for r, err := range run.Requests() {
			if err != nil {
				t.Fatal(err)
			}
			want := request(r)
			if len(want.ChunkTimes) == 0 { // an empty list and no list read the same
				want.ChunkTimes, got[i].ChunkTimes = nil, nil
			}
			if len(want.ChunkTokens) == 0 {
				want.ChunkTokens, got[i].ChunkTokens = nil, nil
			}
			if d := cmp.Diff(want, got[i]); d != "" {
				t.Fatalf("%s, request %d: %s", kind, i, d)
			}
			i++
		}
		if i != len(got) {
			t.Errorf("%s: %d rows for %d requests", kind, len(got), i)
		}
	}
}

func TestSeriesKeepsEveryValue(t *testing.T) {
	run, _ := reporttest.Build(t, reporttest.Saturated)
	want := 0
	for s, err := range run.Samples() {
		if err != nil {
			t.Fatal(err)
		}
		want += len(s.Values)
	}
	var b bytes.Buffer
	if err := Series(&b, run); err != nil {
		t.Fatal(err)
	}
	got, err := pq.Read[Sample](bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != want || got[0].T <= 0 || got[0].Name == "" {
		t.Errorf("%d rows, the first %+v; want %d", len(got), got[0], want)
	}
}
