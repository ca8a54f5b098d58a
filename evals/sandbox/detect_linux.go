package sandbox

import (
	"bytes"
	"context"
	"debug/elf"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Support is what this machine offers and what is used of it.
type Support struct {
	Mode Mode
	// Python is the interpreter's path, Version its version.
	Python, Version string
	// Landlock is the kernel's Landlock version; 0 when there is none.
	Landlock int
	// Missing says in words what the machine lacks.
	Missing []string
	// Speed is how many times slower than a reference machine this one runs Python, at
	// least 1; limits are scaled by it.
	Speed float64
}

// String is one line for a reader.
func (s Support) String() string {
	var with []string
	if s.Landlock > 0 {
		with = append(with, fmt.Sprintf("Landlock ABI %d", s.Landlock))
	}
	with = append(with, "seccomp", "Python "+s.Version)
	line := "code checks: " + string(s.Mode) + ", " + strings.Join(with, ", ")
	if len(s.Missing) > 0 {
		line += " (" + strings.Join(s.Missing, "; ") + ")"
	}
	return line
}

// UnavailableError means that code cannot be run safely here, and lists why.
type UnavailableError struct{ Reasons []string }

func (e *UnavailableError) Error() string {
	return "code checks are off: " + strings.Join(e.Reasons, "; ") +
		". Run as root or allow user namespaces, install python3 in /usr/bin, or leave code items out"
}

// New finds an interpreter and the strongest mode that really works here, by running a
// program in it, and calibrates the limits. Without a safe mode the error is an
// *UnavailableError.
func New(ctx context.Context, o Options) (*Runner, error) {
	if o.Workers <= 0 {
		o.Workers = runtime.NumCPU()
	}
	var missing []string
	abi, err := landlockABI()
	if err != nil {
		abi = 0
		missing = append(missing, landlockNote(err))
	}
	groups, groupErr := findCgroups("/proc/self/mountinfo", "/proc/self/cgroup")
	if groupErr != nil {
		missing = append(missing, "no cgroup limits ("+groupErr.Error()+")")
	}
	var reasons []string
	for _, py := range pythons(o.Python) {
		base, version, err := interpreter(ctx, py)
		if err != nil {
			reasons = append(reasons, err.Error())
			continue
		}
		base.Landlock = abi
		for _, mode := range []Mode{ModeNamespaces, ModeLandlock} {
			if o.Mode != "" && o.Mode != mode || mode == ModeLandlock && abi == 0 {
				continue
			}
			r := newRunner(base, mode, version, o)
			if groupErr == nil {
				r.groups = &groups
			}
			if err := r.probe(ctx); err != nil {
				reasons = append(reasons, fmt.Sprintf("%s with %s: %v", mode, py, err))
				continue
			}
			for _, why := range reasons {
				if mode == ModeLandlock && strings.HasPrefix(why, string(ModeNamespaces)) {
					missing = append(missing, why)
				}
			}
			r.support.Missing = missing
			if !o.UncalibratedLimits {
				r.calibrate(ctx)
			}
			return r, nil
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
	}
	return nil, &UnavailableError{append(missing, reasons...)}
}

func newRunner(base spec, mode Mode, version string, o Options) *Runner {
	l := o.Limits.withDefaults()
	base.Mode = mode
	base.CPU = cpuSeconds(l.CPU)
	base.Memory = uint64(l.MemoryMB) << 20
	home := "/"
	if mode == ModeNamespaces {
		base.Procs = processesLimit
		home = "/work"
	}
	base.Env = []string{"PATH=/usr/bin:/bin", "HOME=" + home, "LANG=C.UTF-8", "PYTHONHASHSEED=0", "OMP_NUM_THREADS=1"}
	r := &Runner{base: base, limits: l, slots: make(chan int, o.Workers), alone: make(chan struct{}, 1),
		support: Support{Mode: mode, Python: base.Python, Version: version, Landlock: base.Landlock, Speed: 1}}
	for i := range o.Workers {
		r.slots <- i
	}
	return r
}

// probe runs a right, a wrong and a peeking program.
func (r *Runner) probe(ctx context.Context) error {
	test := "def check(candidate):\n    assert candidate(20, 3) == 23\n"
	if res := r.Run(ctx, Program{Code: "def f(a, b):\n    return a + b\n", Test: test, Entry: "f"}); res.Outcome != Pass {
		return fmt.Errorf("a right program gives %s: %s", res.Outcome, res.Detail)
	}
	if res := r.Run(ctx, Program{Code: "def f(a, b):\n    return a - b\n", Test: test, Entry: "f"}); res.Outcome != Wrong {
		return fmt.Errorf("a wrong program gives %s: %s", res.Outcome, res.Detail)
	}
	// /etc/hostname exists nearly everywhere and is readable to all; /proc tells of processes.
	peek := "import os, socket\ndef f(a, b):\n" +
		"    for p in ('/etc/hostname', '/etc/passwd', '/proc/self/status'):\n" +
		"        try:\n            open(p).read()\n            return 'read ' + p\n        except OSError:\n            pass\n" +
		"    for act in (lambda: socket.socket(), lambda: os.fork()):\n" +
		"        try:\n            act()\n            return 'socket or fork allowed'\n        except OSError:\n            pass\n" +
		"    return a + b\n"
	if res := r.Run(ctx, Program{Code: peek, Test: test, Entry: "f"}); res.Outcome != Pass {
		return fmt.Errorf("the sandbox leaks: %s: %s", res.Outcome, res.Detail)
	}
	return nil
}

// referenceCPU is the processor time that the calibration takes on an ordinary server
// core of 2022.
const referenceCPU = 150 * time.Millisecond

// maxSlowdown bounds how far limits are stretched.
const maxSlowdown = 10

// calibrate times a fixed piece of Python and stretches the limits on a slower machine.
func (r *Runner) calibrate(ctx context.Context) {
	code := "def f(n):\n    t = 0\n    for i in range(n):\n        t = (t * 31 + i) % 1000003\n    return t\n"
	test := "def check(candidate):\n    assert candidate(1000000) >= 0\n"
	best := time.Duration(0)
	for range 2 {
		res := r.Run(ctx, Program{Code: code, Test: test, Entry: "f"})
		if res.Outcome == Pass && (best == 0 || res.CPU < best) {
			best = res.CPU
		}
	}
	if best == 0 {
		r.support.Missing = append(r.support.Missing, "limits not calibrated")
		return
	}
	slow := min(maxSlowdown, max(1, float64(best)/float64(referenceCPU)))
	r.support.Speed = slow
	r.limits.CPU = time.Duration(float64(r.limits.CPU) * slow)
	r.limits.Wall = time.Duration(float64(r.limits.Wall) * slow)
	r.base.CPU = cpuSeconds(r.limits.CPU)
	r.limits.CPU = time.Duration(r.base.CPU) * time.Second
}

// pythons lists the interpreters to try, the system's first: one in a home folder is out
// of a sandbox user's reach.
func pythons(given string) []string {
	if given != "" {
		return []string{given}
	}
	list := []string{"/usr/bin/python3", "/usr/local/bin/python3"}
	if p, err := exec.LookPath("python3"); err == nil && !slices.Contains(list, p) {
		list = append(list, p)
	}
	return list
}

// interpreter asks a Python where it really is and what it needs to see.
func interpreter(ctx context.Context, py string) (spec, string, error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, py, "-I", "-S", "-c",
		"import sys, os, json; print(json.dumps([os.path.realpath(sys.executable), sys.base_prefix, '.'.join(map(str, sys.version_info[:3])), [os.path.realpath(p) for p in sys.path if os.path.isdir(p)]]))")
	cmd.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := cmd.Output()
	if err != nil {
		return spec{}, "", fmt.Errorf("%s: %w", py, err)
	}
	var fields [4]json.RawMessage
	var exe, prefix, version string
	var path []string
	if err := json.Unmarshal(bytes.TrimSpace(out), &fields); err != nil {
		return spec{}, "", fmt.Errorf("%s: does not answer like Python: %w", py, err)
	}
	if err := errors.Join(json.Unmarshal(fields[0], &exe), json.Unmarshal(fields[1], &prefix), json.Unmarshal(fields[2], &version), json.Unmarshal(fields[3], &path)); err != nil {
		return spec{}, "", fmt.Errorf("%s: does not answer like Python: %w", py, err)
	}
	loader, err := elfLoader(exe)
	if err != nil {
		return spec{}, "", fmt.Errorf("%s: %w", py, err)
	}
	s := spec{Python: exe, Loader: loader, Links: map[string]string{}}
	s.Trees = []string{"/usr"}
	for _, dir := range []string{"/bin", "/lib", "/lib64", "/lib32"} {
		info, err := os.Lstat(dir)
		switch {
		case err != nil:
		case info.Mode()&os.ModeSymlink != 0:
			if to, err := os.Readlink(dir); err == nil {
				s.Links[dir] = to
			}
		case info.IsDir():
			s.Trees = append(s.Trees, dir)
		}
	}
	for _, dir := range append([]string{prefix, filepath.Dir(exe)}, path...) {
		if !filepath.IsAbs(dir) || dir == "/" || within(dir, s.Trees) {
			continue
		}
		s.Trees = append(s.Trees, dir)
	}
	if _, err := os.Stat("/etc/ld.so.cache"); err == nil {
		s.Files = []string{"/etc/ld.so.cache"}
	}
	return s, version, nil
}

func within(dir string, trees []string) bool {
	return slices.ContainsFunc(trees, func(t string) bool { return dir == t || strings.HasPrefix(dir, t+"/") })
}

// elfLoader returns the loader that a dynamic ELF file names; "" for a static one.
func elfLoader(path string) (string, error) {
	f, err := elf.Open(path)
	if err != nil {
		return "", fmt.Errorf("%s is no ELF program: %w", path, err)
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP && p.Filesz < 4096 {
			raw := make([]byte, p.Filesz)
			if _, err := p.ReadAt(raw, 0); err != nil {
				return "", fmt.Errorf("%s: %w", path, err)
			}
			return string(bytes.TrimRight(raw, "\x00")), nil
		}
	}
	return "", nil
}
