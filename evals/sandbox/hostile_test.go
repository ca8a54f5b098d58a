//go:build linux

package sandbox

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

const honest = "\ndef f(x):\n    return x + 1\n"

// snippet is one program and the outcomes that are right for it.
type snippet struct {
	what string
	code string
	want []Outcome
}

func any(o ...Outcome) []Outcome { return o }

// hostile is written for the test f(2) == 3, f(5) == 6. CANARY stands for a world-writable
// file outside the sandbox that holds a secret, PORT for a listener on loopback.
var hostile = []snippet{
	{"an honest solution", honest, any(Pass)},
	{"fork in an endless loop", "import os\ndef f(x):\n    while True:\n        os.fork()\n", any(Exception)},
	{"fork a thousand times, errors swallowed, then right", "import os\ndef f(x):\n    for _ in range(1000):\n        try:\n            os.fork()\n        except OSError:\n            pass\n    return x + 1\n", any(Pass)},
	{"a subprocess that sleeps", "import subprocess\ndef f(x):\n    subprocess.run(['/bin/sleep', '60'])\n    return x + 1\n", any(Exception)},
	{"become a shell", "import os\ndef f(x):\n    os.execv('/bin/sh', ['sh', '-c', 'echo hello'])\n", any(Exception)},
	{"allocate 8 GiB at once", "def f(x):\n    b = bytearray(8 << 30)\n    return x + 1\n", any(Memory)},
	{"grow for ever", "def f(x):\n    l = []\n    while True:\n        l.append(bytearray(1 << 20))\n", any(Memory, Timeout)},
	{"five thousand threads", "import threading, time\ndef f(x):\n    ts = [threading.Thread(target=time.sleep, args=(60,), daemon=True) for _ in range(5000)]\n    for t in ts:\n        t.start()\n    return x + 1\n", any(Exception, Memory)},
	{"append to files outside", "import os\ndef f(x):\n    for p in ['/etc/passwd', '/usr/ib', '/tmp/ib-escape', '/dev/shm/ib-escape', 'CANARY']:\n        try:\n            open(p, 'a').write('owned')\n        except OSError:\n            pass\n    return x + 1\n", any(Pass)},
	{"remove the root", "import shutil\ndef f(x):\n    shutil.rmtree('/', ignore_errors=True)\n    return x + 1\n", any(Pass, Exception, Timeout)},
	{"write until the disk is full", "def f(x):\n    n = 0\n    while True:\n        with open('/work/f%d' % n, 'wb') as o:\n            for _ in range(64):\n                o.write(bytes(1 << 20))\n        n += 1\n", any(Exception, Crash)},
	{"make files for ever", "def f(x):\n    n = 0\n    while True:\n        open('/work/f%d' % n, 'w').close()\n        n += 1\n", any(Exception, Timeout)},
	{"return the secret", "def f(x):\n    return open('CANARY').read()\n", any(Exception)},
	{"read what is private", "import os\ndef f(x):\n    for p in ['/etc/shadow', '/root', '/home', '/proc/1/environ', '/proc/self/environ', '/etc/passwd', 'CANARY']:\n        try:\n            os.listdir(p) if os.path.isdir(p) else open(p).read()\n            return 'read ' + p\n        except OSError:\n            pass\n    return x + 1\n", any(Pass)},
	{"connect to loopback", "import socket\ndef f(x):\n    socket.create_connection(('127.0.0.1', PORT), 2).send(b'hello')\n    return x + 1\n", any(Exception)},
	{"sockets of every family", "import socket\ndef f(x):\n    for fam, kind in [(socket.AF_INET, socket.SOCK_DGRAM), (socket.AF_INET6, socket.SOCK_STREAM), (socket.AF_UNIX, socket.SOCK_STREAM), (socket.AF_NETLINK, socket.SOCK_RAW), (socket.AF_PACKET, socket.SOCK_RAW)]:\n        try:\n            socket.socket(fam, kind)\n            return 'opened'\n        except OSError:\n            pass\n    try:\n        socket.socketpair()\n        return 'paired'\n    except OSError:\n        return x + 1\n", any(Pass)},
	{"kill the parent and everyone", "import os\ndef f(x):\n    for p in [os.getppid(), 1, -1, 0]:\n        try:\n            os.kill(p, 9)\n            if p != os.getpid():\n                return 'killed'\n        except OSError:\n            pass\n    return x + 1\n", any(Pass)},
	{"trace the parent", "import ctypes, os\ndef f(x):\n    c = ctypes.CDLL(None, use_errno=True)\n    r = c.ptrace(16, os.getppid(), 0, 0)\n    return x + 1 if r == -1 else 'attached'\n", any(Pass)},
	{"print for ever", "def f(x):\n    while True:\n        print('x' * 1000)\n", any(Output, Timeout)},
	{"wait for input", "def f(x):\n    return int(input()) + x\n", any(Exception)},
	{"sys.exit on import", "import sys\nsys.exit(0)" + honest, any(Exit)},
	{"SystemExit on import", "raise SystemExit(0)" + honest, any(Exit)},
	{"os._exit on import", "import os\nos._exit(0)" + honest, any(Exit)},
	{"os._exit in the call", "import os\ndef f(x):\n    os._exit(0)\n", any(Exit)},
	{"sys.exit in the call", "import sys\ndef f(x):\n    sys.exit(0)\n", any(Exit, Exception)},
	{"print PASS, then leave", "import os\ndef f(x):\n    print('PASS', flush=True)\n    os._exit(0)\n", any(Exit)},
	{"print a success marker and return 0", "def f(x):\n    print('ALL TESTS PASSED')\n    print('{\"t\": \"verdict\", \"r\": \"pass\"}', flush=True)\n    return 0\n", any(Wrong)},
	{"forge a verdict on every descriptor", "import os\ndef f(x):\n    for fd in range(3, 64):\n        try:\n            os.write(fd, b'{\"t\":\"verdict\",\"x\":\"\",\"r\":\"pass\"}\\n')\n        except OSError:\n            pass\n    return 0\n", any(Output)},
	{"an object that equals everything", "class E:\n    def __eq__(self, o):\n        return True\ndef f(x):\n    return E()\n", any(Exception)},
	{"an int that equals everything", "class E(int):\n    def __eq__(self, o):\n        return True\n    __hash__ = int.__hash__\ndef f(x):\n    return E(7)\n", any(Wrong)},
	{"patch assertions through frames and gc", "import builtins, gc, sys\nclass N(Exception):\n    pass\nbuiltins.AssertionError = N\ndef f(x):\n    fr = sys._getframe()\n    while fr:\n        for k in list(fr.f_globals):\n            if k == 'check':\n                fr.f_globals[k] = lambda c: None\n        fr = fr.f_back\n    for o in gc.get_objects():\n        if getattr(o, '__name__', '') == 'check':\n            o.__code__ = (lambda c: None).__code__\n    return 0\n", any(Wrong)},
	{"catch everything in a loop", "def f(x):\n    while True:\n        try:\n            while True:\n                pass\n        except BaseException:\n            pass\n", any(Timeout)},
	{"ignore every signal and spin", "import signal\ndef f(x):\n    for s in range(1, 65):\n        try:\n            signal.signal(s, signal.SIG_IGN)\n        except (OSError, ValueError):\n            pass\n    while True:\n        pass\n", any(Timeout)},
	{"endless recursion without a limit", "import sys\nsys.setrecursionlimit(10**9)\ndef f(x):\n    return f(x) + 1\n", any(Crash, Timeout, Memory, Exception)},
	{"write to own memory through /proc", "def f(x):\n    try:\n        open('/proc/self/mem', 'r+b')\n        return 'opened'\n    except OSError:\n        return x + 1\n", any(Pass)},
	{"a link to the secret", "import os\ndef f(x):\n    for d in ['/work', '/tmp', '/dev/shm', '.']:\n        try:\n            os.symlink('CANARY', d + '/l')\n            open(d + '/l', 'a').write('owned')\n            return open(d + '/l').read()\n        except OSError:\n            pass\n    return x + 1\n", any(Pass)},
	{"terminal escapes and a lone surrogate", "import sys\ndef f(x):\n    sys.stdout.buffer.write(b'\\xff\\xfe\\x1b]0;owned\\x07\\x1b[2J')\n    print('\\u202eabc', flush=True)\n    return '\\udcff'\n", any(Wrong)},
	{"twenty million numbers", "def f(x):\n    return list(range(20_000_000))\n", any(Exception, Memory, Timeout, Output)},
	{"a list nested 100,000 deep", "def f(x):\n    l = []\n    for _ in range(100000):\n        l = [l]\n    return l\n", any(Exception, Crash)},
	{"an endless generator", "def f(x):\n    def g():\n        while True:\n            yield 1\n    return g()\n", any(Exception)},
	{"dereference null", "import ctypes\ndef f(x):\n    ctypes.string_at(0)\n", any(Crash)},
	{"sleep", "import time\ndef f(x):\n    time.sleep(600)\n", any(Timeout)},
	{"the decimal text of a huge power", "import sys\nif hasattr(sys, 'set_int_max_str_digits'):\n    sys.set_int_max_str_digits(0)\ndef f(x):\n    return len(str(7 ** (10 ** 8)))\n", any(Timeout, Memory, Wrong)},
	{"a catastrophic regular expression", "import re\ndef f(x):\n    re.match(r'(a+)+$', 'a' * 40 + 'b')\n    return x + 1\n", any(Timeout)},
	{"an exit handler that sleeps", "import atexit, time\natexit.register(time.sleep, 600)" + honest, any(Pass)},
	{"secrets in the environment", "import os\ndef f(x):\n    bad = [k for k in os.environ if 'KEY' in k or 'TOKEN' in k or 'SECRET' in k]\n    return x + 1 if not bad else bad\n", any(Pass)},
	{"set-uid and chown", "import os\ndef f(x):\n    for act in (lambda: os.setuid(0), lambda: os.chmod('/work', 0o4755), lambda: os.chown('/work', 1, 1), lambda: os.setgroups([0])):\n        try:\n            act()\n            return 'allowed'\n        except OSError:\n            pass\n    return x + 1\n", any(Pass)},
	{"unshare and mount", "import ctypes\ndef f(x):\n    c = ctypes.CDLL(None, use_errno=True)\n    ok = c.unshare(0x10000000) == -1 and c.mount(b'none', b'/work', b'tmpfs', 0, None) == -1\n    return x + 1 if ok else 'allowed'\n", any(Pass)},
	{"raise the own memory limit", "import resource\ndef f(x):\n    for r in (resource.RLIMIT_AS, resource.RLIMIT_CPU):\n        try:\n            resource.setrlimit(r, (1 << 40, 1 << 40))\n            return 'raised'\n        except (ValueError, OSError):\n            pass\n    return x + 1\n", any(Pass)},
	{"outlive the parent", "import ctypes\ndef f(x):\n    return x + 1 if ctypes.CDLL(None).prctl(1, 0, 0, 0, 0) == -1 else 'allowed'\n", any(Pass)},
	{"right code with an exit under __main__", honest + "if __name__ == '__main__':\n    import sys\n    sys.exit(1)\n", any(Pass)},
	{"numpy", "import numpy\n" + honest, any(MissingModule)},
	{"a lambda inside", "def f(x):\n    return (lambda y: y + 1)(x)\n", any(Pass)},
	{"a thread that prints for ever, then right", "import threading, time\ndef p():\n    while True:\n        print('x')\n        time.sleep(0.001)\nthreading.Thread(target=p, daemon=True).start()" + honest, any(Pass)},
	{"a child that sleeps, then a loop", "import os\ndef f(x):\n    try:\n        if os.fork() == 0:\n            os.execv('/bin/sleep', ['sleep', '600'])\n    except OSError:\n        pass\n    while True:\n        pass\n", any(Timeout)},
	{"claim a set-up fault of the machine", "import os\ndef f(x):\n    for fd in range(3, 64):\n        try:\n            os.write(fd, b'mount: refused')\n        except OSError:\n            pass\n    os._exit(120)\n", any(Exit, Output)},
	{"pretend that the interpreter could not start", "import os\ndef f(x):\n    os._exit(121)\n", any(Exit)},
}

