package live

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"time"

	"github.com/inferencebench/inferencebench/engines"
	"github.com/inferencebench/inferencebench/engines/launch"
	"github.com/inferencebench/inferencebench/tuner"
	"github.com/inferencebench/inferencebench/tuner/space"
)

// Local is a Control of a server as a process of this machine. Before a study nothing may
// listen at its address; after it nothing does again.
type Local struct {
	// Argv is the launch command as it is now, and URL where it makes the server listen.
	Argv    []string
	URL     string
	Adapter *engines.Adapter
	Machine launch.Machine
	// Header is sent with the question whether it is ready.
	Header http.Header
	// Logs is a folder that gets the server's output, one file a launch.
	Logs string
	// Timeout is how long a server may take to be ready; 0 is launch.DefaultTimeout.
	Timeout time.Duration
	// Over is the ssh command that reaches the machine of the server; empty is this machine.
	Over []string
	// Name is what containers are called, and Run stops them; see launch.Containerise.
	Name string
	Run  launch.Run
	// MinMemory is the host memory in bytes that a server must leave; 0 is no guard.
	MinMemory uint64

	running *launch.Process
	n       int
}

// Command implements Control. Where the assignment cannot be typed, it is the command as it is.
func (l *Local) Command(a space.Assignment) []string {
	argv, _, err := launch.Command(l.Argv, l.Adapter, a)
	if err != nil {
		return l.Argv
	}
	return argv
}

// Start implements Control.
func (l *Local) Start(ctx context.Context, a space.Assignment) (string, time.Duration, error) {
	l.stop()
	argv, env, err := launch.Command(l.Argv, l.Adapter, a)
	if err != nil {
		return "", 0, &Failure{Outcome: tuner.StartFailure, Reason: firstLine(err)}
	}
	l.n++
	argv, box := launch.Containerise(argv, fmt.Sprintf("%s-%d", l.Name, l.n), l.Run)
	guard := l.MinMemory
	if len(l.Over) > 0 {
		argv, env, guard = launch.Over(l.Over, env, argv), nil, 0 // this machine's memory says nothing of the other's
	}
	spec := launch.Spec{
		Argv: argv, Env: env, Base: l.URL, Ready: l.Adapter.Ready.Path, Header: l.Header, Timeout: l.Timeout, MinMemory: guard,
		Patterns: append(engines.CommonLogs(), l.Adapter.Logs...), Log: filepath.Join(l.Logs, fmt.Sprintf("launch-%03d.log", l.n)),
	}
	if box != nil && len(l.Over) == 0 {
		spec.Halt = box.Stop
	}
	p, err := launch.Start(ctx, spec, l.Machine)
	if err != nil {
		return "", 0, failureOf(err)
	}
	l.running = p
	return l.URL, p.Took(), nil
}

// failureOf turns a launch failure into one of this package.
func failureOf(err error) error {
	if f, ok := errors.AsType[*launch.Failure](err); ok {
		return &Failure{Outcome: tuner.Outcome(f.Kind), Reason: f.Reason, Took: f.After}
	}
	return err
}

// Alive implements Control.
func (l *Local) Alive() error {
	if l.running == nil {
		return &Failure{Outcome: tuner.Crash, Reason: "the server does not run"}
	}
	if err := l.running.Alive(); err != nil {
		return failureOf(err)
	}
	return nil
}

// Restore stops the server: before the study none ran.
func (l *Local) Restore(context.Context) error { l.stop(); return nil }

func (l *Local) stop() {
	if l.running != nil {
		l.running.Stop()
		l.running = nil
	}
}
