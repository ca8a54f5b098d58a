package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/inferencebench/inferencebench/loadgen/null"
)

// pin keeps the process on one core, where there are two or more.
func pin(core int) error {
	var have unix.CPUSet
	if err := unix.SchedGetaffinity(0, &have); err != nil || have.Count() < 2 {
		return err
	}
	n := 0
	for cpu := range 1024 {
		if !have.IsSet(cpu) {
			continue
		}
		if n == core%have.Count() {
			var one unix.CPUSet
			one.Set(cpu)
			tasks, err := os.ReadDir("/proc/self/task")
			if err != nil {
				return err
			}
			for _, t := range tasks {
				if tid, err := strconv.Atoi(t.Name()); err == nil {
					_ = unix.SchedSetaffinity(tid, &one)
				}
			}
			return nil
		}
		n++
	}
	return nil
}

// serve is the server's process: it prints its address and runs until its input ends.
func serve(args []string) error {
	if len(args) > 0 {
		core, err := strconv.Atoi(args[0])
		if err != nil {
			return err
		}
		if err := pin(core); err != nil {
			return err
		}
	}
	s, err := null.Start()
	if err != nil {
		return err
	}
	defer s.Close()
	if len(args) > 1 && args[1] == "stalls" {
		s.Stall(stallEvery, stallFor)
	}
	fmt.Println(s.URL())
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, os.Interrupt)
	gone := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(gone)
	}()
	select {
	case <-stop:
	case <-gone:
	}
	return nil
}

// server is the null server in a process of its own.
type server struct {
	cmd *exec.Cmd
	in  io.Closer
	url string
}

// The server in trouble of the coordinated-omission test.
const (
	stallEvery = 2 * time.Second
	stallFor   = 300 * time.Millisecond
)

func startServer(args ...string) (*server, error) {
	cmd := exec.Command(os.Args[0], append([]string{"server", "0"}, args...)...) //nolint:gosec // this program itself
	cmd.Stderr = os.Stderr
	cmd.Env = append(os.Environ(), "GOMAXPROCS=2", "GOGC=off", "GOMEMLIMIT=1GiB")
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		_ = in.Close()
		_ = cmd.Wait()
		return nil, fmt.Errorf("the server did not start: %w", err)
	}
	return &server{cmd: cmd, in: in, url: strings.TrimSpace(line)}, nil
}

func (s *server) stop() {
	_ = s.in.Close()
	_ = s.cmd.Wait()
}

// stats asks the server for its counts.
func (s *server) stats() (null.Stats, error) {
	var st null.Stats
	resp, err := http.Get(s.url + "/stats")
	if err != nil {
		return st, err
	}
	defer resp.Body.Close()
	return st, json.NewDecoder(resp.Body).Decode(&st)
}

// cpu is the processor time of this process so far.
func cpu() time.Duration {
	var ru unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_SELF, &ru)
	return time.Duration(ru.Utime.Nano() + ru.Stime.Nano())
}

// rss is the resident memory of this process, in bytes.
func rss() (int64, error) {
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, err
	}
	f := strings.Fields(string(b))
	if len(f) < 2 {
		return 0, errors.New("/proc/self/statm has no resident size")
	}
	pages, err := strconv.ParseInt(f[1], 10, 64)
	return pages * int64(os.Getpagesize()), err
}

// machineBusy returns the busy processor time of the whole machine so far, in seconds.
func machineBusy() float64 {
	b, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0
	}
	line, _, _ := strings.Cut(string(b), "\n")
	f := strings.Fields(line)
	busy := 0.0
	for i, v := range f[min(1, len(f)):] {
		n, _ := strconv.ParseFloat(v, 64)
		if i != 3 && i != 4 { // idle and waiting for disks
			busy += n
		}
	}
	return busy / 100
}
