package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"sync"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/inferencebench/inferencebench/loadgen/null"
)

// measure is what a client's process prints.
type measure struct {
	Chunks  int64   // that came in the window
	Seconds float64 // of the window
	CPU     float64 // seconds used in the window
	// Errors of stamps, in microseconds: of all chunks, and of the gaps between two.
	P50, P99, P999     float64
	GapP99             float64
	LagP50, LagP99     float64 // as the client measures it itself
	UserP50, UserP99   float64 // errors of the user stamps taken beside, where it does
	Coalesced          float64 // share
	BytesPerStream     float64 // resident
	HeapPerStream      float64
	StackPerStream     float64
	Failed             int64
	ServerLate         float64 // milliseconds
	Requests           int64
	ServerCPU, Machine float64 // seconds in the window
}

// run is what a client is asked to do.
type run struct {
	url     string
	streams int
	window  time.Duration
	memory  bool // measure memory at full load, not time
	// counting leaves the stamps' errors out, which costs the client more than reading.
	counting bool

	open  atomic.Int64 // window is open
	total atomic.Int64 // chunks that floors saw in the window
	asked atomic.Int64
	fail  atomic.Int64

	mu   sync.Mutex
	errs *hdrhistogram.Histogram
	gaps *hdrhistogram.Histogram
	user *hdrhistogram.Histogram
	from int64
	to   int64

	lagP50, lagP99 float64
	coalesced      float64
	stop           context.Context
	clock          null.Clock
}

// client is a reader of the stream. It keeps all streams going until the run's stop, and
// returns when the last has ended.
type client func(r *run) error

var clients = map[string]client{
	"floor-go":    floorGo,
	"floor-epoll": floorEpoll,
	"ours":        ours(oursNetHTTP),
	"ours-user":   ours(oursUser),
	"ours-both":   ours(oursNetHTTP, oursUser),
	"loop":        ours(oursLoop),
	"loop-user":   ours(oursLoopUser),
	"loop-async":  ours(oursAsync),
	"loop-lazy":   ours(oursLazy),
	"go-openai":   goOpenAI,
	"json-v1":     jsonV1,
	"json-v2":     jsonV2,
}

func runClient(args []string) error {
	fs := flag.NewFlagSet("client", flag.ContinueOnError)
	kind := fs.String("kind", "", "")
	r := &run{clock: null.NewClock()}
	fs.StringVar(&r.url, "url", "", "")
	fs.IntVar(&r.streams, "streams", 1, "")
	fs.DurationVar(&r.window, "for", time.Second, "")
	warm := fs.Duration("warm", 500*time.Millisecond, "")
	fs.BoolVar(&r.memory, "memory", false, "")
	fs.BoolVar(&r.counting, "counting", false, "")
	profile := fs.String("profile", "", "")
	if err := fs.Parse(args); err != nil {
		return err
	}
	c := clients[*kind]
	if c == nil {
		return fmt.Errorf("client %q is not known", *kind)
	}
	if err := pin(1); err != nil {
		return err
	}
	r.errs, r.gaps, r.user = hist(), hist(), hist()
	stop, cancel := context.WithCancel(context.Background())
	defer cancel()
	r.stop = stop
	runtime.GC()
	before, err := rss()
	if err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() { done <- c(r) }()
	var m measure
	if err := r.wait(*warm, done); err != nil {
		return err
	}
	if *profile != "" && !r.memory {
		f, err := os.Create(*profile)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	busy, used := machineBusy(), cpu()
	r.mu.Lock()
	r.from, r.to = r.clock.Now(), r.clock.Now()+int64(r.window)
	r.mu.Unlock()
	r.open.Store(1)
	if err := r.wait(r.window, done); err != nil {
		return err
	}
	r.open.Store(0)
	m.CPU, m.Machine = (cpu() - used).Seconds(), machineBusy()-busy
	m.Seconds = r.window.Seconds()
	if r.memory {
		after, err := rss()
		if err != nil {
			return err
		}
		m.BytesPerStream = float64(after-before) / float64(r.streams)
		if *profile != "" {
			f, err := os.Create(*profile)
			if err != nil {
				return err
			}
			runtime.GC()
			err = errors.Join(pprof.WriteHeapProfile(f), f.Close())
			if err != nil {
				return err
			}
		}
		var ms runtime.MemStats
		runtime.ReadMemStats(&ms)
		m.HeapPerStream, m.StackPerStream = float64(ms.HeapInuse)/float64(r.streams), float64(ms.StackInuse)/float64(r.streams)
		return json.NewEncoder(os.Stdout).Encode(m)
	}
	cancel()
	if err := <-done; err != nil {
		return err
	}
	us := func(h *hdrhistogram.Histogram, q float64) float64 { return float64(h.ValueAtQuantile(q)) / 1e3 }
	m.Chunks, m.Requests, m.Failed = r.total.Load(), r.asked.Load(), r.fail.Load()
	m.P50, m.P99, m.P999, m.GapP99 = us(r.errs, 50), us(r.errs, 99), us(r.errs, 99.9), us(r.gaps, 99)
	m.UserP50, m.UserP99 = us(r.user, 50), us(r.user, 99)
	m.LagP50, m.LagP99, m.Coalesced = r.lagP50, r.lagP99, r.coalesced
	return json.NewEncoder(os.Stdout).Encode(m)
}

func hist() *hdrhistogram.Histogram { return hdrhistogram.New(1, int64(10*time.Second), 3) }

func (r *run) wait(d time.Duration, done chan error) error {
	select {
	case <-time.After(d):
		return nil
	case err := <-done:
		if err == nil {
			err = errors.New("the client ended early")
		}
		return err
	}
}

// each runs f on every stream at once, over and over, until the run stops.
func (r *run) each(f func(stream int) error) error {
	errs := make(chan error, r.streams)
	var wg sync.WaitGroup
	for i := range r.streams {
		wg.Go(func() {
			for r.stop.Err() == nil {
				if err := f(i); err != nil {
					errs <- err
					return
				}
			}
		})
	}
	wg.Wait()
	select {
	case err := <-errs:
		return err
	default:
		return nil
	}
}

// stampLog collects the chunks of one stream between two flushes, so that recording costs
// every client the same and little.
type stampLog struct {
	at, sent []int64
}

func (l *stampLog) add(at, sent int64) { l.at, l.sent = append(l.at, at), append(l.sent, sent) }

// flush puts a stream's chunks into the run's histograms.
func (r *run) flush(l *stampLog, errs *hdrhistogram.Histogram) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.from == 0 {
		l.at, l.sent = l.at[:0], l.sent[:0]
		return
	}
	n := int64(0)
	for i, at := range l.at {
		if at < r.from || at >= r.to {
			continue
		}
		n++
		if r.counting {
			continue
		}
		_ = errs.RecordValue(max(1, at-l.sent[i]))
		if i > 0 {
			d := (at - l.at[i-1]) - (l.sent[i] - l.sent[i-1])
			_ = r.gaps.RecordValue(max(1, max(d, -d)))
		}
	}
	r.total.Add(n)
	l.at, l.sent = l.at[:0], l.sent[:0]
}
