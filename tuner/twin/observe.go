package twin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/inferencebench/inferencebench/analyst/probe"
	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/campaign"
	"github.com/inferencebench/inferencebench/tuner/live"
	"github.com/inferencebench/inferencebench/tuner/prior"
	"github.com/inferencebench/inferencebench/tuner/space"
)

// Name is the observer's, under which the journal keeps what it saw.
const Name = "steps"

// Sighting is what was seen of the default: the cost of its steps, and what it was sent.
type Sighting struct {
	// Steps is the cost of a decoding step; Prefill that of a prompt token for one user, in
	// seconds, 0 where it could not be told.
	Steps   prior.Steps `json:"steps"`
	Prefill float64     `json:"prefill_s,omitempty"`
	// Prompt and Output are the mean tokens of the default's own requests.
	Prompt float64 `json:"prompt_tokens"`
	Output float64 `json:"output_tokens"`
	// Requests is how many requests the costs rest on. Reason says why there are none; the rest
	// is then 0.
	Requests int    `json:"requests"`
	Reason   string `json:"reason,omitempty"`
}

// Observer measures the steps of the server as it is, once in a study: it implements
// live.Observer, and looks away at every other configuration.
type Observer struct {
	// Dir gets the run directory of the measurement.
	Dir string
	// Each is how long one user, a few and many are measured; Users is how many are many.
	Each  time.Duration
	Users int
	Seed  uint64
	Log   *slog.Logger
	Tool  archive.Tool

	done bool
}

// few is the users between one and many.
const few = 4

// answer is the tokens asked for: enough for the time a token, and short, so that many requests
// fit.
const answer = 24

// Name implements live.Observer.
func (*Observer) Name() string { return Name }

// Observe implements live.Observer.
func (o *Observer) Observe(ctx context.Context, s live.Server, config space.Assignment) (json.RawMessage, error) {
	if len(config) > 0 || o.done {
		return json.RawMessage("null"), nil
	}
	o.done = true
	seen, err := o.look(ctx, s)
	if err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		seen = Sighting{Reason: err.Error()}
	}
	return json.Marshal(seen)
}

func (o *Observer) look(ctx context.Context, s live.Server) (Sighting, error) {
	var seen Sighting
	own, err := archive.Open(s.Run)
	if err != nil {
		return seen, fmt.Errorf("the default's run: %w", err)
	}
	n := 0.0
	for r, err := range own.Requests() {
		in, ok1 := 0, false
		out, ok2 := 0, false
		if err == nil && r.Kind == archive.KindLoad && r.Status == archive.StatusOK {
			in, ok1 = r.Usage.Prompt.Get()
			out, ok2 = r.Usage.Completion.Get()
		}
		if ok1 && ok2 {
			n++
			seen.Prompt += float64(in)
			seen.Output += float64(out)
		}
	}
	if n == 0 {
		return seen, errors.New("the server tells no token counts")
	}
	seen.Prompt, seen.Output = seen.Prompt/n, seen.Output/n
	res, err := campaign.Run(ctx, o.campaign(s, seen.Prompt), campaign.Options{Log: o.Log, Getenv: s.Getenv, Tool: o.Tool})
	if err != nil {
		return seen, fmt.Errorf("the measurement of its steps: %w", err)
	}
	run, err := archive.Open(res.Dir)
	if err != nil {
		return seen, fmt.Errorf("the measurement of its steps: %w", err)
	}
	var points []probe.Point
	for r, err := range run.Requests() {
		if err == nil && r.Kind == archive.KindLoad {
			if p, ok := point(r); ok {
				points = append(points, p)
			}
		}
	}
	return seen, seen.read(points)
}

// read fits the costs to requests.
func (seen *Sighting) read(points []probe.Point) error {
	seen.Requests = len(points)
	value := map[string]float64{}
	reason := ""
	for _, f := range probe.Fits(points) {
		if v, ok := f.Value.Get(); ok {
			value[f.ID] = v
		} else if f.ID == "step_base" {
			reason = f.Reason
		}
	}
	if reason != "" {
		return fmt.Errorf("the cost of its steps could not be told: %s", reason)
	}
	// Milliseconds, and for the context milliseconds for each thousand tokens.
	seen.Steps = prior.Steps{Base: value["step_base"] / 1e3, Each: value["step_each"] / 1e3, Token: max(value["step_context"]/1e6, 0)}
	seen.Prefill = max(value["ttft_slope"]/1e6, 0)
	if !seen.Steps.Plausible() {
		return fmt.Errorf("the cost of its steps could not be told: %.3g ms, %.3g ms for each request and %.3g ms for 1,000 tokens of context are not those of a server", 1e3*seen.Steps.Base, 1e3*seen.Steps.Each, 1e6*seen.Steps.Token)
	}
	return nil
}

// campaign is the measurement: users who each send one short request after the other, with
// prompts from a quarter of the load's to twice as many tokens.
func (o *Observer) campaign(s live.Server, prompt float64) *campaign.Config {
	t := s.Target
	t.URL = s.URL
	w := campaign.Default().Workload
	prompt = min(max(prompt, 64), 2000)
	w.ISL, w.OSL, w.Turns, w.Think = fmt.Sprintf("uniform(%d,%d)", int(prompt/4), int(2*prompt)), fmt.Sprint(answer), "1", "0s"
	w.IgnoreEOS = true
	c := &campaign.Config{
		Name: Name, Seed: o.Seed ^ 0x57e9, Out: filepath.Join(o.Dir, Name), Target: t, Workload: w, NoCalibration: true,
		Monitor: campaign.Monitor{Interval: campaign.Duration(time.Second), MetricsURL: "none"},
	}
	for i, users := range []int{1, few, max(o.Users, 2*few)} {
		p := campaign.Phase{Name: []string{"one", "few", "many"}[i], Concurrency: users, Duration: campaign.Duration(o.Each), Drain: campaign.DefaultDrain}
		if i == 0 {
			p.Warmup = campaign.Warmup{Duration: o.Each / 5}
			p.Duration += campaign.Duration(o.Each / 5)
		}
		c.Phases = append(c.Phases, p)
	}
	c.Resolve()
	return c
}

// point is a request as the fits take it.
func point(r *archive.Request) (probe.Point, bool) {
	in, ok1 := r.Usage.Prompt.Get()
	out, ok2 := r.Usage.Completion.Get()
	if r.Status != archive.StatusOK || !ok1 || !ok2 || r.T.First <= r.T.Send {
		return probe.Point{}, false
	}
	p := probe.Point{Users: float64(r.InFlight.Or(1)), Prompt: float64(in), Output: float64(out), TTFT: r.T.First.Sub(r.T.Send).Seconds() * 1e3}
	if out > 1 && r.T.Last > r.T.First {
		p.TPOT = r.T.Last.Sub(r.T.First).Seconds() * 1e3 / float64(out-1)
	}
	return p, true
}
