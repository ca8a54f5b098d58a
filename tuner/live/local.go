package live

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
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
	// Study is the id of the study, which its containers are labelled with.
	Study string
	// MinMemory is the host memory in bytes that a server must leave; 0 is no guard. Needs is
	// what a command is known to take of it, and for what; nil knows nothing.
	MinMemory uint64
	Needs     func(argv []string) (bytes uint64, what string)
	// Note is told what happened beside the trials; nil is told nothing.
	Note func(text string)

	running *launch.Process
	n       int
	gpus    []uint64 // memory in use before the first start
}

// releaseTime is how long the memory of GPUs may take to be free after a server's end.
const releaseTime = time.Minute

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
	held, err := l.clear(ctx)
	if err != nil {
		return "", 0, err
	}
	l.n++
	guard, needs, what := l.MinMemory, uint64(0), ""
	if l.Needs != nil {
		needs, what = l.Needs(argv)
	}
	argv, box := launch.Containerise(argv, fmt.Sprintf("%s-%d", l.Name, l.n), l.Study, l.run())
	if len(l.Over) > 0 {
		argv, env, guard, needs = launch.Over(l.Over, env, argv), nil, 0, 0 // this machine's memory says nothing of the other's
	}
	spec := launch.Spec{
		Argv: argv, Env: env, Base: l.URL, Ready: l.Adapter.Ready.Path, Header: l.Header, Timeout: l.Timeout, MinMemory: guard, Needs: needs, For: what,
		Patterns: append(engines.CommonLogs(), l.Adapter.Logs...), Log: filepath.Join(l.Logs, fmt.Sprintf("launch-%03d.log", l.n)),
	}
	if box != nil {
		spec.Halt = box.Stop
	}
	p, err := launch.Start(ctx, spec, l.Machine)
	if err != nil {
		err = failureOf(err)
		if f, ok := errors.AsType[*Failure](err); ok && held > 0 {
			f.Reason += fmt.Sprintf(" (%d MiB of GPU memory of before were still held when it started)", held>>20)
		}
		return "", 0, err
	}
	l.running = p
	return l.URL, p.Took(), nil
}

// run executes commands on the machine of the server.
func (l *Local) run() launch.Run {
	if len(l.Over) > 0 {
		return launch.Through(l.Over, l.Run)
	}
	return l.Run
}

// clear makes room for a start: what this study left running when it was killed is stopped
// before the first, and the memory of GPUs is waited for before the others. It returns what of
// that is still held.
func (l *Local) clear(ctx context.Context) (held uint64, err error) {
	if l.n > 0 {
		if len(l.Over) > 0 {
			return 0, nil
		}
		return launch.Settle(ctx, l.Machine, l.gpus, releaseTime), nil
	}
	if program := launch.ContainerProgram(l.Argv); program != "" && l.Study != "" {
		ids, err := launch.Leftovers(ctx, program, l.Study, launch.DefaultGrace, l.run())
		if err != nil {
			return 0, err
		}
		if len(ids) > 0 && l.Note != nil {
			l.Note(fmt.Sprintf("stopped what this study left running when it was killed: container %s", strings.Join(ids, ", ")))
		}
	}
	if l.Machine.GPU != nil {
		if now, err := l.Machine.GPU(); err == nil {
			l.gpus = now
		}
	}
	return 0, nil
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
