// Package prior expects something of configurations before any is measured: it plays them
// on the simulator with what is known of the server, its device, model and workload.
//
// The simulator's constants are those of kernels, not of this server, and its workload is a
// summary; the prior may therefore be wrong, in level and in rank. It is to be used as a
// mean that measurements correct, never as a result. Where the cost of this server's steps
// was probed, Calibrate brings the constants closer.
package prior

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"

	"github.com/inferencebench/inferencebench/sim"
	"github.com/inferencebench/inferencebench/tuner/play"
	"github.com/inferencebench/inferencebench/tuner/search"
	"github.com/inferencebench/inferencebench/tuner/space"
)

// Question is what the prior is asked.
type Question struct {
	Space *space.Space
	// Server is what an assignment launches, or why it would be refused.
	Server func(space.Assignment) (play.Server, error)
	// Load is the expected workload.
	Load play.Load
	// Value is the objective of the figures. Less is better unless Maximise.
	Value    func(play.Figures) float64
	Maximise bool
	// Slack is ln(metric/limit) of each constraint; the default's figures are given for limits
	// that are relative to it. nil: no constraints.
	Slack func(f, def play.Figures) []float64
	// Most bounds the points that are looked at; 0: space.Most. Larger spaces are sampled.
	Most int
	Seed uint64 // of that sampling
	// Workers play at the same time; 0: 1.
	Workers int
}

// Table holds what the prior expects. It implements search.Prior and is safe for concurrent
// use.
type Table struct {
	guesses map[string]search.Guess // by server
	servers map[string]string       // of each assignment that was looked at
	played  int
}

// Guess implements search.Prior.
func (t *Table) Guess(a space.Assignment) (search.Guess, bool) {
	g, ok := t.guesses[t.servers[a.Key()]]
	return g, ok
}

// Played is the number of different servers that were played.
func (t *Table) Played() int { return t.played }

// floor is how many times less than the best a value can be before it counts as this much
// less: a server that meets no limits at all has no logarithm.
const floor = 30

// Rank plays the space. Assignments that launch the same server are played once. The error
// says that the default would not start, or that ctx ended.
func Rank(ctx context.Context, q Question) (*Table, error) {
	if q.Most <= 0 {
		q.Most = space.Most
	}
	srv, err := q.Server(space.Assignment{})
	if err != nil {
		return nil, fmt.Errorf("prior: the default: %w", err)
	}
	def, err := play.Run(ctx, srv, q.Load)
	if err != nil {
		return nil, fmt.Errorf("prior: the default: %w", err)
	}
	t := &Table{guesses: map[string]search.Guess{}, servers: map[string]string{}}
	servers := map[string]play.Server{}
	var keys []string
	points := q.Space.All()
	if points == nil || len(points) > q.Most {
		points = q.Space.Sample(rand.New(rand.NewPCG(q.Seed, 0x9106)), q.Most)
	}
	for _, p := range points {
		a := q.Space.At(p)
		srv, err := q.Server(a)
		if err != nil {
			continue
		}
		k := identity(srv)
		t.servers[a.Key()] = k
		if _, ok := servers[k]; !ok {
			servers[k] = srv
			keys = append(keys, k)
		}
	}
	figures, err := playAll(ctx, keys, servers, q)
	if err != nil {
		return nil, err
	}
	most := 0.0
	for _, f := range figures {
		if f != nil && q.Maximise {
			most = max(most, q.Value(*f))
		}
	}
	score := func(f play.Figures) float64 {
		return math.Log(max(q.Value(f), most/floor, math.SmallestNonzeroFloat64))
	}
	base := score(def)
	for i, f := range figures {
		if f == nil {
			continue
		}
		g := search.Guess{Gain: score(*f) - base}
		if !q.Maximise {
			g.Gain = -g.Gain
		}
		if q.Slack != nil {
			g.Slack = q.Slack(*f, def)
		}
		t.guesses[keys[i]] = g
	}
	t.played = len(keys)
	return t, nil
}

// playAll returns the figures of each server, nil of those that would not start.
func playAll(ctx context.Context, keys []string, servers map[string]play.Server, q Question) ([]*play.Figures, error) {
	out := make([]*play.Figures, len(keys))
	workers := max(q.Workers, 1)
	errs := make([]error, workers)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := w; i < len(keys) && errs[w] == nil; i += workers {
				f, err := play.Run(ctx, servers[keys[i]], q.Load)
				switch {
				case play.Refused(err):
				case err != nil:
					errs[w] = fmt.Errorf("prior: %w", err)
				default:
					out[i] = &f
				}
			}
		})
	}
	wg.Wait()
	return out, errors.Join(errs...)
}

// identity is equal for servers that behave alike.
func identity(s play.Server) string {
	e := s.Engine.Resolved()
	e.Conditions = nil
	gpu, model := e.GPU.Name, e.Model.Name
	e.GPU, e.Model = sim.GPU{}, sim.Model{}
	return fmt.Sprintf("%s %s %+v %d %+v", gpu, model, e, s.Replicas, s.Frontend)
}
