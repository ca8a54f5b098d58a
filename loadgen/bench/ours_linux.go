package main

import (
	"context"
	"sync"
	"time"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/loadgen/null"
	"github.com/inferencebench/inferencebench/loadgen/wire"
)

type oursConfig struct {
	engine wire.Engine
	user   bool
	drain  time.Duration
	async  bool // no goroutine for each stream
}

var (
	oursNetHTTP  = oursConfig{}
	oursUser     = oursConfig{user: true}
	oursLoop     = oursConfig{engine: wire.EngineEventLoop}
	oursLoopUser = oursConfig{engine: wire.EngineEventLoop, user: true}
	oursAsync    = oursConfig{engine: wire.EngineEventLoop, async: true}
	oursLazy     = oursConfig{engine: wire.EngineEventLoop, drain: time.Millisecond}
)

// ours runs our client, or two of them side by side on half of the streams each: the
// second's errors are kept apart.
func ours(configs ...oursConfig) client {
	return func(r *run) error {
		cs := make([]*wire.Client, len(configs))
		for i, cfg := range configs {
			c, err := wire.New(wire.Config{BaseURL: r.url, Model: "null", Clock: archive.ClockFunc(func() archive.Instant { return archive.Instant(r.clock.Now()) }), Engine: cfg.engine, UserStamps: cfg.user, Drain: cfg.drain})
			if err != nil {
				return err
			}
			defer c.Close()
			cs[i] = c
		}
		logs := make([]stampLog, r.streams)
		if configs[0].async {
			return r.standing(cs[0])
		}
		err := r.each(func(i int) error {
			which := i % len(cs)
			rec := &archive.Request{}
			cs[which].Do(context.Background(), &wire.Call{Prompt: "x"}, rec)
			r.record(rec, &logs[i], which)
			return nil
		})
		st := cs[0].Stats()
		r.lagP50, r.lagP99 = float64(st.LagP50.Or(0))/1e3, float64(st.LagP99.Or(0))/1e3
		r.coalesced = st.CoalescedShare().Or(0)
		return err
	}
}

var warnOnce sync.Once

// record takes a finished request.
func (r *run) record(rec *archive.Request, l *stampLog, which int) {
	if rec.Status != archive.StatusOK {
		r.fail.Add(1)
		warnOnce.Do(func() { println("bench: request failed:", rec.Error.Kind, rec.Error.Message) })
		return
	}
	if len(rec.Chunks.T) == 0 { // a reply that was not streamed
		if r.open.Load() == 1 {
			r.asked.Add(1)
		}
		return
	}
	if r.counting {
		for _, at := range rec.Chunks.T {
			l.at = append(l.at, int64(at))
		}
		r.flush(l, r.errs)
		return
	}
	sent, err := null.Stamps(rec.Text)
	if err != nil || len(sent) != len(rec.Chunks.T) {
		r.fail.Add(1)
		return
	}
	for i, at := range rec.Chunks.T {
		l.add(int64(at), sent[i])
	}
	errs := r.errs
	if which == 1 {
		errs = r.user
	}
	r.flush(l, errs)
}

// standing keeps all streams open without a goroutine for each, and drops the records.
func (r *run) standing(c *wire.Client) error {
	var wg sync.WaitGroup
	var again func()
	again = func() {
		rec := &archive.Request{}
		c.Start(context.Background(), &wire.Call{Prompt: "x"}, rec, func() {
			if rec.Status != archive.StatusOK {
				r.fail.Add(1)
			}
			if r.stop.Err() != nil {
				wg.Done()
				return
			}
			go again()
		})
	}
	for range r.streams {
		wg.Add(1)
		again()
	}
	wg.Wait()
	return nil
}
