//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/inferencebench/inferencebench/loadgen/null"
)

// sample is what a client's processes had used at an instant.
type sample struct {
	at  int64 // of the monotonic clock
	cpu float64
}

// usage is what the processes of a client used.
type usage struct {
	samples []sample
	// Total is all processor time, start and end of the client with it, in seconds.
	Total float64
	// Peak is the most memory at once, in bytes: each page counts once, however many of
	// the client's processes share it.
	Peak int64
	Took time.Duration
}

// between is the processor time from one instant to another, in seconds.
func (u *usage) between(from, to int64) float64 {
	at := func(t int64) float64 {
		i, _ := slices.BinarySearchFunc(u.samples, t, func(s sample, t int64) int {
			if s.at < t {
				return -1
			}
			return 1
		})
		switch {
		case len(u.samples) == 0:
			return 0
		case i == 0:
			return u.samples[0].cpu
		case i == len(u.samples):
			return u.samples[i-1].cpu
		}
		a, b := u.samples[i-1], u.samples[i]
		return a.cpu + (b.cpu-a.cpu)*float64(t-a.at)/float64(max(1, b.at-a.at))
	}
	return at(to) - at(from)
}

// ticks is how many a second of processor time has in /proc.
const ticks = 100

// execute runs a client to its end and watches its processes. The error has the end of
// what it wrote.
func execute(ctx context.Context, t *tool, args []string, dir string, clock null.Clock) (*usage, error) {
	cmd := exec.CommandContext(ctx, t.program, args...) //nolint:gosec // the program that was asked for
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), t.env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 2 * time.Second
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	u := &usage{}
	gone := map[int]float64{} // the last that was seen of each process
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for n := 0; ; n++ {
		select {
		case <-tick.C:
			pids := family(cmd.Process.Pid)
			for _, pid := range pids {
				if used, ok := cpuOf(pid); ok {
					gone[pid] = used
				}
			}
			total := 0.0
			for _, used := range gone {
				total += used
			}
			u.samples = append(u.samples, sample{clock.Now(), total})
			if n%5 == 0 {
				u.Peak = max(u.Peak, memoryOf(pids))
			}
		case err := <-done:
			u.Took = time.Since(begin)
			if s := cmd.ProcessState; s != nil {
				u.Total = (s.UserTime() + s.SystemTime()).Seconds()
			}
			if writeErr := os.WriteFile(filepath.Join(dir, "output.txt"), out.Bytes(), 0o600); writeErr != nil {
				return u, writeErr
			}
			if ctx.Err() != nil {
				return u, fmt.Errorf("it did not end in time: %s", last(out.Bytes()))
			}
			var exited *exec.ExitError
			if errors.As(err, &exited) {
				return u, fmt.Errorf("%w: %s", err, last(out.Bytes()))
			}
			return u, err
		}
	}
}

// last is the end of what a program wrote, on one line.
func last(b []byte) string {
	s := strings.Join(strings.Fields(string(b)), " ")
	return s[max(0, len(s)-300):]
}

// family is a process and all that come from it.
func family(root int) []int {
	all := []int{root}
	for i := 0; i < len(all); i++ {
		tasks, err := filepath.Glob("/proc/" + strconv.Itoa(all[i]) + "/task/*/children")
		if err != nil {
			continue
		}
		for _, f := range tasks {
			b, err := os.ReadFile(f)
			if err != nil {
				continue
			}
			for _, word := range strings.Fields(string(b)) {
				if pid, err := strconv.Atoi(word); err == nil && !slices.Contains(all, pid) {
					all = append(all, pid)
				}
			}
		}
	}
	return all
}

// cpuOf is the processor time of one process, in seconds.
func cpuOf(pid int) (float64, bool) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, false
	}
	_, rest, ok := strings.Cut(string(b), ") ")
	f := strings.Fields(rest)
	if !ok || len(f) < 13 {
		return 0, false
	}
	user, err1 := strconv.ParseFloat(f[11], 64)
	system, err2 := strconv.ParseFloat(f[12], 64)
	return (user + system) / ticks, err1 == nil && err2 == nil
}

// memoryOf is the proportional set size of processes, in bytes.
func memoryOf(pids []int) int64 {
	total := int64(0)
	for _, pid := range pids {
		b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/smaps_rollup")
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(b)) {
			if f := strings.Fields(line); len(f) == 3 && f[0] == "Pss:" {
				kib, _ := strconv.ParseInt(f[1], 10, 64)
				total += kib << 10
			}
		}
	}
	return total
}
