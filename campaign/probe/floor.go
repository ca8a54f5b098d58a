package probe

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/inferencebench/inferencebench/analyst/probe"
	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/campaign"
)

// few is the number of users beside one that the cost of a step is fitted with.
const few = 4

// floor makes P0: one user, then a few, with prompts from a quarter of the run's length to
// twice it, and fits the constants of the server.
func (p *prober) floor(ctx context.Context) error {
	p.Said(fmt.Sprintf("%s: one user, then %d, for %s", floorProbe, min(few, p.ceiling()), (2 * p.arm).Round(time.Second)))
	begun := time.Now()
	c := p.campaignOf(floorProbe, filepath.Join(p.Run.Dir, Folder), probe.Arm{Concurrency: 1})
	mean := p.load.prompt
	if mean < 32 {
		mean = 256
	}
	c.Workload.ISL, c.Workload.Turns = fmt.Sprintf("uniform(%d,%d)", int(mean/4), int(2*mean)), "1"
	c.Workload.OSL, c.Workload.Think, c.Workload.SharedPrefix = "32", "0s", 0
	alone := c.Phases[0]
	alone.Name, alone.Concurrency = "one", 1
	phases := []campaign.Phase{alone}
	if n := min(few, p.ceiling()); n > 1 {
		together := alone
		together.Name, together.Concurrency, together.Warmup = "few", n, campaign.Warmup{} // the server is warm
		phases = append(phases, together)
	}
	c.Phases = phases
	res, err := campaign.Run(ctx, c, campaign.Options{Log: p.Log, Getenv: p.Getenv, Tool: p.Tool})
	if err != nil {
		return fmt.Errorf("%s: %w", floorProbe, err)
	}
	if res.Interrupted {
		return fmt.Errorf("%s was interrupted: %s", floorProbe, res.Reason)
	}
	all, err := read(res.Dir)
	if err != nil {
		return fmt.Errorf("%s: %w", floorProbe, err)
	}
	var points []probe.Point
	one := probe.Seen{Arm: probe.Arm{Name: "one user"}}
	var alones []*archive.Request
	var first, last archive.Instant
	for _, q := range all.requests {
		if q.Kind != archive.KindLoad || q.Phase != alone.Name && q.Phase != "few" {
			continue
		}
		if q.Phase == alone.Name {
			if len(alones) == 0 {
				first = q.T.Intended
			}
			first, last = min(first, q.T.Intended), max(last, q.T.Intended)
			alones = append(alones, q)
		}
		if pt, ok := point(q); ok {
			points = append(points, pt)
		}
	}
	rtt := p.roundTrip(ctx, all.requests)
	one = probe.See(one.Arm, alones, all.samples, first, last+1)
	one.Run, one.Took, one.RTT = filepath.Join(Folder, filepath.Base(res.Dir)), time.Since(begun), rtt
	p.out.Fits = append(probe.Fits(points), network(rtt), host(all.samples, first, last))
	answer := "Too few requests were answered to say."
	if t, ok := one.TTFT.Get(); ok {
		answer = fmt.Sprintf("Alone, a request has its first token after %.1f ms", t)
		if s, ok := one.TPOT.Get(); ok {
			answer += fmt.Sprintf(" and one more every %.1f ms", s)
		}
		answer += "."
	}
	p.out.Probes = append(p.out.Probes, archive.Experiment{
		Probe: floorProbe, Title: "one user", Answer: probe.Untested, Expected: "The floor that everything else is measured against.", Observed: answer, Arms: []archive.Arm{armOf(one)},
	})
	p.Said(floorProbe + ": " + answer)
	return nil
}

// point reads a request for the fits.
func point(q *archive.Request) (probe.Point, bool) {
	in, ok1 := q.Usage.Prompt.Get()
	out, ok2 := q.Usage.Completion.Get()
	if q.Status != archive.StatusOK || !ok1 || !ok2 || q.T.First <= q.T.Send {
		return probe.Point{}, false
	}
	pt := probe.Point{Users: float64(q.InFlight.Or(1)), Prompt: float64(in), Output: float64(out), TTFT: q.T.First.Sub(q.T.Send).Seconds() * 1e3}
	if out > 1 && q.T.Last > q.T.First {
		pt.TPOT = q.T.Last.Sub(q.T.First).Seconds() * 1e3 / float64(out-1)
	}
	return pt, true
}

func network(rtt archive.Opt[float64]) archive.Fit {
	f := archive.Fit{ID: "network_floor", Label: "Round trip", Unit: "ms", Value: rtt, Method: "median of GET /health, or of opening a connection"}
	if !rtt.Known() {
		f.Reason = "no round trip was measured"
	}
	return f
}

// host is the share of a lone request's time in which the GPU idles.
func host(samples []*archive.Sample, from, to archive.Instant) archive.Fit {
	f := archive.Fit{ID: "host_share", Label: "Time in which the GPU waits for the host, one user", Unit: "%", Method: "100 less the GPU's utilisation"}
	sum, n := 0.0, 0
	for _, s := range samples {
		if v, ok := s.Values["util_percent"]; ok && s.Source == archive.SourceGPU && s.T >= from && s.T <= to {
			sum += v
			n++
		}
	}
	if n < 3 {
		f.Reason = "the GPU's utilisation was not seen"
		return f
	}
	f.Value = archive.Some(max(0, 100-sum/float64(n)))
	return f
}