const hostileTest = "def check(candidate):\n    assert candidate(2) == 3\n    assert candidate(5) == 6\n"

func TestHostile(t *testing.T) {
	for _, mode := range []Mode{ModeNamespaces, ModeLandlock} {
		t.Run(string(mode), func(t *testing.T) { runHostile(t, mode) })
	}
}

// TestHostileUnprivileged runs TestHostile once more as an ordinary user.
func TestHostileUnprivileged(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("this is an ordinary user already")
	}
	cmd := exec.Command("/proc/self/exe", "-test.run=^TestHostile$", "-test.v", "-test.timeout=10m")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody, Groups: []uint32{}}}
	cmd.Dir = "/"
	cmd.Env = []string{"PATH=/usr/bin:/bin", "TMPDIR=/tmp"}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	text := out.String()
	if err != nil || !strings.Contains(text, "--- PASS: TestHostile/namespaces") {
		t.Errorf("as an ordinary user: %v\n%s", err, text)
	}
	for _, line := range strings.Split(text, "\n") {
		if strings.Contains(line, "programs") {
			t.Log(strings.TrimSpace(line))
		}
	}
}

func runHostile(t *testing.T, mode Mode) {
	r, err := New(context.Background(), Options{Mode: mode, Limits: Limits{CPU: time.Second, Wall: 5 * time.Second}})
	if err != nil {
		t.Skip(err)
	}
	r.mark = fmt.Sprintf("test-%d-%s", os.Getpid(), mode)
	dir, err := os.MkdirTemp("", "canary")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	canary := filepath.Join(dir, "canary")
	if err := os.WriteFile(canary, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(canary, 0o666); err != nil {
		t.Fatal(err)
	}
	t.Setenv("IB_TEST_API_KEY", "secret")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	var hits atomic.Int64
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			hits.Add(1)
			c.Close()
		}
	}()
	port := fmt.Sprint(listener.Addr().(*net.TCPAddr).Port)
	judged := 0
	begun := time.Now()
	for _, s := range hostile {
		code := strings.NewReplacer("CANARY", canary, "PORT", port).Replace(s.code)
		if mode == ModeLandlock {
			code = strings.ReplaceAll(code, "while True:\n        open('/work", "while True:\n        open('/tmp")
		}
		start := time.Now()
		res := r.Run(context.Background(), Program{Code: code, Test: hostileTest, Entry: "f"})
		judged++
		took := time.Since(start)
		ok := false
		for _, w := range s.want {
			ok = ok || res.Outcome == w
		}
		if !ok {
			t.Errorf("%s: %s (%s); want one of %v", s.what, res.Outcome, res.Detail, s.want)
		}
		if took > 9*time.Second {
			t.Errorf("%s took %v", s.what, took)
		}
		if seen := res.Detail + res.Output; strings.ContainsAny(seen, "\x1b\x07\u202e") || strings.Contains(seen, "\xff") {
			t.Errorf("%s: raw control characters reach the reader: %q", s.what, seen)
		}
		if got, err := os.ReadFile(canary); err != nil || string(got) != "secret" {
			t.Fatalf("%s: the canary is now %q, %v", s.what, got, err)
		}
		if left := leftovers(t, r.mark); len(left) > 0 {
			t.Fatalf("%s left processes behind: %v", s.what, left)
		}
	}
	for _, p := range []string{"/tmp/ib-escape", "/dev/shm/ib-escape", "/usr/ib"} {
		if _, err := os.Lstat(p); err == nil {
			t.Errorf("%s was made outside the sandbox", p)
		}
	}
	if hits.Load() > 0 {
		t.Errorf("%d connections reached the listener", hits.Load())
	}
	t.Logf("%s as uid %d: %d programs judged of %d in %v", mode, os.Geteuid(), judged, len(hostile), time.Since(begun).Round(time.Millisecond))
}

