package launch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/inferencebench/inferencebench/engines"
)

// Spec is a server to start.
type Spec struct {
	Argv []string
	// Env are variables that are added to this program's environment.
	Env []string
	Dir string // working directory; empty is this program's
	// Base is the URL where the server will listen, and Ready the path that answers 200 when
	// it can take requests.
	Base  string
	Ready string
	// Header is sent with the question whether it is ready.
	Header http.Header
	// Timeout is how long it may take to be ready; 0 is DefaultTimeout. Grace is how long it
	// may take to stop before it is killed; 0 is DefaultGrace.
	Timeout, Grace time.Duration
	// Patterns tell what lines of its output mean.
	Patterns []engines.LogPattern
	// Log is the file that gets its output, up to 32 MiB; empty is none.
	Log string
	// Halt asks the server to stop in a way of its own, such as by stopping its container;
	// the process that started it is ended after that. nil is none.
	Halt func(ctx context.Context, grace time.Duration) error
	// MinMemory is the host memory in bytes that must stay available: a server that takes
	// more is stopped before the machine suffers. 0 is no guard.
	MinMemory uint64
	// Needs is the host memory in bytes that the server is known to take, and For what it is
	// for, such as "the weights and a KV cache of 8192 tokens": a server that cannot fit beside
	// MinMemory is not started. 0 is unknown.
	Needs uint64
	For   string
}

// Defaults of a Spec.
const (
	DefaultTimeout = 15 * time.Minute
	DefaultGrace   = 20 * time.Second
)

// Machine is what a start needs from the machine. All fields but GPU are required.
type Machine struct {
	Now  func() time.Time
	HTTP *http.Client
	// Poll is the pause between two questions whether the server is ready.
	Poll time.Duration
	// Available is the host memory that can be had, in bytes.
	Available func() (uint64, error)
	// GPU is the memory in use of each GPU, in bytes, in an order that stays; nil where it
	// cannot be read.
	GPU func() ([]uint64, error)
}

// ErrOccupied is in the chain of the error of a start where something else listens.
var ErrOccupied = errors.New("another server listens there already")

// Process is a running server. Its methods may be called from several goroutines.
type Process struct {
	spec    Spec
	machine Machine
	from    time.Time
	pid     int // of the process, and of the group that it leads
	out     *output
	ended   chan struct{} // closed when the process is gone and its output was read
	state   *os.ProcessState
	asked   atomic.Bool // Stop was called
	starved atomic.Bool // the memory guard stopped it
	ready   atomic.Bool
	halted  sync.Once
}

// Start starts a server and waits until it is ready. A server that does not get there is a
// *Failure and is gone when Start returns; any other error says that none was started, or
// that ctx ended.
func Start(ctx context.Context, s Spec, m Machine) (*Process, error) {
	if len(s.Argv) == 0 {
		return nil, errors.New("launch: the command is empty")
	}
	if s.Timeout == 0 {
		s.Timeout = DefaultTimeout
	}
	if s.Grace == 0 {
		s.Grace = DefaultGrace
	}
	if err := free(ctx, s.Base); err != nil {
		return nil, err
	}
	p := &Process{spec: s, machine: m, from: m.Now(), ended: make(chan struct{})}
	if err := room(s, m); err != nil {
		return nil, err
	}
	if err := p.start(); err != nil {
		return nil, err
	}
	go p.guard()
	if err := p.await(ctx); err != nil {
		p.Stop()
		return nil, err
	}
	p.ready.Store(true)
	return p, nil
}

// room checks that the host's memory holds the server.
func room(s Spec, m Machine) error {
	have, err := m.Available()
	switch {
	case err != nil:
		return nil // what cannot be read forbids nothing
	case s.MinMemory > 0 && have < s.MinMemory:
		return &Failure{Kind: OOM, Reason: fmt.Sprintf("not started: %d MiB of host memory are available and %d MiB must stay so", have>>20, s.MinMemory>>20)}
	case s.Needs > 0 && have < s.MinMemory+s.Needs:
		return &Failure{Kind: OOM, Reason: fmt.Sprintf("not started: %s take %d MiB of host memory, and of the %d MiB that are available %d MiB must stay so", s.For, s.Needs>>20, have>>20, s.MinMemory>>20)}
	}
	return nil
}

