package probe

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/inferencebench/inferencebench/analyst/probe"
	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/campaign"
)

// load is the load of the run that arms vary: that of the window under most load.
type load struct {
	users    int     // of a closed loop; 0 for an open one
	rate     float64 // sessions a second of an open loop
	arrival  string
	inFlight float64 // requests, by Little's law
	prompt   float64 // tokens, mean; 0 when unknown
	output   float64
}

// loadOf reads the load of a run's window under most load.
func loadOf(c *campaign.Config, a *archive.Analysis) (load, error) {
	var l load
	var win *archive.Window
	for i := range a.Windows {
		w := &a.Windows[i]
		if w.To > w.From && (win == nil || w.EffectiveConcurrency.Or(0) > win.EffectiveConcurrency.Or(0)) {
			win = w
		}
	}
	if win == nil {
		return l, errors.New("the run has no measured window: nothing can be compared with it")
	}
	l.inFlight = win.EffectiveConcurrency.Or(1)
	for _, p := range c.Phases {
		if p.Name == win.Phase && p.Trace == nil && p.Replay == nil {
			l.users, l.rate, l.arrival = p.Concurrency, p.Rate, p.Arrival
		}
	}
	if l.rate > 0 {
		l.users = 0
	} else if l.users == 0 { // a trace, a replay or a search: as many users as were in flight
		l.users = max(1, int(math.Round(l.inFlight)))
	}
	for _, m := range a.Metrics {
		if m.Scope != "all" && m.Scope != "phase:"+win.Phase {
			continue
		}
		switch m.ID {
		case "input_tokens", "prompt_tokens", "isl":
			l.prompt = m.Stats["mean"].Value.Or(l.prompt)
		case "output_tokens", "osl":
			l.output = m.Stats["mean"].Value.Or(l.output)
		}
	}
	return l, nil
}

// campaignOf is the campaign of one arm. It never offers more than the run did.
func (p *prober) campaignOf(name, dir string, a probe.Arm) *campaign.Config {
	c := *p.Config
	c.Name, c.Out = "probe-"+name, dir
	c.Scenario, c.Find, c.SLO, c.MaxErrorRate = campaign.Scenario{}, "", nil, nil
	c.Checkpoints = campaign.Checkpoints{}
	c.Agents = campaign.Agents{}
	c.NoCalibration = true
	c.Monitor.Page, c.Monitor.Traces = "", "" // the addresses are the run's own
	c.Monitor.Interval = campaign.Duration(min(time.Duration(c.Monitor.Interval), 500*time.Millisecond))
	p.n++
	c.Seed = p.Config.Seed + uint64(1000*p.n)
	factor := a.Load
	if factor == 0 {
		factor = 1
	}
	ph := campaign.Phase{Name: "main", Duration: campaign.Duration(p.arm), Drain: campaign.Duration(10 * time.Second), Warmup: campaign.Warmup{Duration: min(2*time.Second, p.arm/5)}}
	switch {
	case a.Concurrency > 0:
		ph.Concurrency = min(a.Concurrency, p.ceiling())
	case p.load.users > 0:
		ph.Concurrency = max(1, int(float64(p.load.users)*min(factor, 1)+0.5))
	default:
		ph.Rate, ph.Arrival = p.load.rate*min(factor, 1), p.load.arrival
	}
	c.Phases = []campaign.Phase{ph}
	if a.Input > 0 && a.Input != 1 {
		c.Workload.ISL = scaled(c.Workload.ISL, a.Input, p.load.prompt)
	}
	if a.Longest > 0 {
		c.Workload.ISL = fmt.Sprintf("uniform(%d,%d)", max(1, a.Longest/4), a.Longest)
	}
	if a.Repeat {
		c.Workload.SharedPrefix = max(1024, c.Workload.SharedPrefix)
	}
	return &c
}

// ceiling is how many users an arm may have at most: as many requests as were in flight.
func (p *prober) ceiling() int {
	return max(1, p.load.users, int(math.Round(p.load.inFlight)))
}

// scaled multiplies a length that is a plain number; another notation becomes the mean that
// was seen, multiplied.
func scaled(isl string, k, mean float64) string {
	if n, err := strconv.ParseFloat(isl, 64); err == nil {
		mean = n
	}
	if mean <= 0 {
		mean = 512
	}
	return strconv.Itoa(max(8, int(k*mean)))
}
