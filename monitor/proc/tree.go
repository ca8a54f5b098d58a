package proc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/inferencebench/inferencebench/archive"
)

const (
	maxThreads  = 1024 // read of one tree
	maxTree     = 256  // processes of one tree
	rescanEvery = 10   // readings between looks for new processes
)

// Source reads a process and its descendants. It is used by one goroutine at a time.
type Source struct {
	root string
	pid  int
	now  func() time.Time

	tree    []int
	readers int
	at      time.Time
	threads map[string]times // at the reading before
	gone    times            // of threads that ended
	cpu     time.Duration    // at the reading before
	cgroup  string
}

// times are how long a thread ran and how long it waited for a processor, in nanoseconds.
type times struct{ ran, wait uint64 }

// New reads the process pid of the files under root, which is Root but in tests.
func New(root string, pid int) *Source {
	return &Source{root: root, pid: pid, now: time.Now, threads: map[string]times{}, cgroup: cgroupOf(root, pid)}
}

// Kind is archive.SourceHost.
func (s *Source) Kind() string { return archive.SourceHost }

// Target names the process.
func (s *Source) Target() string { return "process/" + strconv.Itoa(s.pid) }

// ErrGone says that the process has ended.
var ErrGone = errors.New("the server's process is gone")

// Read takes one reading.
func (s *Source) Read(context.Context) (map[string]float64, error) {
	if s.readers%rescanEvery == 0 || len(s.tree) == 0 {
		s.tree = s.descendants()
	}
	s.readers++
	v := map[string]float64{}
	var total tally
	now := s.now()
	busiest, seen, alive := uint64(0), map[string]times{}, false
	for _, pid := range s.tree {
		if !s.process(pid, &total) {
			continue
		}
		alive = alive || pid == s.pid
		for _, tid := range s.tasks(pid, maxThreads-len(seen)) {
			t, ok := s.schedule(pid, tid)
			if !ok {
				continue
			}
			key := strconv.Itoa(pid) + "/" + tid
			if before, known := s.threads[key]; known && t.ran >= before.ran {
				busiest = max(busiest, t.ran-before.ran)
			}
			seen[key] = t
			total.ran += t.ran
			total.wait += t.wait
		}
	}
	if !alive {
		return nil, fmt.Errorf("%w: pid %d", ErrGone, s.pid)
	}
	// Threads that ended take their counts with them; what they had used and waited stays
	// counted.
	for key, then := range s.threads {
		if _, still := seen[key]; !still {
			s.gone.ran += then.ran
			s.gone.wait += then.wait
		}
	}
	if total.ran > 0 {
		cpu := time.Duration(total.ran + s.gone.ran)
		v["process_cpu_seconds_total"] = cpu.Seconds()
		v["process_runqueue_wait_seconds_total"] = time.Duration(total.wait + s.gone.wait).Seconds()
		if wall := now.Sub(s.at); !s.at.IsZero() && wall > 0 {
			v["process_cpu_cores"] = max(0, (cpu-s.cpu).Seconds()/wall.Seconds())
			v["process_busiest_thread_cores"] = time.Duration(busiest).Seconds() / wall.Seconds()
		}
		s.cpu = cpu
	}
	s.threads, s.at = seen, now
	v["processes"], v["process_threads"] = float64(total.processes), float64(total.threads)
	v["process_rss_bytes"] = float64(total.rss)
	v["process_major_faults_total"] = float64(total.faults)
	v["process_involuntary_switches_total"] = float64(total.switches)
	throttling(s.cgroup, v)
	return v, nil
}

type tally struct {
	ran, wait, faults, switches uint64
	rss                         int64
	processes, threads          int
}

// Tree returns a process and those that it started, however far down, in order of their
// ids.
func Tree(root string, pid int) []int { return (&Source{root: root, pid: pid}).descendants() }

// descendants are the process and those that it started, however far down.
func (s *Source) descendants() []int {
	parent := map[int][]int{}
	for _, pid := range pids(s.root) {
		if f, ok := s.stat(pid); ok {
			if up, err := strconv.Atoi(f[1]); err == nil {
				parent[up] = append(parent[up], pid)
			}
		}
	}
	tree := []int{s.pid}
	for i := 0; i < len(tree) && len(tree) < maxTree; i++ {
		tree = append(tree, parent[tree[i]]...)
	}
	tree = tree[:min(len(tree), maxTree)]
	slices.Sort(tree)
	return slices.Compact(tree)
}

// stat returns the fields of a process after its name: state, parent, and so on.
func (s *Source) stat(pid int) ([]string, bool) {
	b, err := os.ReadFile(filepath.Join(s.root, strconv.Itoa(pid), "stat"))
	if err != nil {
		return nil, false
	}
	// The name, in parentheses, may itself hold spaces and parentheses.
	i := strings.LastIndexByte(string(b), ')')
	if i < 0 {
		return nil, false
	}
	f := strings.Fields(string(b[i+1:]))
	return f, len(f) > 21
}

func (s *Source) process(pid int, t *tally) bool {
	f, ok := s.stat(pid)
	if !ok || f[0] == "Z" {
		return false
	}
	num := func(i int) uint64 { n, _ := strconv.ParseUint(f[i], 10, 64); return n }
	t.processes++
	t.threads += int(num(17))
	t.rss += int64(num(21)) * int64(os.Getpagesize())
	t.faults += num(9)
	if b, err := os.ReadFile(filepath.Join(s.root, strconv.Itoa(pid), "status")); err == nil {
		if _, rest, ok := strings.Cut(string(b), "nonvoluntary_ctxt_switches:"); ok {
			line, _, _ := strings.Cut(rest, "\n")
			n, _ := strconv.ParseUint(strings.TrimSpace(line), 10, 64)
			t.switches += n
		}
	}
	return true
}

func (s *Source) tasks(pid, most int) []string {
	d, err := os.Open(filepath.Join(s.root, strconv.Itoa(pid), "task"))
	if err != nil || most <= 0 {
		return nil
	}
	defer d.Close()
	names, _ := d.Readdirnames(most)
	return names
}

func (s *Source) schedule(pid int, tid string) (t times, ok bool) {
	b, err := os.ReadFile(filepath.Join(s.root, strconv.Itoa(pid), "task", tid, "schedstat"))
	if err != nil {
		return times{}, false
	}
	f := strings.Fields(string(b))
	if len(f) < 2 {
		return times{}, false
	}
	ran, err1 := strconv.ParseUint(f[0], 10, 64)
	wait, err2 := strconv.ParseUint(f[1], 10, 64)
	return times{ran, wait}, err1 == nil && err2 == nil
}
