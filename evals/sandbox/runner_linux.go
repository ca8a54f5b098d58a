package sandbox

import (
	"context"
	"crypto/rand"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"strings"
	"syscall"
	"time"
)

//go:embed harness/values.py
var valuesPy string

//go:embed harness/candidate.py
var candidatePy string

//go:embed harness/judge.py
var judgePy string

// Runner judges programs. It is safe for concurrent use; at most Options.Workers
// programs run at once and the others wait.
type Runner struct {
	base    spec
	support Support
	limits  Limits
	slots   chan int
	alone   chan struct{}
	groups  *cgroups // nil where cgroups cannot be used
	mark    string   // an argument that lets a test find its own processes; "" for none
}

// Support says what the runner found and uses.
func (r *Runner) Support() Support { return r.support }

// Run judges one program. It always returns a result; when ctx ends first, the outcome
// is Infra.
func (r *Runner) Run(ctx context.Context, p Program) Result {
	var slot int
	select {
	case slot = <-r.slots:
	case <-ctx.Done():
		return Result{Outcome: Infra, Detail: "stopped before it ran"}
	}
	defer func() { r.slots <- slot }()
	res, starved := r.once(ctx, p, slot)
	if !starved {
		return res
	}
	// Once more, with no other retry beside it.
	select {
	case r.alone <- struct{}{}:
	case <-ctx.Done():
		return Result{Outcome: Infra, Detail: "stopped before its second try"}
	}
	defer func() { <-r.alone }()
	res, starved = r.once(ctx, p, slot)
	res.Retried = true
	if starved {
		res.Outcome, res.Detail = Infra, "the machine is too busy: the code got less than half of its processor time before the wall limit"
	}
	return res
}

// judgement is the state of one try.
type judgement struct {
	r     *Runner
	p     Program
	nonce string
	cand  *process
	judge *process
}

// once runs one try. starved is true when the try says nothing about the code because
// the machine did not let it run.
func (r *Runner) once(ctx context.Context, p Program, slot int) (res Result, starved bool) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	began := time.Now()
	deadline := began.Add(r.limits.Wall)
	nonce := make([]byte, 16)
	if _, err := rand.Read(nonce); err != nil {
		return Result{Outcome: Infra, Detail: escape(err.Error())}, false
	}
	j := &judgement{r: r, p: p, nonce: hex.EncodeToString(nonce)}
	defer func() { res.Wall = time.Since(began) }()

	var err error
	if j.cand, err = start(r.specFor(candidatePy), r.groups, slot, deadline); err != nil {
		return Result{Outcome: Infra, Detail: escape(err.Error())}, false
	}
	defer j.cand.finish()
	stop := context.AfterFunc(ctx, j.cand.kill)
	defer stop()

	res = j.decide(slot, deadline)
	j.cand.finish()
	res.CPU, res.Output = j.cand.cpu(), escape(j.cand.out.text())
	if ctx.Err() != nil {
		return Result{Outcome: Infra, Detail: "stopped while it ran"}, false
	}
	starved = res.Outcome == Timeout && j.cand.starved && res.CPU < r.limits.CPU/2
	return res, starved
}

func (r *Runner) specFor(harness string) spec {
	s := r.base
	s.Args = []string{s.Python, "-s", "-S", "-B", "-X", "utf8", "-c", valuesPy + harness}
	if r.mark != "" {
		s.Args = append(s.Args, r.mark)
	}
	return s
}

// line is what the parent reads of a harness line.
type line struct {
	T string // kind of message
	X string // nonce of a verdict
	R string // verdict
	N string // name of an exception
	M string // message
}

// decide starts the code, then the judge, and relays between them until there is a
// verdict.
func (j *judgement) decide(slot int, deadline time.Time) Result {
	hello, err := json.Marshal(map[string]string{"code": j.p.Code, "entry": j.p.Entry})
	if err != nil {
		return Result{Outcome: Infra, Detail: escape(err.Error())}
	}
	_, first, res := j.ask(hello)
	if res != nil {
		return *res
	}
	switch first.T {
	case "ready":
	case "syntax":
		return Result{Outcome: Syntax, Detail: escape(first.N + ": " + first.M)}
	case "load":
		return Result{Outcome: named(first.N), Detail: escape("on import: " + first.N + ": " + first.M)}
	case "missing":
		return Result{Outcome: Missing, Detail: "the code defines no function " + escape(j.p.Entry)}
	default:
		return junk()
	}
	if j.judge, err = start(j.r.specFor(judgePy), j.r.groups, slot, deadline); err != nil {
		return Result{Outcome: Infra, Detail: escape(err.Error())}
	}
	defer j.judge.finish()
	opening, err := json.Marshal(map[string]string{"prelude": j.p.Prelude, "test": j.p.Test, "entry": j.p.Entry, "nonce": j.nonce})
	if err != nil {
		return Result{Outcome: Infra, Detail: escape(err.Error())}
	}
	if err := j.judge.send(opening); err != nil {
		return j.judgeDied(err)
	}
	for {
		raw, err := j.judge.receive()
		if err != nil {
			return j.judgeDied(err)
		}
		var msg line
		if err := json.Unmarshal(raw, &msg); err != nil {
			return Result{Outcome: Infra, Detail: "the judge wrote no message"}
		}
		switch {
		case msg.T == "verdict" && msg.X == j.nonce:
			return verdict(msg)
		case msg.T != "call":
			return Result{Outcome: Infra, Detail: "the judge wrote an unknown message"}
		}
		reply, got, res := j.ask(raw)
		if res != nil {
			return *res
		}
		if got.T != "ret" && got.T != "exc" {
			return junk()
		}
		if err := j.judge.send(reply); err != nil {
			return j.judgeDied(err)
		}
	}
}

