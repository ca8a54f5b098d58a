package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/campaign"
	"github.com/inferencebench/inferencebench/report"
)

// plainEvery is how often progress is printed where there is no terminal to redraw.
const plainEvery = 5 * time.Second

// progress shows a run while it goes on: a status line that is redrawn on a terminal,
// and plain lines elsewhere. It reads counters; it never touches the send path.
type progress struct {
	w     io.Writer
	quiet bool
	width int
	tty   bool

	started bool
	quit    chan struct{}
	done    chan struct{}
}

func newProgress(o *output) *progress {
	p := &progress{w: o.msg, quiet: o.quiet, quit: make(chan struct{}), done: make(chan struct{})}
	p.width, p.tty = isTerminal(o.msg)
	return p
}

// start is called once the server answered and the run directory exists.
func (p *progress) start(s campaign.Start) {
	if p.quiet {
		return
	}
	fmt.Fprintln(p.w, banner(s))
	p.started = true
	go p.loop(s)
}

// stop ends the display. It may be called without a start.
func (p *progress) stop() {
	if !p.started {
		return
	}
	close(p.quit)
	<-p.done
}

// note prints a line between two states of the status line.
func (p *progress) note(msg string) {
	switch {
	case p.quiet:
	case p.tty:
		fmt.Fprint(p.w, "\r\x1b[K"+msg+"\n")
	default:
		fmt.Fprintln(p.w, msg)
	}
}

// banner says what is about to be measured.
func banner(s campaign.Start) string {
	var b strings.Builder
	m := s.Manifest
	if m.Simulated {
		b.WriteString("SIMULATION: the embedded simulated engine, not a real server. Use --url for yours.\n")
	}
	fmt.Fprintf(&b, "Target:  %s  (%s, model %s)\n", m.Server.URL, engineName(m.Server), m.Server.Model)
	if s.Config.Find != "" {
		fmt.Fprintf(&b, "Search:  %s within %s\n", s.Config.Find, strings.Join(s.Config.SLO, " && "))
	}
	if s.Config.Scenario.Name != "" {
		fmt.Fprintf(&b, "Traffic: scenario %s\n", s.Config.Scenario.Name)
	}
	for _, ph := range s.Config.Phases {
		if s.Config.Find != "" {
			break
		}
		fmt.Fprintf(&b, "Phase:   %s: %s, %s\n", ph.Name, ph.Load(), extent(ph))
	}
	for _, n := range m.Notes {
		fmt.Fprintf(&b, "Note:    %s\n", n.Message)
	}
	fmt.Fprintf(&b, "Records: %s", s.Dir)
	return report.Visible(b.String()) // names and notes come from the server
}

func engineName(s archive.Server) string {
	if s.Version != "" {
		return s.Engine + " " + s.Version
	}
	return s.Engine
}

// extent says when a phase ends.
func extent(p campaign.Phase) string {
	var parts []string
	if p.Duration > 0 {
		parts = append(parts, time.Duration(p.Duration).String())
	}
	if p.Requests > 0 {
		parts = append(parts, fmt.Sprintf("%d requests", p.Requests))
	}
	if len(parts) == 0 {
		return "to its end"
	}
	return strings.Join(parts, " or ")
}

func (p *progress) loop(s campaign.Start) {
	defer close(p.done)
	every := plainEvery
	if p.tty {
		every = progressEvery
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	var m meter
	m.line(s) // the mark that the first rate is measured from
	for {
		select {
		case <-p.quit:
			if p.tty {
				fmt.Fprint(p.w, "\r\x1b[K")
			}
			return
		case <-tick.C:
		}
		line := m.line(s)
		if p.tty {
			if p.width > 0 && len(line) >= p.width {
				line = line[:p.width-1]
			}
			fmt.Fprint(p.w, "\r\x1b[K"+line)
		} else {
			fmt.Fprintln(p.w, line)
		}
	}
}

// meter turns counters into rates over the last few seconds.
type meter struct {
	marks []mark
}

type mark struct {
	at           archive.Instant
	done, tokens int64
}

// meterSpan is the time that a shown rate is averaged over.
const meterSpan = 5 * time.Second

func (m *meter) line(s campaign.Start) string {
	now := s.Clock.Now()
	l := s.Live
	m.marks = append(m.marks, mark{now, l.OK.Load(), l.OutputTokens.Load()})
	for len(m.marks) > 2 && now.Sub(m.marks[1].at) >= meterSpan {
		m.marks = m.marks[1:]
	}
	first, last := m.marks[0], m.marks[len(m.marks)-1]
	rate, tokens := 0.0, 0.0
	if dt := last.at.Sub(first.at).Seconds(); dt > 0 {
		rate, tokens = float64(last.done-first.done)/dt, float64(last.tokens-first.tokens)/dt
	}
	phase, since := s.Phase()
	elapsed := time.Duration(0)
	if since.Known() {
		elapsed = now.Sub(since).Round(time.Second)
	}
	return fmt.Sprintf("%-10s %5s  open %-4d ok %-6d failed %-4d  %5.1f req/s  %7.0f tok/s",
		phase, elapsed, l.InFlight.Load(), l.OK.Load(), l.Failed.Load(), rate, tokens)
}
