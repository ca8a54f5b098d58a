package monitor

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/inferencebench/inferencebench/archive"
)

// scripted is a Source that does what its function says.
type scripted struct {
	kind, target string
	read         func(ctx context.Context, call int) (map[string]float64, error)
	calls        int
	notes        []archive.Annotation
}

func (s *scripted) Kind() string                      { return s.kind }
func (s *scripted) Target() string                    { return s.target }
func (s *scripted) Annotations() []archive.Annotation { return s.notes }
func (s *scripted) Read(ctx context.Context) (map[string]float64, error) {
	s.calls++
	return s.read(ctx, s.calls)
}

// journal keeps what a monitor reports.
type journal struct {
	mu      sync.Mutex
	samples map[string][]archive.Sample
	events  []archive.Event
}

func (j *journal) sample(s archive.Sample) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.samples == nil {
		j.samples = map[string][]archive.Sample{}
	}
	j.samples[s.Target] = append(j.samples[s.Target], s)
}

func (j *journal) event(e archive.Event) {
	if e.Kind == EventStats {
		return // looked at on its own
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.events = append(j.events, e)
}

func (j *journal) kinds() (out []string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, e := range j.events {
		out = append(out, e.Kind)
	}
	return out
}

// watchFor runs a monitor over sources for a time, in virtual time.
func watchFor(d time.Duration, sources ...Source) *journal {
	j := &journal{}
	m := Start(context.Background(), Config{Clock: archive.NewRunClock(), Sources: sources, Sample: j.sample, Event: j.event})
	time.Sleep(d)
	m.Stop()
	return j
}

func steady(target string) *scripted {
	return &scripted{kind: archive.SourceHost, target: target, read: func(context.Context, int) (map[string]float64, error) {
		return map[string]float64{"x": 1}, nil
	}}
}

func TestReadsOnTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := &scripted{kind: archive.SourceHost, target: "slow", read: func(context.Context, int) (map[string]float64, error) {
			time.Sleep(300 * time.Millisecond)
			return map[string]float64{"x": 1}, nil
		}}
		j := watchFor(9500*time.Millisecond, steady("a"), slow)
		// At once, at each of nine seconds, and at the end.
		for target, took := range map[string]time.Duration{"a": 0, "slow": 300 * time.Millisecond} {
			got := j.samples[target]
			if len(got) != 11 {
				t.Errorf("%s: %d samples; want 11", target, len(got))
			}
			for i, s := range got {
				if s.Took != int64(took) || s.Error != "" || s.Values["x"] != 1 {
					t.Errorf("%s: sample %d = %+v; want took %v", target, i, s, took)
				}
				if i > 0 && i < 10 && s.T.Sub(got[0].T) != time.Duration(i)*time.Second {
					t.Errorf("%s: sample %d is %v after the first; want %d s: no drift", target, i, s.T.Sub(got[0].T), i)
				}
			}
		}
		if len(j.events) != 0 {
			t.Errorf("events %v; want none", j.events)
		}
	})
}

func TestLateReadingsAreSkippedNotQueued(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := &scripted{kind: archive.SourceHost, target: "slow", read: func(context.Context, int) (map[string]float64, error) {
			time.Sleep(2500 * time.Millisecond)
			return map[string]float64{"x": 1}, nil
		}}
		j := watchFor(10*time.Second, slow)
		if n := len(j.samples["slow"]); n < 4 || n > 6 {
			t.Errorf("%d samples of a source that takes 2.5 s; want about 5 in 10 s", n)
		}
		for _, s := range j.samples["slow"] {
			if s.Late > int64(time.Second) {
				t.Errorf("late by %v; want below one interval, for missed readings are left out", time.Duration(s.Late))
			}
		}
	})
}

func TestHangingSourceDelaysNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		polite := &scripted{kind: archive.SourceEngine, target: "polite", read: func(ctx context.Context, _ int) (map[string]float64, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}}
		deaf := &scripted{kind: archive.SourceGPU, target: "deaf", read: func(context.Context, int) (map[string]float64, error) {
			<-release
			return nil, nil
		}}
		began := time.Now()
		j := watchFor(20*time.Second, polite, deaf, steady("a"))
		if d := time.Since(began); d > 35*time.Second {
			t.Errorf("Stop took %v; want at most three times the timeout", d-20*time.Second)
		}
		if n := len(j.samples["a"]); n < 21 {
			t.Errorf("the steady source has %d samples; want 21 or more", n)
		}
		for _, s := range j.samples["a"] {
			if s.Took != 0 || s.Late != 0 {
				t.Errorf("the steady source was delayed: %+v", s)
			}
		}
		lost := map[string]int{}
		for _, e := range j.events {
			if e.Kind == archive.EventSourceLost {
				lost[e.Fields["target"].(string)]++
			}
		}
		if lost["polite"] != 1 || lost["deaf"] != 1 || lost["a"] != 0 {
			t.Errorf("lost events %v; want one each of the two that hang", lost)
		}
		if s := j.samples["deaf"]; len(s) != 1 || !strings.Contains(s[0].Error, "no answer") || len(s[0].Values) != 0 {
			t.Errorf("samples of the deaf source: %+v; want one with an error", s)
		}
		close(release)
		synctest.Wait()
	})
}

func TestLostAndBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		flaky := &scripted{kind: archive.SourceEngine, target: "f", read: func(_ context.Context, call int) (map[string]float64, error) {
			switch call {
			case 2: // one failure is noise
				return nil, errors.New("busy")
			case 4, 5, 6:
				return nil, errors.New("gone")
			case 9:
				panic("boom")
			}
			return map[string]float64{"x": 1}, nil
		}}
		j := watchFor(11500*time.Millisecond, flaky)
		if got := strings.Join(j.kinds(), " "); got != "source_lost source_back" {
			t.Errorf("events %q; want one loss and one return", got)
		}
		bad := 0
		for _, s := range j.samples["f"] {
			if s.Error != "" {
				bad++
				if s.Values == nil || len(s.Values) != 0 {
					t.Errorf("failed sample has values %v; want an empty map", s.Values)
				}
			}
		}
		if bad != 5 {
			t.Errorf("%d failed samples; want 5, the panic included", bad)
		}
	})
}

func TestRestart(t *testing.T) {
	const start = startTime
	type v = map[string]float64
	tests := []struct {
		why     string
		before  v
		now     v
		restart bool
		fell    string
	}{
		{"the first reading says nothing", nil, v{"a_total": 5}, false, ""},
		{"growth", v{"a_total": 5}, v{"a_total": 6}, false, ""},
		{"a counter fell and no start time is told", v{"a_total": 95_000}, v{"a_total": 1_200}, true, "a_total"},
		{"a gauge may fall", v{"a": 5}, v{"a": 1}, false, ""},
		{"a histogram's count fell", v{"a_count": 5}, v{"a_count": 1}, true, "a_count"},
		{"the start time moved", v{start: 1e9}, v{start: 1e9 + 60}, true, ""},
		{"the start time is rounded differently", v{start: 1e9, "a_total": 5}, v{start: 1e9 + 0.01, "a_total": 5}, false, ""},
		{"another start mark", v{startMark: 7, "a_total": 0}, v{startMark: 8, "a_total": 0}, true, ""},
		{"the same start mark, and a counter fell", v{startMark: 7, "a_total": 5}, v{startMark: 7, "a_total": 4}, false, "a_total"},
		{"a counter fell in a process that stayed", v{start: 1e9, "a_total": 5}, v{start: 1e9, "a_total": 4}, false, "a_total"},
		{"a counter that went away says nothing", v{"a_total": 5, "b_total": 1}, v{"b_total": 1}, false, ""},
	}
	for _, tt := range tests {
		restart, fell := compare(tt.before, tt.now)
		if restart != tt.restart || strings.Join(fell, " ") != tt.fell {
			t.Errorf("%s: compare(%v, %v) = %v, %v; want %v, %v", tt.why, tt.before, tt.now, restart, fell, tt.restart, tt.fell)
		}
	}
}

func TestRestartEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		counts := []float64{90_000, 95_000, 1_200, 4_000, 5_000, 6_000}
		src := &scripted{kind: archive.SourceEngine, target: "e", read: func(_ context.Context, call int) (map[string]float64, error) {
			return map[string]float64{"generation_tokens_total": counts[min(call, len(counts))-1]}, nil
		}}
		src.notes = []archive.Annotation{{Code: "bad_metrics_line", Message: "one line could not be read"}}
		j := watchFor(4500*time.Millisecond, src)
		if got := strings.Join(j.kinds(), " "); got != "source_note engine_restart" {
			t.Errorf("events %q; want one note however often it is seen, and one restart", got)
		}
	})
}

// pair is a Source of two targets.
type pair struct{ scripted }

func (p *pair) ReadEach(context.Context) (map[string]map[string]float64, error) {
	return map[string]map[string]float64{"GPU-a": {"util_percent": 5}, "GPU-b": {"util_percent": 7}}, nil
}