// free checks that nobody listens at the address: a study must not measure, and can not
// stop, a server that somebody else started.
func free(ctx context.Context, base string) error {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" {
		return fmt.Errorf("launch: %q is no address of a server", base)
	}
	host := u.Host
	if u.Port() == "" {
		host = net.JoinHostPort(u.Hostname(), map[string]string{"https": "443"}[u.Scheme])
		if strings.HasSuffix(host, ":") {
			host += "80"
		}
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", host)
	if err != nil {
		return nil
	}
	conn.Close()
	return fmt.Errorf("%s: %w, and only servers that were started here are stopped; stop it, or name another port", base, ErrOccupied)
}

// start runs the command in a group of its own.
func (p *Process) start() error {
	file, err := create(p.spec.Log)
	if err != nil {
		return fmt.Errorf("launch: log: %w", err)
	}
	p.out, err = newOutput(p.spec.Patterns, file)
	if err != nil {
		return fmt.Errorf("launch: log patterns: %w", err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("launch: %w", err)
	}
	cmd := exec.Command(p.spec.Argv[0], p.spec.Argv[1:]...)
	cmd.Env, cmd.Dir = append(os.Environ(), p.spec.Env...), p.spec.Dir
	cmd.Stdout, cmd.Stderr = w, w
	cmd.SysProcAttr = attributes()
	started := make(chan error, 1)
	go func() {
		// The system ends the child when the thread that started it ends; the thread stays
		// as long as the child does.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		w.Close()
		started <- err
		if err != nil {
			r.Close()
			return
		}
		p.wait(cmd, r)
	}()
	if err := <-started; err != nil {
		if file != nil {
			file.Close()
		}
		return &Failure{Kind: StartFailure, Reason: fmt.Sprintf("the command could not be run: %v", err)}
	}
	p.pid = cmd.Process.Pid
	return nil
}

// wait sees the process off and reads what is left of its output. Descendants may hold the
// pipe open: they are of the same group, and are ended with it.
func (p *Process) wait(cmd *exec.Cmd, r io.ReadCloser) {
	read := make(chan struct{})
	go func() {
		defer close(read)
		p.out.read(r)
	}()
	_ = cmd.Wait() // how it ended is in ProcessState
	p.state = cmd.ProcessState
	_ = signalGroup(cmd.Process.Pid, true)
	select {
	case <-read:
	case <-time.After(5 * time.Second):
		r.Close()
		<-read
	}
	r.Close()
	close(p.ended)
}

// await waits until the server is ready.
func (p *Process) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, p.spec.Timeout, errSlow)
	defer cancel()
	tick := time.NewTicker(p.machine.Poll)
	defer tick.Stop()
	for {
		select {
		case <-p.ended:
			return p.failure()
		case <-ctx.Done():
			if !errors.Is(context.Cause(ctx), errSlow) {
				return context.Cause(ctx)
			}
			line, _, _ := p.out.why()
			return &Failure{Kind: StartTimeout, After: p.spec.Timeout, Reason: fmt.Sprintf("it was not ready after %s and was stopped%s", p.spec.Timeout, quote(line))}
		case <-tick.C:
			if p.answers(ctx) {
				return nil
			}
		}
	}
}

var errSlow = errors.New("not ready in time")

// answers reports whether the server says that it is ready.
func (p *Process) answers(ctx context.Context) bool {
	return answers(ctx, p.machine.HTTP, p.spec.Base, p.spec.Ready, p.spec.Header)
}

