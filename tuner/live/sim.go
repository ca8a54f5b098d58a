package live

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/inferencebench/inferencebench/sim"
	"github.com/inferencebench/inferencebench/sim/server"
	"github.com/inferencebench/inferencebench/tuner"
	"github.com/inferencebench/inferencebench/tuner/space"
)

// Sim is a Control of the simulated engine inside this program. Its zero Argv serves the
// simulation's own default.
type Sim struct {
	// Argv is the launch command under vLLM's names.
	Argv []string
	// Speed, Answers and Accuracy are the server's.
	Speed    float64
	Answers  func(prompt string) (string, bool)
	Accuracy float64
	Seed     uint64
	// Noise is the engine's own: sigma of the factor on a step's time.
	Noise float64
	// Now reads a monotonic clock.
	Now func() time.Time

	running *server.Server
}

// Command is the launch command with the assignment's flags.
func (s *Sim) Command(a space.Assignment) []string { return WithFlags(s.Argv, a) }

// Start implements Control.
func (s *Sim) Start(_ context.Context, a space.Assignment) (string, time.Duration, error) {
	from := s.Now()
	s.stop()
	l, err := sim.ParseFlags(s.Command(a))
	if err != nil {
		return "", 0, &Failure{Outcome: tuner.StartFailure, Reason: firstLine(err), Took: s.Now().Sub(from)}
	}
	l.Config.Seed, l.Config.StepNoise = s.Seed, s.Noise
	srv, err := server.New(server.Config{
		Sim: l.Config, ModelName: l.ModelName, Key: l.Key, Replicas: l.Replicas, Speed: s.Speed, Answers: s.Answers, Accuracy: s.Accuracy,
	})
	if err != nil {
		f := &Failure{Outcome: tuner.StartFailure, Reason: firstLine(err), Took: s.Now().Sub(from)}
		if errors.Is(err, sim.ErrOutOfMemory) {
			f.Outcome = tuner.OOM
		}
		return "", 0, f
	}
	url, err := srv.Start("127.0.0.1:0")
	if err != nil {
		return "", 0, errors.Join(err, srv.Close())
	}
	s.running = srv
	return url, s.Now().Sub(from), nil
}

// firstLine is an error's first line.
func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

// Alive implements Control: the simulation does not end by itself.
func (s *Sim) Alive() error { return nil }

// Restore stops the simulation: nothing ran before.
func (s *Sim) Restore(context.Context) error { return s.stop() }

func (s *Sim) stop() error {
	if s.running == nil {
		return nil
	}
	err := s.running.Close()
	s.running = nil
	return err
}

// WithFlags is a launch command with an assignment's flags in place of those that it has of
// the same names. A switch is written alone: --name for true, and --no-name for false.
func WithFlags(argv []string, a space.Assignment) []string {
	names := make([]string, 0, len(a))
	for n := range a {
		names = append(names, n)
	}
	slices.Sort(names)
	out := slices.Clone(argv)
	for _, n := range names {
		out = without(out, n)
		switch a[n] {
		case "true":
			out = append(out, n)
		case "false":
			out = append(out, "--no-"+strings.TrimPrefix(n, "--"))
		default:
			out = append(out, n, a[n])
		}
	}
	return out
}

// without removes a flag, its value and its negation.
func without(argv []string, name string) []string {
	var out []string
	for i := 0; i < len(argv); i++ {
		flag, _, joined := strings.Cut(argv[i], "=")
		switch {
		case flag == "--no-"+strings.TrimPrefix(name, "--"):
		case flag != name:
			out = append(out, argv[i])
		case !joined && i+1 < len(argv) && !strings.HasPrefix(argv[i+1], "-"):
			i++
		}
	}
	return out
}
