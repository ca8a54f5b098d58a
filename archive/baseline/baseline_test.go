package baseline_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/archive/baseline"
)

// places are the databases that a test runs on: a file, and the PostgreSQL server of
// INFERENCEBENCH_TEST_POSTGRES (a URL of a database that the test may fill).
func places(t *testing.T) map[string]string {
	out := map[string]string{"sqlite": filepath.Join(t.TempDir(), "with space?.db")}
	if u := os.Getenv("INFERENCEBENCH_TEST_POSTGRES"); u != "" {
		out["postgres"] = u
	} else {
		t.Log("PostgreSQL is left out: INFERENCEBENCH_TEST_POSTGRES names none")
	}
	return out
}

func entry(t *testing.T, i int) baseline.Entry {
	return baseline.Entry{
		Run: fmt.Sprintf("%s-run-%02d", t.Name(), i), Dir: "runs/x", Recorded: time.Unix(1_800_000_000+int64(i), 5).UTC(),
		Series:  baseline.Series{Machine: t.Name(), Config: "c0ffee", Engine: "vllm", Model: "m'; DROP TABLE runs; --"},
		Version: "1.2", Verdict: "none", Headline: "Nothing limits it.", Requests: 100, Metrics: map[string]float64{"ttft_p50": 100 + float64(i), "output_rate": 400},
	}
}

func TestStoreKeepsRuns(t *testing.T) {
	for kind, where := range places(t) {
		t.Run(kind, func(t *testing.T) {
			ctx := context.Background()
			s, err := baseline.Open(ctx, where)
			if err != nil {
				t.Fatal(err)
			}
			var want []baseline.Entry
			for i := range 3 {
				e := entry(t, i)
				want = append(want, e)
				if _, err := s.Add(ctx, e); err != nil {
					t.Fatal(err)
				}
			}
			want[1].Metrics = map[string]float64{"ttft_p50": 7}
			if added, err := s.Add(ctx, want[1]); err != nil || added {
				t.Errorf("a second Add = %v, %v; want it replaced", added, err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if s, err = baseline.Open(ctx, where); err != nil { // migrates nothing
				t.Fatal(err)
			}
			defer s.Close()
			got, err := s.List(ctx, &want[0].Series)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("runs (-want +got):\n%s", d)
			}
			other := want[0].Series
			other.Model = "another"
			if got, err := s.List(ctx, &other); err != nil || len(got) != 0 {
				t.Errorf("another series = %v, %v; want nothing", got, err)
			}
			for _, e := range want {
				if found, err := s.Remove(ctx, e.Run); err != nil || !found {
					t.Errorf("Remove = %v, %v; want true", found, err)
				}
			}
		})
	}
}

func TestWritersAtOnce(t *testing.T) {
	for kind, where := range places(t) {
		t.Run(kind, func(t *testing.T) {
			ctx := context.Background()
			var wg sync.WaitGroup
			errs := make([]error, 6)
			for i := range errs { // each opens, and migrates, by itself as a program does
				wg.Go(func() {
					s, err := baseline.Open(ctx, where)
					if err == nil {
						_, err = s.Add(ctx, entry(t, i))
						_ = s.Close()
					}
					errs[i] = err
				})
			}
			wg.Wait()
			for _, err := range errs {
				if err != nil {
					t.Fatal(err)
				}
			}
			s, err := baseline.Open(ctx, where)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			series := entry(t, 0).Series
			got, err := s.List(ctx, &series)
			if err != nil || len(got) != len(errs) {
				t.Errorf("%d runs, %v; want %d", len(got), err, len(errs))
			}
			for _, e := range got {
				if _, err := s.Remove(ctx, e.Run); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func TestErrorsHoldNoPassword(t *testing.T) {
	for _, where := range []string{"postgres://u:geheim@127.0.0.1:1/x?connect_timeout=1", "postgres://u:geheim@[::bad/x", "mysql://u:geheim@h/x", "postgres://u:geheim@h:port/x"} {
		_, err := baseline.Open(context.Background(), where)
		if err == nil || strings.Contains(err.Error(), "geheim") {
			t.Errorf("Open(%q) = %v; want an error without the password", where, err)
		}
	}
}

func TestSeriesLeavesOutWhatDoesNotMatter(t *testing.T) {
	of := func(config string) baseline.Series {
		run := &archive.Run{Manifest: archive.Manifest{ID: "r", Config: []byte(config), Host: archive.Host{CPU: "cpu", Cores: 2}, GPUs: []archive.GPU{{Name: "L4"}, {Name: "L4"}}}}
		return baseline.Summarize(run, &archive.Analysis{}, "").Series
	}
	a := of(`{"name":"a","target":{"url":"http://a"},"phases":[{"rate":4}]}`)
	if b := of(`{"phases":[{"rate":4}],"name":"b","out":"x","target":{"url":"http://b"}}`); a != b {
		t.Errorf("series differ by name and address: %+v, %+v", a, b)
	}
	if b := of(`{"phases":[{"rate":5}],"target":{}}`); a == b {
		t.Error("another load is the same series")
	}
	if a.Machine != "cpu, 2 cores, 2 x L4" {
		t.Errorf("machine = %q", a.Machine)
	}
}
