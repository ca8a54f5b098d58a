package live

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/inferencebench/inferencebench/campaign"
	"github.com/inferencebench/inferencebench/engines"
	"github.com/inferencebench/inferencebench/engines/launch"
	"github.com/inferencebench/inferencebench/tuner"
	"github.com/inferencebench/inferencebench/tuner/space"
)

// How servers are started.
const (
	LaunchProcess    = "process"    // as a process of this machine; a `docker run` command is one too
	LaunchSSH        = "ssh"        // on another machine, through ssh
	LaunchKubernetes = "kubernetes" // by changing a container's arguments in place
	LaunchAsk        = "ask"        // by the user, who is told what to change
)

// Launcher says how the server is started and stopped.
type Launcher struct {
	// Kind is one of the kinds above; empty is process.
	Kind string `yaml:"kind" json:"kind,omitempty"`
	// SSH is the command that reaches the other machine, such as [ssh, -tt, gpu1].
	SSH []string `yaml:"ssh" json:"ssh,omitempty"`
	// Kubectl is the command of Kubernetes, empty for kubectl; Workload is such as
	// deployment/vllm, and Container may be empty where it has one.
	Kubectl   []string `yaml:"kubectl" json:"kubectl,omitempty"`
	Namespace string   `yaml:"namespace" json:"namespace,omitempty"`
	Workload  string   `yaml:"workload" json:"workload,omitempty"`
	Container string   `yaml:"container" json:"container,omitempty"`
}

func (l *Launcher) validate(f *File, add func(field, format string, a ...any)) {
	switch l.Kind {
	case "", LaunchProcess, LaunchAsk:
	case LaunchSSH:
		if len(l.SSH) < 2 {
			add("launcher.ssh", "how is the other machine reached? Give the command, such as [ssh, -tt, gpu1]")
		}
	case LaunchKubernetes:
		if l.Workload == "" {
			add("launcher.workload", "which workload serves the model? Give its name, such as deployment/vllm")
		}
	default:
		add("launcher.kind", "%q is none of process, ssh, kubernetes and ask", l.Kind)
	}
	if l.Kind != "" && f.Simulate {
		add("launcher.kind", "%q starts a server, and simulate asks for none", l.Kind)
	}
}

// workload is the Kubernetes workload of a File.
func (f *File) workload(run launch.Run) *launch.Workload {
	l := f.Launcher
	w := &launch.Workload{Kubectl: l.Kubectl, Namespace: l.Namespace, Name: l.Workload, Container: l.Container, Run: run, Patterns: engines.CommonLogs()}
	if a, ok := engines.Lookup(f.Engine); ok {
		w.Patterns = append(w.Patterns, a.Logs...)
	}
	return w
}

// Pods is a Control of a Kubernetes workload: a trial changes the arguments of its
// container, and Restore brings back those that it had.
type Pods struct {
	Workload *launch.Workload
	Argv     []string // the container's arguments as they are now
	URL      string
	Adapter  *engines.Adapter
	Machine  launch.Machine
	Header   http.Header
	Timeout  time.Duration
}

// Command is the container's arguments under an assignment.
func (p *Pods) Command(a space.Assignment) []string {
	argv, env, err := launch.Command(p.Argv, p.Adapter, a)
	if err != nil {
		return p.Argv
	}
	return slices.Concat(env, argv)
}

// Start implements Control.
func (p *Pods) Start(ctx context.Context, a space.Assignment) (string, time.Duration, error) {
	from := p.Machine.Now()
	argv, env, err := launch.Command(p.Argv, p.Adapter, a)
	if err != nil {
		return "", 0, &Failure{Outcome: tuner.StartFailure, Reason: firstLine(err)}
	}
	if err := p.Workload.Set(ctx, argv, env, p.Timeout); err != nil {
		return "", 0, failureOf(err)
	}
	if err := launch.Await(ctx, p.Machine, p.URL, p.Adapter.Ready.Path, p.Header, p.Timeout); err != nil {
		return "", 0, failureOf(err)
	}
	return p.URL, p.Machine.Now().Sub(from), nil
}

// Alive implements Control. A container that ended under load is started again by the cluster,
// so that the cluster is asked, too.
func (p *Pods) Alive() error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := p.Workload.Ended(ctx); err != nil {
		return failureOf(err)
	}
	return alive(p.Machine, p.URL, p.Adapter, p.Header)
}

// Restore implements Control.
func (p *Pods) Restore(ctx context.Context) error { return p.Workload.Restore(ctx, p.Timeout) }

// alive asks a server that somebody else holds whether it is ready.
func alive(m launch.Machine, url string, a *engines.Adapter, header http.Header) error {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := launch.Await(ctx, m, url, a.Ready.Path, header, 15*time.Second); err != nil {
		return &Failure{Outcome: tuner.Crash, Reason: "the server no longer answers: " + firstLine(err)}
	}
	return nil
}