// ask sends one line to the candidate and reads its reply; a result means that the
// candidate is at its end.
func (j *judgement) ask(msg []byte) ([]byte, line, *Result) {
	var got line
	if err := j.cand.send(msg); err != nil && !errors.Is(err, syscall.EPIPE) {
		res := j.candidateDied(err)
		return nil, got, &res
	}
	raw, err := j.cand.receive()
	if err != nil {
		res := j.candidateDied(err)
		return nil, got, &res
	}
	if err := json.Unmarshal(raw, &got); err != nil {
		res := junk()
		return nil, got, &res
	}
	return raw, got, nil
}

func junk() Result {
	return Result{Outcome: Output, Detail: "the code wrote junk where its results are read"}
}

func verdict(msg line) Result {
	switch msg.R {
	case "pass":
		return Result{Outcome: Pass}
	case "wrong":
		return Result{Outcome: Wrong, Detail: escape(strings.TrimSpace(msg.M))}
	case "exception":
		return Result{Outcome: named(msg.N), Detail: escape(msg.N + ": " + msg.M)}
	}
	return Result{Outcome: Infra, Detail: escape("the test is broken: " + msg.M)}
}

// named is the outcome of an exception by its name.
func named(name string) Outcome {
	switch name {
	case "MemoryError":
		return Memory
	case "ModuleNotFoundError":
		return MissingModule
	case "SystemExit":
		return Exit
	}
	return Exception
}

// candidateDied says why the candidate sends no more.
func (j *judgement) candidateDied(err error) Result {
	switch {
	case errors.Is(err, errTooLong):
		return Result{Outcome: Output, Detail: fmt.Sprintf("a result over %d MiB", maxReplyLine>>20)}
	case errors.Is(err, os.ErrDeadlineExceeded):
		j.cand.finish()
		return Result{Outcome: Timeout, Detail: fmt.Sprintf("no answer within %v", j.r.limits.Wall)}
	}
	j.cand.died()
	if j.cand.out.flooded() {
		return Result{Outcome: Output, Detail: fmt.Sprintf("printed more than %d MiB", killOutput>>20)}
	}
	if j.cand.hungry {
		return Result{Outcome: Memory, Detail: "killed by the kernel at the memory limit"}
	}
	return ended(j.cand.state, j.cand.cpu(), j.r.limits.CPU)
}

// ended turns the exit state of a process into an outcome.
func ended(state *os.ProcessState, used, limit time.Duration) Result {
	ws, ok := state.Sys().(syscall.WaitStatus)
	if !ok {
		return Result{Outcome: Infra, Detail: "no exit state"}
	}
	switch {
	case ws.Signaled() && (ws.Signal() == syscall.SIGXCPU || ws.Signal() == syscall.SIGKILL && used > limit/2):
		return Result{Outcome: Timeout, Detail: fmt.Sprintf("processor limit of %v passed", limit)}
	case ws.Signaled():
		return Result{Outcome: Crash, Detail: fmt.Sprintf("killed by signal %d", ws.Signal())}
	}
	return Result{Outcome: Exit, Detail: fmt.Sprintf("ended itself with status %d", ws.ExitStatus())}
}

// judgeDied says why the judge sends no more. The code may be the cause, when the test
// spins on what it returned; it is never the judge's word against the code.
func (j *judgement) judgeDied(err error) Result {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return Result{Outcome: Timeout, Detail: fmt.Sprintf("the test did not end within %v", j.r.limits.Wall)}
	}
	if errors.Is(err, io.EOF) || errors.Is(err, syscall.EPIPE) {
		j.judge.died()
		if res := ended(j.judge.state, j.judge.cpu(), j.r.limits.CPU); res.Outcome == Timeout {
			res.Detail = "the test did not end within its processor limit"
			return res
		}
	}
	return Result{Outcome: Infra, Detail: escape("the judge ended: " + err.Error() + " " + j.judge.out.text())}
}

// cpuSeconds rounds a limit up to the whole seconds that RLIMIT_CPU counts.
func cpuSeconds(d time.Duration) uint64 { return uint64(max(1, math.Ceil(d.Seconds()))) }

// escape makes hostile text safe to print: control and direction characters as escapes,
// at most maxDetail bytes.
func escape(s string) string {
	var b strings.Builder
	for _, r := range s {
		if b.Len() >= maxDetail {
			b.WriteString("…")
			break
		}
		switch {
		case r == '\n':
			b.WriteString(" ⏎ ")
		case r < 0x20 || r >= 0x7f && r < 0xa0 || r >= 0x2028 && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0x200e || r == 0x200f || r == 0xfffd || r == 0xfeff:
			fmt.Fprintf(&b, "\\u%04x", r)
		default:
			b.WriteRune(r)
		}
	}
	return strings.TrimSpace(b.String())
}
