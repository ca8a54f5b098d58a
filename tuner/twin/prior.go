package twin

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/inferencebench/inferencebench/analyst/slo"
	"github.com/inferencebench/inferencebench/sim"
	"github.com/inferencebench/inferencebench/sim/offline"
	"github.com/inferencebench/inferencebench/tasks"
	"github.com/inferencebench/inferencebench/tuner"
	"github.com/inferencebench/inferencebench/tuner/live"
	"github.com/inferencebench/inferencebench/tuner/play"
	"github.com/inferencebench/inferencebench/tuner/prior"
	"github.com/inferencebench/inferencebench/tuner/search"
	"github.com/inferencebench/inferencebench/tuner/space"
)

// Twin gives a study what the simulator expects. It is safe for concurrent use.
type Twin struct {
	setup  *live.Setup
	ctx    context.Context
	say    func(string)
	value  func(slo.Env) (float64, bool)
	slos   []*slo.Expr
	limits []slo.Limit

	mu     sync.Mutex
	note   string
	absent bool
}

// Settings of a twin: how many points of a space it is asked about before the search begins,
// how many requests a play should have, and how far its default may be from the measured one, in
// natural logarithms.
const (
	sample   = 500
	requests = 300
	likeness = 0.7 // a factor of two
)

// New returns the twin of a study's server. say is told what becomes of it; nil is told
// nothing. What is known to be missing is in Note at once, and Absent is true.
func New(ctx context.Context, s *live.Setup, say func(string)) *Twin {
	t := &Twin{setup: s, ctx: ctx, say: say}
	if say == nil {
		t.say = func(string) {}
	}
	if err := t.prepare(); err != nil {
		t.none(err.Error())
		return t
	}
	t.note = fmt.Sprintf("the simulator, once it is calibrated on the default: %s on %s", s.Known.Played.Name, s.Known.GPU.Label)
	return t
}

// Absent reports whether there is, or will be, no expectation.
func (t *Twin) Absent() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.absent
}

// Note says what the expectations rest on, or why there are none: the end of a sentence.
func (t *Twin) Note() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.note
}

func (t *Twin) none(reason string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.absent, t.note = true, "none: "+reason
}

// prepare finds what can be known before anything is measured.
func (t *Twin) prepare() error {
	s := t.setup
	if s.File.Strategy != live.StrategyLoop {
		return fmt.Errorf("the search %s asks for none", s.File.Strategy)
	}
	if _, err := s.Server(nil); err != nil {
		return fmt.Errorf("%s", strings.TrimPrefix(firstLine(err), prior.ErrNotPlayed.Error()+": "))
	}
	var err error
	if t.value, err = live.Measure(s.Study.Goal.Metric); err != nil {
		return err
	}
	for _, text := range s.Study.Constraints {
		e, err := slo.Parse(text)
		if err != nil {
			return err
		}
		limits, _ := e.Limits()
		t.slos, t.limits = append(t.slos, e), append(t.limits, limits...)
	}
	if s.Study.Goal.Metric == "joules_per_token" || s.Study.Goal.Metric == "energy_per_token" {
		return fmt.Errorf("the simulator tells no energy per token")
	}
	_, err = t.load(Sighting{})
	return err
}

// load is the study's traffic as it is played; outputs are as long as those that were seen.
func (t *Twin) load(seen Sighting) (play.Load, error) {
	l := t.setup.File.Load
	in, err1 := tasks.ParseLength(l.ISL)
	out, err2 := tasks.ParseLength(l.OSL)
	turns, err3 := tasks.ParseLength(l.Turns)
	think, err4 := tasks.ParsePause(l.Think)
	for _, err := range []error{err1, err2, err3, err4} {
		if err != nil {
			return play.Load{}, err
		}
	}
	if !in.Given() || !out.Given() {
		return play.Load{}, fmt.Errorf("the lengths of the load are not known")
	}
	draw := func(d tasks.Length, scale float64) offline.Lengths {
		return func(rng *rand.Rand) int { return max(1, int(math.Round(scale*float64(d.Draw(rng))))) }
	}
	scale := 1.0
	if planned := mean(out.Output()); seen.Output > 0 && planned > 0 {
		scale = seen.Output / planned
	}
	shape := offline.Shape{
		Task: "load", Input: draw(in.Input(), 1), Output: draw(out.Output(), scale), Shared: l.SharedPrefix,
		Think: func(rng *rand.Rand) time.Duration {
			return time.Duration(float64(think.Median) * math.Exp(think.Sigma*rng.NormFloat64()))
		},
	}
	if turns.Given() {
		shape.Turns = draw(turns, 1)
	}
	return play.Load{Shape: shape, Rate: l.Rate, Users: l.Concurrency, Seed: 77, Samples: true}, nil
}

func mean(l tasks.Length) float64 {
	const n = 200
	sum := 0.0
	for i := range n {
		sum += float64(l.At((float64(i) + 0.5) / n))
	}
	return sum / n
}

// Learn makes the opinion that a search begins with, of the default's trials; nil where there
// is none, and Note then says why. It plays some hundred configurations, which takes seconds to
// a minute.
func (t *Twin) Learn(history []tuner.Trial) *search.Opinion {
	if t.Absent() {
		return nil
	}
	o, note, err := t.learn(history)
	if err != nil {
		t.none(err.Error())
	} else {
		t.mu.Lock()
		t.note = note
		t.mu.Unlock()
	}
	t.say(t.Note())
	return o
}