func TestSourceOfSeveral(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := watchFor(1500*time.Millisecond, &pair{scripted{kind: archive.SourceGPU, target: "page"}})
		for target, util := range map[string]float64{"GPU-a": 5, "GPU-b": 7} {
			got := j.samples[target]
			if len(got) != 3 || got[0].Values["util_percent"] != util || got[0].Source != archive.SourceGPU {
				t.Errorf("%s: samples %+v; want 3 with utilisation %v", target, got, util)
			}
		}
		if n := len(j.samples["page"]); n != 0 {
			t.Errorf("%d samples of the page itself; want none", n)
		}
	})
}

func TestNothingAfterStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &journal{}
		m := Start(context.Background(), Config{Clock: archive.NewRunClock(), Interval: 100 * time.Millisecond, Sources: []Source{steady("a")}, Sample: j.sample})
		time.Sleep(time.Second)
		m.Stop()
		m.Stop()
		n := len(j.samples["a"])
		time.Sleep(time.Minute)
		if got := len(j.samples["a"]); got != n || n < 11 {
			t.Errorf("%d samples, then %d; want 11 or more and none after Stop", n, got)
		}
	})
}

func TestHealthEventsAreReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		busy := &scripted{kind: archive.SourceClient, read: func(context.Context, int) (map[string]float64, error) {
			return map[string]float64{"in_flight": 4}, nil
		}}
		idle := &scripted{kind: archive.SourceGPU, target: "GPU-a", read: func(context.Context, int) (map[string]float64, error) {
			return map[string]float64{"util_percent": 0}, nil
		}}
		if got := strings.Join(watchFor(20*time.Second, busy, idle).kinds(), " "); got != "gpu_idle" {
			t.Errorf("events %q; want gpu_idle, once", got)
		}
	})
}

func TestStats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var last archive.Event
		slow := &scripted{kind: archive.SourceHost, target: "slow", read: func(_ context.Context, call int) (map[string]float64, error) {
			time.Sleep(time.Duration(call) * 10 * time.Millisecond)
			if call == 2 {
				return nil, errors.New("busy")
			}
			return nil, nil
		}}
		m := Start(context.Background(), Config{Clock: archive.NewRunClock(), Sources: []Source{slow}, Sample: func(archive.Sample) {}, Event: func(e archive.Event) { last = e }})
		time.Sleep(2500 * time.Millisecond)
		m.Stop()
		want := Stats{Readings: 4, Failed: 1, Took: 100 * time.Millisecond, Longest: 40 * time.Millisecond}
		if got := m.Stats(); got != want {
			t.Errorf("Stats = %+v; want %+v", got, want)
		}
		if last.Kind != EventStats || last.Fields["readings"] != 4 || last.Fields["took_max_ns"] != int64(40*time.Millisecond) {
			t.Errorf("last event %+v; want the stats", last)
		}
	})
}

func TestContextEndsWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &journal{}
		ctx, cancel := context.WithCancel(context.Background())
		m := Start(ctx, Config{Clock: archive.NewRunClock(), Sources: []Source{steady("a")}, Sample: j.sample})
		time.Sleep(1500 * time.Millisecond)
		cancel()
		synctest.Wait()
		if n := len(j.samples["a"]); n != 3 {
			t.Errorf("%d samples; want 3: at once, after a second, and the last", n)
		}
		m.Stop()
	})
}

func TestHere(t *testing.T) {
	h, err := NewHost().Read(t.Context())
	if err != nil || h["memory_available_bytes"] <= 0 {
		t.Errorf("host = %v, %v; want memory", h, err)
	}
	src := NewHost()
	_, _ = src.Read(t.Context())
	if d := DescribeHost(); d.Cores < 1 || d.OS == "" {
		t.Errorf("DescribeHost = %+v", d)
	}
	c := NewClient(func() ClientCounters { return ClientCounters{InFlight: 3, OK: 5, Failed: 1, OutputTokens: 99} })
	for range 2 {
		v, err := c.Read(t.Context())
		if err != nil || v["in_flight"] != 3 || v["requests_ok_total"] != 5 || v["requests_failed_total"] != 1 || v["output_tokens_total"] != 99 || v["goroutines"] < 1 {
			t.Errorf("client = %v, %v", v, err)
		}
	}
	sources, gpus, note := OpenGPUs()
	if len(sources) == 0 && note == "" {
		t.Error("OpenGPUs finds nothing and does not say why")
	}
	if len(sources) != len(gpus) || strings.Contains(note, "\n") {
		t.Errorf("OpenGPUs = %d sources, %d GPUs, note %q", len(sources), len(gpus), note)
	}
}
