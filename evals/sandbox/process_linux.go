package sandbox

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// process is one sandboxed Python and the parent's ends of its pipes.
type process struct {
	cmd     *exec.Cmd
	calls   *os.File
	source  *os.File // of replies
	replies *bufio.Reader
	closers []io.Closer
	out     *capture
	drains  sync.WaitGroup
	started time.Time

	group    *group // nil without cgroups
	hungry   bool   // the kernel killed it for memory
	ended    bool
	state    *os.ProcessState
	starved  bool
	deadline time.Time
}

// errSetup is a sandbox that could not be built.
type errSetup struct{ why string }

func (e *errSetup) Error() string { return "sandbox set-up: " + e.why }

// start launches one helper and waits until it has become Python. The caller's goroutine
// must be locked to its thread until the process has ended: the kernel kills the helper
// when the thread that made it dies.
func start(s spec, cg *cgroups, slot int, deadline time.Time) (*process, error) {
	p := &process{started: time.Now(), out: &capture{}, deadline: deadline}
	if cg != nil {
		g, err := cg.make(s.Memory)
		if err != nil {
			return nil, &errSetup{err.Error()}
		}
		p.group = g
	}
	started := false
	defer func() {
		if !started && p.group != nil {
			p.group.remove()
		}
	}()
	childCalls, calls, err := pipe(true)
	if err != nil {
		return nil, err
	}
	replies, childReplies, err := pipe(false)
	if err != nil {
		return nil, err
	}
	childSpec, specW, err := pipe(true)
	if err != nil {
		return nil, err
	}
	status, childStatus, err := pipe(false)
	if err != nil {
		return nil, err
	}
	output, childOutput, err := pipe(false)
	if err != nil {
		return nil, err
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		return nil, err
	}
	children := []*os.File{childCalls, childReplies, childSpec, childStatus, childOutput, null}
	defer func() {
		for _, f := range children {
			f.Close()
		}
	}()
	p.calls, p.source, p.replies = calls, replies, bufio.NewReaderSize(replies, 64<<10)
	p.closers = []io.Closer{calls, replies, status, output}

	p.cmd = &exec.Cmd{
		Path:        "/proc/self/exe",
		Args:        []string{"inferencebench", word},
		Env:         []string{"GOGC=off", "GOMAXPROCS=2"},
		Dir:         "/",
		Stdin:       null,
		Stdout:      childOutput,
		Stderr:      childOutput,
		ExtraFiles:  []*os.File{childCalls, childReplies, childSpec, childStatus},
		SysProcAttr: attributes(s.Mode, slot),
	}
	if p.group != nil {
		dir, err := os.Open(p.group.dir)
		if err != nil {
			specW.Close()
			p.close()
			return nil, &errSetup{err.Error()}
		}
		defer dir.Close()
		p.cmd.SysProcAttr.UseCgroupFD, p.cmd.SysProcAttr.CgroupFD = true, int(dir.Fd())
	}
	if err := p.cmd.Start(); err != nil {
		specW.Close()
		p.close()
		return nil, &errSetup{fmt.Sprintf("start: %v", err)}
	}
	for _, f := range children {
		f.Close()
	}
	p.drains.Go(func() { p.drain(output) })
	raw, err := json.Marshal(s)
	if err == nil {
		specW.SetWriteDeadline(deadline)
		_, err = specW.Write(raw)
	}
	specW.Close()
	status.SetReadDeadline(deadline)
	why, readErr := io.ReadAll(io.LimitReader(status, 4096))
	if err != nil || readErr != nil || len(why) > 0 {
		p.kill()
		p.wait()
		p.close()
		return nil, &errSetup{strings.TrimSpace(fmt.Sprint(string(why), " ", errors.Join(err, readErr)))}
	}
	started = true
	return p, nil
}

// attributes are the namespaces and identity of a helper.
func attributes(mode Mode, slot int) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
	root := os.Geteuid() == 0
	if mode == ModeNamespaces {
		uid, gid := os.Geteuid(), os.Getegid()
		if root {
			// Inside 0 is an unprivileged user outside, and the helper has to become it:
			// left as it is, its user would be unmapped and every mount refused.
			uid, gid = nobody, nobody
			a.Credential = &syscall.Credential{Uid: 0, Gid: 0, NoSetGroups: true}
		}
		a.Cloneflags = unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWNS | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS
		a.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: uid, Size: 1}}
		a.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: gid, Size: 1}}
		return a
	}
	if root {
		id := uint32(slotUsers + slot)
		a.Credential = &syscall.Credential{Uid: id, Gid: id, Groups: []uint32{}}
	}
	return a
}

