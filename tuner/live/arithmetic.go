package live

import (
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"

	"github.com/inferencebench/inferencebench/engines"
	"github.com/inferencebench/inferencebench/engines/launch"
	"github.com/inferencebench/inferencebench/sim"
	"github.com/inferencebench/inferencebench/tasks"
	"github.com/inferencebench/inferencebench/tuner/play"
	"github.com/inferencebench/inferencebench/tuner/prior"
	"github.com/inferencebench/inferencebench/tuner/space"
)

// memoryMargin is what the sums of a device's memory may be wrong by, as a share of it.
const memoryMargin = 0.1

// Server is what an assignment launches, as the simulator would run it. The error says what
// the real engine would refuse, or wraps prior.ErrNotPlayed where there is no telling.
func (s *Setup) Server(a space.Assignment) (play.Server, error) {
	if s.Known.Played == nil || s.Known.GPU == nil {
		why := slices.DeleteFunc([]string{s.Known.NoModel, s.Known.NoGPU}, func(s string) bool { return s == "" })
		return play.Server{}, fmt.Errorf("%w: %s", prior.ErrNotPlayed, strings.Join(why, ", and "))
	}
	settings := launch.Set(s.File.Command, s.Adapter.Knobs)
	for k, v := range a {
		settings[k] = v
	}
	return prior.Serve(s.Adapter.Name, settings, *s.Known.Played, *s.Known.GPU)
}

// rule adds to the space what arithmetic rules out: more devices than there are, heads that
// cannot be shared out, and a memory that does not hold weights and cache. A rule that would
// rule out the server as it is is wrong about it, and is left out.
func (s *Setup) rule(log *slog.Logger) {
	var rules []space.Constraint
	for _, name := range []string{"--tensor-parallel-size", "--tp-size"} {
		if m := s.Known.Shape; m != nil {
			rules = append(rules, space.Divides(s.Space.Value, name, m.Heads, "attention heads"))
		}
	}
	if n := s.Known.Devices; n > 0 {
		rules = append(rules, enough(s.Space.Value, launch.Set(s.File.Command, s.Adapter.Knobs), n))
	}
	if _, err := s.Server(nil); err == nil {
		rules = append(rules, space.KVBudget(space.Budget{
			Config:         func(a space.Assignment) (sim.Config, error) { return s.engine(a) },
			LongestRequest: s.File.longest(), Margin: memoryMargin,
		}))
	}
	for _, r := range rules {
		if err := r.Check(space.Assignment{}); err != nil {
			if log != nil {
				log.Warn("arithmetic that is wrong about the server as it is rules nothing out", "rule", r.Name, "it says", err)
			}
			continue
		}
		s.Space.Constraints = append(s.Space.Constraints, r)
	}
}

// engine is the engine of an assignment, for the sums of its memory; what cannot be told
// passes as the server as it is.
func (s *Setup) engine(a space.Assignment) (sim.Config, error) {
	srv, err := s.Server(a)
	if prior.NotPlayed(err) {
		srv, err = s.Server(nil)
	}
	return srv.Engine, err
}

// enough demands that there are devices for every rank.
func enough(look space.Lookup, command map[string]string, devices int) space.Constraint {
	return space.Constraint{Name: "devices", Check: func(a space.Assignment) error {
		n := 1
		for _, name := range []string{"--tensor-parallel-size", "--tp-size", "--pipeline-parallel-size", "--pp-size", "--data-parallel-size", "--dp-size"} {
			text, ok := look(a, name)
			if !ok {
				text = command[name]
			}
			if v, err := strconv.Atoi(text); err == nil && v > 0 && v < 1<<10 {
				n *= v
			}
		}
		if n > devices {
			return fmt.Errorf("it needs %d devices, and there are %d", n, devices)
		}
		return nil
	}}
}

// longest is prompt and answer of the longest request that the load is likely to have, in
// tokens; 0 where it cannot be told.
func (f *File) longest() int {
	in, err1 := tasks.ParseLength(f.Load.ISL)
	out, err2 := tasks.ParseLength(f.Load.OSL)
	if err1 != nil || err2 != nil || !in.Given() || !out.Given() {
		return 0
	}
	return in.Input().At(0.99) + out.Output().At(0.99)
}

// hostMemory is the guard of a launch: what its command is known to take of the host.
func (s *Setup) hostMemory(a *engines.Adapter, gpus bool) func(argv []string) (uint64, string) {
	return func(argv []string) (uint64, string) { return hostNeeds(argv, a, s.Known, gpus) }
}