func (t *Twin) learn(history []tuner.Trial) (*search.Opinion, string, error) {
	var def *tuner.Trial
	var seen Sighting
	for i := range history {
		h := &history[i]
		if raw, ok := h.Observed[Name]; ok && h.Role == tuner.RoleDefault && h.Outcome == tuner.OK {
			if err := json.Unmarshal(raw, &seen); err != nil {
				return nil, "", fmt.Errorf("what was seen of the default's steps cannot be read: %w", err)
			}
			def = h
			break
		}
	}
	switch {
	case def == nil:
		return nil, "", fmt.Errorf("the default's steps were not measured")
	case seen.Reason != "":
		return nil, "", fmt.Errorf("%s", seen.Reason)
	case !seen.Steps.Plausible():
		return nil, "", fmt.Errorf("the default's steps were not measured")
	}
	base, err := t.setup.Server(nil)
	if err != nil {
		return nil, "", err
	}
	cal, err := prior.CalibratePrefill(t.ctx, prior.Calibrate(base.Engine, seen.Steps), seen.Prefill)
	if err != nil {
		return nil, "", err
	}
	if off := residual(cal, seen.Steps); off > 0.15 {
		return nil, "", fmt.Errorf("the simulator cannot be brought to this server: calibrated, its steps are still %.0f %% off", 100*off)
	}
	return t.consult(def, cal, seen)
}

// residual is how far the steps of an engine are from those that were measured, as a share.
func residual(e sim.Config, s prior.Steps) float64 {
	worst := 0.0
	for _, n := range []int{1, few} {
		want := s.At(n, 512)
		worst = math.Max(worst, math.Abs(sim.DecodeTime(e, n, 512).Seconds()-want)/want)
	}
	return worst
}

// consult opens the prior and asks it.
func (t *Twin) consult(def *tuner.Trial, cal sim.Config, seen Sighting) (*search.Opinion, string, error) {
	load, err := t.load(seen)
	if err != nil {
		return nil, "", err
	}
	value := func(f play.Figures) float64 {
		v, ok := t.value(env(f, t.limits, t.setup.Study.USDHour))
		if !ok {
			return math.NaN()
		}
		return v
	}
	q := prior.Question{
		Space: t.setup.Space, Maximise: t.setup.Study.Goal.Maximise, Load: load, Value: value,
		Server: func(a space.Assignment) (play.Server, error) { return t.server(a, cal) },
		Slack: func(f, _ play.Figures) []float64 {
			e := env(f, t.limits, t.setup.Study.USDHour)
			out := make([]float64, len(t.slos))
			for i, x := range t.slos {
				if s, ok, _ := x.Slack(e); ok {
					out[i] = s
				}
			}
			return out
		},
	}
	srv, err := q.Server(nil)
	if err != nil {
		return nil, "", err
	}
	q.Load.Time = 10 * time.Second
	short, err := play.Run(t.ctx, srv, q.Load)
	if err != nil {
		return nil, "", fmt.Errorf("the simulator does not start the default: %s", firstLine(err))
	}
	q.Load.Time = time.Duration(min(max(requests/max(short.Rate, 0.1), 10), 60)) * time.Second
	od, err := prior.Open(t.ctx, q)
	if err != nil {
		return nil, "", err
	}
	expects, measured := value(od.Default()), def.Value.Or(math.NaN())
	if off := math.Abs(math.Log(expects / measured)); !(off <= likeness) {
		return nil, "", fmt.Errorf("the simulator, calibrated, plays the default at %s where %s was measured", figure(expects), figure(measured))
	}
	o := search.Sound(t.setup.Space, od, sample, func(batch []space.Assignment) { ahead(od, batch) })
	if t.ctx.Err() != nil {
		return nil, "", context.Cause(t.ctx)
	}
	note := fmt.Sprintf("the simulator, calibrated on the default: a step is %.2f ms alone and %.2f ms for %d requests; it plays the default at %s where %s was measured; %d servers were played",
		1e3*seen.Steps.At(1, 512), 1e3*seen.Steps.At(32, 512), 32, figure(expects), figure(measured), od.Played())
	return o, note, nil
}

// ahead asks about several points at once, so that the answers are there.
func ahead(p search.Prior, batch []space.Assignment) {
	var wg sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for w := range workers {
		wg.Go(func() {
			for i := w; i < len(batch); i += workers {
				p.Guess(batch[i])
			}
		})
	}
	wg.Wait()
}

// server is what an assignment launches, with the constants of the calibrated engine.
func (t *Twin) server(a space.Assignment, cal sim.Config) (play.Server, error) {
	srv, err := t.setup.Server(a)
	if err != nil {
		return srv, err
	}
	e := srv.Engine
	e.GPU.K16, e.GPU.K8 = cal.GPU.K16, cal.GPU.K8
	e.HostBase, e.HostPerSeq = cal.HostBase, cal.HostPerSeq
	srv.Engine = e
	return srv, nil
}

// figure is a value with three digits or more, without an exponent where it is large.
func figure(v float64) string {
	if math.Abs(v) >= 1000 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}