func answers(ctx context.Context, client *http.Client, base, path string, header http.Header) bool {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(base, "/")+path, nil)
	if err != nil {
		return false
	}
	for k, v := range header {
		req.Header[k] = v
	}
	resp, err := client.Do(req)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	_, _ = io.CopyN(io.Discard, resp.Body, 1<<20)
	return resp.StatusCode == http.StatusOK
}

// Await waits until a server that somebody else started is ready. One that does not get there
// within the timeout is a *Failure.
func Await(ctx context.Context, m Machine, base, path string, header http.Header, timeout time.Duration) error {
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, errSlow)
	defer cancel()
	tick := time.NewTicker(m.Poll)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			if errors.Is(context.Cause(ctx), errSlow) {
				return &Failure{Kind: StartTimeout, After: timeout, Reason: fmt.Sprintf("%s was not ready after %s", base, timeout)}
			}
			return context.Cause(ctx)
		case <-tick.C:
			if answers(ctx, m.HTTP, base, path, header) {
				return nil
			}
		}
	}
}

// guard watches the host's memory while the process runs.
func (p *Process) guard() {
	if p.spec.MinMemory == 0 {
		return
	}
	tick := time.NewTicker(max(p.machine.Poll, 100*time.Millisecond))
	defer tick.Stop()
	for {
		select {
		case <-p.ended:
			return
		case <-tick.C:
			if have, err := p.machine.Available(); err == nil && have < p.spec.MinMemory {
				p.starved.Store(true)
				_ = signalGroup(p.pid, true)
				p.halt()
				return
			}
		}
	}
}

// PID is the id of the process, which leads a group of the same id.
func (p *Process) PID() int { return p.pid }

// Took is the time since the start.
func (p *Process) Took() time.Duration { return p.machine.Now().Sub(p.from) }

// Alive returns nil while the server runs, and then a *Failure that says how it ended.
func (p *Process) Alive() error {
	select {
	case <-p.ended:
		return p.failure()
	default:
		return nil
	}
}

// failure says how the process, which is gone, ended.
func (p *Process) failure() *Failure {
	line, means, memory := p.out.why()
	f := &Failure{Kind: StartFailure, After: p.Took()}
	verb := "it ended before it was ready"
	if p.ready.Load() {
		f.Kind, verb = Crash, "it ended under load"
	}
	if means != "" {
		verb += ", as " + means
	}
	status, killed := p.state.String(), killed(p.state)
	switch {
	case p.starved.Load():
		f.Kind, verb = OOM, fmt.Sprintf("it was stopped: less than %d MiB of host memory were left", p.spec.MinMemory>>20)
	case memory:
		f.Kind = OOM
	case killed && !p.asked.Load():
		f.Kind = OOM
		verb += ", killed as the kernel does when memory runs out"
	}
	f.Reason = fmt.Sprintf("%s (%s)%s", verb, status, quote(line))
	return f
}

// quote is a line of output as the end of a sentence.
func quote(line string) string {
	if line == "" {
		return ""
	}
	if r := []rune(line); len(r) > 300 {
		line = string(r[:300]) + "…"
	}
	return fmt.Sprintf("; it wrote: %q", line)
}

// halt asks the server to stop in its own way, once. It does so also where the process is
// gone: a container outlives the program that started it.
func (p *Process) halt() {
	p.halted.Do(func() {
		if p.spec.Halt == nil {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), 2*p.spec.Grace+10*time.Second)
		defer cancel()
		_ = p.spec.Halt(ctx, p.spec.Grace) // the process is ended whatever comes of it
	})
}

// Stop ends the server and everything that it started: politely, and after the grace by
// force. It returns when they are gone, and may be called again.
func (p *Process) Stop() {
	p.asked.Store(true)
	p.halt()
	select {
	case <-p.ended:
		return
	default:
	}
	_ = signalGroup(p.pid, false)
	select {
	case <-p.ended:
	case <-time.After(p.spec.Grace):
		_ = signalGroup(p.pid, true)
		<-p.ended
	}
}
