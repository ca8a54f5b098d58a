package probe

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/inferencebench/inferencebench/analyst/probe"
	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/campaign"
)

// play makes the load of one arm and reads what it showed.
func (p *prober) play(ctx context.Context, name string, a probe.Arm) (probe.Seen, error) {
	p.Said(fmt.Sprintf("%s: %s, for %s", name, a.Name, p.arm.Round(time.Second)))
	dir := filepath.Join(p.Run.Dir, Folder)
	c := p.campaignOf(name, dir, a)
	second := func() error { return nil }
	if a.Generators > 1 {
		for i := range c.Phases {
			ph := &c.Phases[i]
			ph.Rate /= float64(a.Generators)
			ph.Concurrency = (ph.Concurrency + 1) / a.Generators
		}
		var err error
		if second, err = p.second(ctx, c); err != nil {
			return probe.Seen{}, fmt.Errorf("%s: second load generator: %w", name, err)
		}
	}
	opts := campaign.Options{Log: p.Log, Getenv: p.Getenv, Tool: p.Tool}
	if a.Server == probe.DoubleCap {
		opts.SimulatedSeqs = 2 * campaign.SimulatedSeqs
	}
	begun := time.Now()
	res, err := campaign.Run(ctx, c, opts)
	if werr := second(); err == nil && werr != nil {
		err = werr
	}
	if err != nil {
		return probe.Seen{}, fmt.Errorf("%s: %w", name, err)
	}
	if res.Interrupted {
		return probe.Seen{}, fmt.Errorf("%s was interrupted: %s", name, res.Reason)
	}
	records, err := read(res.Dir)
	if err != nil {
		return probe.Seen{}, fmt.Errorf("%s: %w", name, err)
	}
	s := probe.See(a, records.requests, records.samples, records.from, records.to)
	if a.Generators > 1 { // the other generator did as much as this one
		k := float64(a.Generators)
		for _, v := range []*archive.Opt[float64]{&s.Requests, &s.Tokens} {
			if x, ok := v.Get(); ok {
				*v = archive.Some(k * x)
			}
		}
	}
	s.RTT = p.roundTrip(ctx, records.requests)
	s.Took, s.Run = time.Since(begun), filepath.Join(Folder, filepath.Base(res.Dir))
	return s, nil
}

// roundTrip is the median round trip in milliseconds: of /health where the server has an
// address of its own, else of the connections that the load opened.
func (p *prober) roundTrip(ctx context.Context, requests []*archive.Request) archive.Opt[float64] {
	if p.Config.Target.URL != "" {
		if d, err := p.Config.Target.RoundTrip(ctx, 9, p.Getenv); err == nil {
			return archive.Some(d.Seconds() * 1e3)
		}
	}
	var dials []int64
	for _, r := range requests {
		if d, ok := r.Conn.Dial.Get(); ok {
			dials = append(dials, d)
		}
	}
	if len(dials) == 0 {
		return archive.Opt[float64]{}
	}
	slices.Sort(dials)
	return archive.Some(float64(dials[len(dials)/2]) / 1e6)
}

// records are those of one arm, without texts.
type records struct {
	requests []*archive.Request
	samples  []*archive.Sample
	from, to archive.Instant
}

// maxRecords bounds what of an arm is held: an arm is seconds long.
const maxRecords = 200000

// read loads the records of an arm and its measured window.
func read(dir string) (records, error) {
	run, err := archive.Open(dir)
	if err != nil {
		return records{}, err
	}
	r := records{to: run.Manifest.Ended}
	for e, err := range run.Events() {
		if err != nil {
			return r, err
		}
		switch e.Kind {
		case archive.EventMeasureStart:
			r.from = e.T
		case archive.EventPhaseEnd:
			r.to = e.T
		}
	}
	for q, err := range run.Requests() {
		if err != nil {
			return r, err
		}
		if len(r.requests) == maxRecords {
			return r, fmt.Errorf("%s has more than %d requests", dir, maxRecords)
		}
		q.Text, q.Reasoning, q.ToolCalls = "", "", ""
		r.requests = append(r.requests, q)
	}
	for s, err := range run.Samples() {
		if err != nil {
			return r, err
		}
		r.samples = append(r.samples, s)
	}
	return r, nil
}