// Ask is a Control that starts nothing: it tells the user what to start and waits.
type Ask struct {
	Argv    []string
	URL     string
	Adapter *engines.Adapter
	Machine launch.Machine
	Header  http.Header
	Timeout time.Duration
	Out     io.Writer
	In      *bufio.Reader
}

// Command implements Control.
func (k *Ask) Command(a space.Assignment) []string {
	argv, env, err := launch.Command(k.Argv, k.Adapter, a)
	if err != nil {
		return k.Argv
	}
	return slices.Concat(env, argv)
}

// Start implements Control. The user answers with an empty line once the server runs, or
// with "fail" and a reason where it does not start.
func (k *Ask) Start(ctx context.Context, a space.Assignment) (string, time.Duration, error) {
	from := k.Machine.Now()
	fmt.Fprintf(k.Out, "\nStart the server at %s with this command, in place of the one that runs:\n\n  %s\n\nPress Enter when it is up, or type: fail REASON\n", k.URL, words(k.Command(a)))
	line, err := k.line(ctx)
	if err != nil {
		return "", 0, err
	}
	if reason, ok := strings.CutPrefix(line, "fail"); ok {
		f := &Failure{Outcome: tuner.StartFailure, Reason: "reported by the user: " + strings.TrimSpace(reason), Took: k.Machine.Now().Sub(from)}
		if strings.Contains(strings.ToLower(reason), "memory") || strings.Contains(strings.ToLower(reason), "oom") {
			f.Outcome = tuner.OOM
		}
		return "", 0, f
	}
	if err := launch.Await(ctx, k.Machine, k.URL, k.Adapter.Ready.Path, k.Header, k.Timeout); err != nil {
		return "", 0, failureOf(err)
	}
	return k.URL, k.Machine.Now().Sub(from), nil
}

// line reads one line of the user's, or ends with ctx.
func (k *Ask) line(ctx context.Context) (string, error) {
	type answer struct {
		line string
		err  error
	}
	got := make(chan answer, 1)
	go func() {
		s, err := k.In.ReadString('\n')
		got <- answer{strings.TrimSpace(s), err}
	}()
	select {
	case <-ctx.Done():
		return "", context.Cause(ctx)
	case a := <-got:
		if a.err != nil && a.line == "" {
			return "", errors.New("nobody answers: standard input is at its end, and --launcher ask waits for a person there")
		}
		return a.line, nil
	}
}

// Alive implements Control.
func (k *Ask) Alive() error { return alive(k.Machine, k.URL, k.Adapter, k.Header) }

// Restore tells the user what to bring back.
func (k *Ask) Restore(context.Context) error {
	fmt.Fprintf(k.Out, "\nThe study is over: bring the server back with its own command:\n\n  %s\n\n", words(k.Argv))
	return nil
}

// words is a command as one line for a shell.
func words(argv []string) string {
	out := make([]string, len(argv))
	for i, w := range argv {
		out[i] = launch.Quote(w)
	}
	return strings.Join(out, " ")
}

// control makes what starts and stops the server of a study.
func (s *Setup) control(dir string, env Environment) (Control, error) {
	f, a := s.File, s.Adapter
	l, err := s.local(dir, env)
	if err != nil {
		return nil, err
	}
	switch f.Launcher.Kind {
	case LaunchSSH:
		l.Over = f.Launcher.SSH
	case LaunchKubernetes:
		return &Pods{Workload: f.workload(env.run()), Argv: f.Command, URL: l.URL, Adapter: a, Machine: l.Machine, Header: l.Header, Timeout: l.Timeout}, nil
	case LaunchAsk:
		if env.In == nil || env.Out == nil {
			return nil, campaign.Problems{{Field: "launcher.kind", Message: "ask needs a terminal to ask at"}}
		}
		return &Ask{Argv: f.Command, URL: l.URL, Adapter: a, Machine: l.Machine, Header: l.Header, Timeout: l.Timeout, Out: env.Out, In: bufio.NewReader(env.In)}, nil
	}
	return l, nil
}

// run executes the commands of launchers.
func (e Environment) run() launch.Run {
	if e.Run != nil {
		return e.Run
	}
	return launch.Exec
}

// arguments fills in the command of a workload that the user did not give: the arguments that
// its container has.
func (f *File) arguments(ctx context.Context, run launch.Run) error {
	if f.Launcher.Kind != LaunchKubernetes || len(f.Command) > 0 {
		return nil
	}
	argv, err := f.workload(run).Arguments(ctx)
	if err != nil {
		return err
	}
	f.Command = argv
	return nil
}

// supported makes a filter of flags from a server's help. A help that names fewer than half of
// the adapter's flags is a summary, and nothing follows from it.
func supported(help string, knobs []engines.Knob) func(flag string) bool {
	n, seen := 0, 0
	for i := range knobs {
		if k := &knobs[i]; k.Surface == "" || k.Surface == "flag" {
			n++
			if launch.Mentions(help, k.Name) {
				seen++
			}
		}
	}
	if 2*seen < n {
		return nil
	}
	return func(flag string) bool { return launch.Mentions(help, flag) }
}
