package probe

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/inferencebench/inferencebench/analyst/probe"
	"github.com/inferencebench/inferencebench/archive"
)

// The time of an arm, and how long one may outlast the budget.
const (
	shortest = 6 * time.Second
	longest  = 30 * time.Second
	grace    = 10 * time.Second
)

// floorProbe is the id of the floor at concurrency 1, which is made first.
const floorProbe = "P0"

// ErrProduction is returned for a target that the user marked as production.
var ErrProduction = errors.New("the target is marked as production: probes add load to it; give --allow-load to make them")

// prober is one session of experiments.
type prober struct {
	Request
	load  load
	start time.Time
	arm   time.Duration
	n     int
	out   archive.Experiments
}

// Run makes the experiments, writes them into the run directory and returns them. The error
// is one of the request: a production target without leave, an unknown probe, a run that
// no load can be made like. A server that fails on the way and a cancelled context end the
// session early, and what was learnt until then is kept with the reason.
func Run(ctx context.Context, r Request) (*archive.Experiments, error) {
	if r.Config.Target.Production && !r.AllowLoad {
		return nil, ErrProduction
	}
	if r.Budget < 3*shortest {
		return nil, fmt.Errorf("a budget of %s is too short: give at least %s", r.Budget, 3*shortest)
	}
	if r.Log == nil {
		r.Log = slog.New(slog.DiscardHandler)
	}
	if r.Getenv == nil {
		r.Getenv = os.Getenv
	}
	if r.Said == nil {
		r.Said = func(string) {}
	}
	l, err := loadOf(r.Config, r.Analysis)
	if err != nil {
		return nil, err
	}
	chosen, floor, err := choose(r.Only, r.Analysis.Findings)
	if err != nil {
		return nil, err
	}
	p := &prober{Request: r, load: l, start: time.Now()}
	p.out = archive.Experiments{Run: r.Run.Manifest.ID, Made: p.start.UTC(), Budget: r.Budget.Seconds(), Probes: []archive.Experiment{}}
	p.arm = min(max(r.Budget/time.Duration(len(chosen)+4), shortest), longest)
	bounded, stop := context.WithTimeout(ctx, r.Budget+grace) // an arm that hangs is cut off
	defer stop()
	if err := p.session(bounded, chosen, floor); err != nil {
		p.out.Reason = err.Error()
		if bounded.Err() != nil && ctx.Err() == nil {
			p.out.Reason = fmt.Sprintf("the budget of %s ran out: %v; the server is slow, so give more with --budget", r.Budget, err)
		}
	} else if len(chosen) == 0 && len(r.Only) == 0 && r.Analysis.Verdict.State != archive.VerdictNone {
		p.out.Reason = "the run names no finding that an experiment could test: " + r.Analysis.Verdict.Headline
	}
	p.out.Spent = time.Since(p.start).Seconds()
	return &p.out, archive.WriteExperiments(r.Run.Dir, &p.out)
}

// choose returns the probes to make, and whether the floor is among them.
func choose(only []string, findings []archive.Finding) (out []probe.Probe, floor bool, err error) {
	if len(only) == 0 {
		for _, c := range probe.Choose(findings) {
			out = append(out, c.Probe)
		}
		return out, true, nil
	}
	var rest []string
	for _, id := range only {
		if strings.EqualFold(strings.TrimSpace(id), floorProbe) {
			floor = true
			continue
		}
		rest = append(rest, id)
	}
	out, unknown := probe.Lookup(rest)
	if len(unknown) > 0 {
		known := []string{floorProbe}
		for _, p := range probe.All() {
			known = append(known, p.ID)
		}
		return nil, false, fmt.Errorf("no probe %s: known are %s", strings.Join(unknown, ", "), strings.Join(known, ", "))
	}
	return out, floor, nil
}

// session makes the experiments until budget or server end. The error says why it ended
// early.
func (p *prober) session(ctx context.Context, chosen []probe.Probe, floor bool) error {
	if floor {
		if err := p.floor(ctx); err != nil {
			return err
		}
	}
	var base *probe.Seen
	for i := range chosen {
		x := &chosen[i]
		// The numbers of the arms follow from what ran; the control arm tells, once it was made.
		guess := probe.Seen{Running: archive.Some(p.load.inFlight), Prompt: archive.Some(p.load.prompt)}
		if base != nil {
			guess = *base
		}
		arms := x.Arms(guess)
		if why := p.cannot(arms); why != "" {
			p.record(x, probe.Outcome{Probe: x.ID, Cause: x.Cause, Answer: probe.Untested, Expected: x.Expected, Observed: why})
			continue
		}
		need := time.Duration(len(arms)) * p.arm
		if base == nil {
			need += p.arm
		}
		if time.Since(p.start)+need > p.Budget+p.arm/2 {
			p.record(x, probe.Outcome{Probe: x.ID, Cause: x.Cause, Answer: probe.Untested, Expected: x.Expected, Observed: "The time budget was used up before it."})
			continue
		}
		if base == nil {
			s, err := p.play(ctx, "control", probe.Arm{Name: "the run's own load"})
			if err != nil {
				return err
			}
			base = &s
			arms = x.Arms(s)
		}
		seen := []probe.Seen{*base}
		for _, a := range arms {
			s, err := p.play(ctx, x.ID, a)
			if err != nil {
				return err
			}
			seen = append(seen, s)
		}
		o := x.Judge(seen)
		p.Said(fmt.Sprintf("%s about %s: %s. %s", x.ID, x.Cause, o.Answer, o.Observed))
		p.record(x, o)
	}
	return nil
}

// cannot says why the arms cannot be made here, with what to do; "" when they can.
func (p *prober) cannot(arms []probe.Arm) string {
	for _, a := range arms {
		switch {
		case a.Server == probe.DoubleCap && p.Config.Target.URL == "":
		case a.Server != "":
			return fmt.Sprintf("It needs a change of the server: %s, then run the same load again and compare.", instructions[a.Server])
		case a.Generators > 1 && (p.Self == "" || p.Config.Target.URL == ""):
			return "It needs a second load generator beside a server of its own; the embedded engine has none."
		}
	}
	return ""
}

// instructions say how to make the change of a server.
var instructions = map[probe.Change]string{
	probe.DoubleCap: "double the cap on running requests (vLLM --max-num-seqs, SGLang --max-running-requests, llama.cpp --parallel)",
	probe.LeanHost:  "give the engine free CPU cores and captured graphs (vLLM without --enforce-eager), or serve a smaller model",
	probe.HalfTP:    "halve the tensor parallelism (vLLM --tensor-parallel-size)",
	probe.FullClock: "let the GPU cool down and set its power limit to the maximum",
	probe.NoDrafts:  "switch speculative decoding off (vLLM without --speculative-config)",
	probe.Alone:     "stop every other program on the GPU",
	probe.Uniform:   "send prompts of one domain (run --tasks code=1)",
}

func (p *prober) record(x *probe.Probe, o probe.Outcome) {
	e := archive.Experiment{Probe: x.ID, Title: x.Title, Cause: x.Cause, Answer: o.Answer, Expected: o.Expected, Observed: o.Observed}
	for _, s := range o.Arms {
		e.Arms = append(e.Arms, armOf(s))
	}
	p.out.Probes = append(p.out.Probes, e)
}

func armOf(s probe.Seen) archive.Arm {
	return archive.Arm{Name: s.Arm.Name, Run: s.Run, OK: s.OK, Failed: s.Failed, TTFT: s.TTFT, TPOT: s.TPOT, Requests: s.Requests}
}
