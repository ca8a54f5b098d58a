package live

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/inferencebench/inferencebench/engines"
	"github.com/inferencebench/inferencebench/engines/launch"
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

// Command implements Control.
func (s *Sim) Command(a space.Assignment) []string {
	argv, err := s.command(a)
	if err != nil {
		return s.Argv
	}
	return argv
}

func (s *Sim) command(a space.Assignment) ([]string, error) {
	vllm, _ := engines.Lookup("vllm")
	argv, _, err := launch.Command(s.Argv, vllm, a)
	return argv, err
}

// Start implements Control.
func (s *Sim) Start(_ context.Context, a space.Assignment) (string, time.Duration, error) {
	from := s.Now()
	s.stop()
	argv, err := s.command(a)
	var l sim.Launch
	if err == nil {
		l, err = sim.ParseFlags(argv)
	}
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