const (
	nobody    = 65534
	slotUsers = 64000 // first of the users that landlock mode takes for its slots when root
)

// pipe makes a pipe whose parent end obeys deadlines and whose child end blocks.
// parentWrites says which end is the parent's.
func pipe(parentWrites bool) (r, w *os.File, err error) {
	var fds [2]int
	if err := unix.Pipe2(fds[:], unix.O_CLOEXEC); err != nil {
		return nil, nil, fmt.Errorf("pipe: %w", err)
	}
	mine := fds[0]
	if parentWrites {
		mine = fds[1]
	}
	if err := unix.SetNonblock(mine, true); err != nil {
		return nil, nil, fmt.Errorf("pipe: %w", err)
	}
	return os.NewFile(uintptr(fds[0]), "pipe"), os.NewFile(uintptr(fds[1]), "pipe"), nil
}

// send writes one line to the harness.
func (p *process) send(line []byte) error {
	p.calls.SetWriteDeadline(p.deadline)
	_, err := p.calls.Write(append(line, '\n'))
	return err
}

var errTooLong = errors.New("line over the limit")

// receive reads one line of the harness.
func (p *process) receive() ([]byte, error) {
	p.source.SetReadDeadline(p.deadline)
	var line []byte
	for {
		part, err := p.replies.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > maxReplyLine {
			return nil, errTooLong
		}
		if err == nil {
			return bytes.TrimSuffix(line, []byte("\n")), nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return nil, err
		}
	}
}

// drain keeps the start of what the code prints and ends a process that floods.
func (p *process) drain(r io.Reader) {
	buf := make([]byte, 32<<10)
	for {
		n, err := r.Read(buf)
		if p.out.add(buf[:n]) > killOutput {
			p.kill()
		}
		if err != nil {
			return
		}
	}
}

// capture is the bounded start of a process's output.
type capture struct {
	mu    sync.Mutex
	kept  []byte
	total int
}

func (c *capture) add(b []byte) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.total += len(b)
	c.kept = append(c.kept, b[:min(len(b), keepOutput-len(c.kept))]...)
	return c.total
}

func (c *capture) flooded() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.total > killOutput
}

func (c *capture) text() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return string(c.kept)
}

// kill ends the process and everything it could have started: the first process of a pid
// namespace takes the rest with it, and landlock mode forbids starting any.
func (p *process) kill() {
	if pid := p.cmd.Process.Pid; pid > 1 {
		_ = syscall.Kill(-pid, syscall.SIGKILL)
		_ = p.cmd.Process.Kill()
	}
}

// finish ends the process, waits for it, and closes everything.
func (p *process) finish() {
	if p.ended {
		return
	}
	p.ended = true
	p.starved = waitedForCPU(p.cmd.Process.Pid, time.Since(p.started))
	p.kill()
	p.wait()
	p.close()
}

// died waits for a process that has closed its pipes to end by itself, so that its exit
// state is its own, and then finishes it.
func (p *process) died() {
	if p.ended {
		return
	}
	p.ended = true
	timer := time.AfterFunc(max(0, min(time.Until(p.deadline), 2*time.Second)), p.kill)
	p.wait()
	timer.Stop()
	p.close()
}

func (p *process) wait() {
	_ = p.cmd.Wait()
	p.state = p.cmd.ProcessState
	if p.group != nil {
		p.hungry = p.group.exhausted()
		p.group.remove()
	}
}

func (p *process) close() {
	p.drains.Wait()
	for _, c := range p.closers {
		c.Close()
	}
}

// cpu is the processor time that the process used.
func (p *process) cpu() time.Duration {
	if p.state == nil {
		return 0
	}
	return p.state.UserTime() + p.state.SystemTime()
}

// waitedForCPU reports whether a process spent more than a quarter of its life ready to
// run and waiting for a processor.
func waitedForCPU(pid int, life time.Duration) bool {
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/schedstat")
	if err != nil {
		return false
	}
	fields := strings.Fields(string(raw))
	if len(fields) < 2 {
		return false
	}
	ns, err := strconv.ParseInt(fields[1], 10, 64)
	return err == nil && time.Duration(ns) > life/4
}
