package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
)

// cgroups makes a cgroup v2 for each sandboxed process, where this process may: it bounds
// memory and processes as a whole and ends everything at once. It is one layer more, not a
// condition: many machines keep the controllers on v1 or delegate nothing.
type cgroups struct {
	dir string
	n   *atomic.Uint64
}

// findCgroups looks for a cgroup below which limits can be set, by setting them.
func findCgroups(mountinfo, self string) (cgroups, error) {
	mounts, err := os.ReadFile(mountinfo)
	if err != nil {
		return cgroups{}, err
	}
	own, err := os.ReadFile(self)
	if err != nil {
		return cgroups{}, err
	}
	mount, path := cgroupMount(string(mounts)), cgroupPath(string(own))
	if mount == "" || path == "" {
		return cgroups{}, errors.New("cgroup v2 is not mounted")
	}
	dir := filepath.Join(mount, path)
	have, err := os.ReadFile(filepath.Join(dir, "cgroup.controllers"))
	if err != nil {
		return cgroups{}, err
	}
	for _, c := range []string{"memory", "pids"} {
		if !slices.Contains(strings.Fields(string(have)), c) {
			return cgroups{}, fmt.Errorf("cgroup v2 has no %s controller here", c)
		}
	}
	if err := enable(filepath.Join(dir, "cgroup.subtree_control"), "memory", "pids"); err != nil {
		return cgroups{}, fmt.Errorf("cgroup v2 is not delegated: %w", err)
	}
	c := cgroups{dir, new(atomic.Uint64)}
	trial, err := c.make(1 << 30)
	if err != nil {
		return cgroups{}, err
	}
	trial.remove()
	return c, nil
}

// enable passes controllers on to groups below, where that is not done already.
func enable(control string, controllers ...string) error {
	have, err := os.ReadFile(control)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	var lacking []string
	for _, c := range controllers {
		if !slices.Contains(strings.Fields(string(have)), c) {
			lacking = append(lacking, "+"+c)
		}
	}
	if len(lacking) == 0 {
		return nil
	}
	return os.WriteFile(control, []byte(strings.Join(lacking, " ")), 0o644)
}

// cgroupMount is the mount point of cgroup v2 in a mountinfo text, or "".
func cgroupMount(mountinfo string) string {
	for line := range strings.Lines(mountinfo) {
		left, right, ok := strings.Cut(line, " - ")
		fields := strings.Fields(left)
		if ok && strings.HasPrefix(right, "cgroup2 ") && len(fields) > 4 {
			return fields[4]
		}
	}
	return ""
}

// cgroupPath is the path of this process in cgroup v2, or "".
func cgroupPath(self string) string {
	for line := range strings.Lines(self) {
		if p, ok := strings.CutPrefix(line, "0::"); ok {
			return strings.TrimSpace(p)
		}
	}
	return ""
}

// group is the cgroup of one process.
type group struct{ dir string }

// make creates a group with limits.
func (c cgroups) make(memory uint64) (*group, error) {
	g := &group{filepath.Join(c.dir, fmt.Sprintf("inferencebench-%d-%d", os.Getpid(), c.n.Add(1)))}
	if err := os.Mkdir(g.dir, 0o755); err != nil {
		return nil, fmt.Errorf("make cgroup: %w", err)
	}
	for _, l := range []struct{ file, value string }{
		{"memory.max", fmt.Sprint(memory)}, {"pids.max", fmt.Sprint(processesLimit)},
	} {
		if err := os.WriteFile(filepath.Join(g.dir, l.file), []byte(l.value), 0o644); err != nil {
			g.remove()
			return nil, fmt.Errorf("limit cgroup: %w", err)
		}
	}
	return g, nil
}

// exhausted reports whether the kernel killed a process of the group for memory.
func (g *group) exhausted() bool {
	raw, err := os.ReadFile(filepath.Join(g.dir, "memory.events"))
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(raw)) {
		if n, ok := strings.CutPrefix(line, "oom_kill "); ok {
			return strings.TrimSpace(n) != "0"
		}
	}
	return false
}

// remove ends what is left in the group and takes it away. An empty folder that stays
// behind does no harm.
func (g *group) remove() {
	_ = os.WriteFile(filepath.Join(g.dir, "cgroup.kill"), []byte("1"), 0o644)
	_ = os.Remove(g.dir)
}