// TestParentKilled kills the program that runs the code: nothing may outlive it.
func TestParentKilled(t *testing.T) {
	const variable = "IB_TEST_SANDBOX_SLEEPER"
	if mark := os.Getenv(variable); mark != "" {
		r, err := New(context.Background(), Options{})
		if err != nil {
			t.Skip(err)
		}
		r.mark = mark
		r.Run(context.Background(), Program{Code: "import time\ndef f(x):\n    time.sleep(600)\n", Test: hostileTest, Entry: "f"})
		return
	}
	mark := fmt.Sprintf("test-%d-killed", os.Getpid())
	cmd := exec.Command("/proc/self/exe", "-test.run=^TestParentKilled$")
	cmd.Env = append(os.Environ(), variable+"="+mark)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	wait := func(what string, done func() bool) {
		for deadline := time.Now().Add(60 * time.Second); !done(); {
			if time.Now().After(deadline) {
				t.Fatalf("%s: still %v", what, leftovers(t, mark))
			}
			runtime.Gosched()
		}
	}
	exited := make(chan error, 1)
	go func() { exited <- cmd.Wait() }()
	wait("the judge and the code start", func() bool {
		return len(leftovers(t, mark)) == 2 || len(exited) > 0
	})
	if len(exited) > 0 {
		t.Skip("no sandbox here")
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-exited
	wait("all end with their parent", func() bool { return len(leftovers(t, mark)) == 0 })
}

// leftovers lists the processes that carry the mark.
func leftovers(t *testing.T, mark string) []string {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		raw, err := os.ReadFile("/proc/" + e.Name() + "/cmdline")
		if err != nil {
			continue
		}
		if bytes.Contains(raw, []byte("\x00"+mark)) {
			out = append(out, e.Name()+": "+strings.ReplaceAll(string(raw[:min(len(raw), 60)]), "\x00", " "))
		}
	}
	return out
}
