//go:build linux

package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCgroupPlaces(t *testing.T) {
	hybrid := "25 20 0:22 / /sys rw - sysfs sysfs rw\n" +
		"30 25 0:26 / /sys/fs/cgroup/memory rw,nosuid - cgroup cgroup rw,memory\n" +
		"31 25 0:27 / /sys/fs/cgroup/unified rw,nosuid shared:9 - cgroup2 cgroup2 rw\n"
	if got := cgroupMount(hybrid); got != "/sys/fs/cgroup/unified" {
		t.Errorf("cgroupMount = %q", got)
	}
	if got := cgroupMount("30 25 0:26 / /sys/fs/cgroup/memory rw - cgroup cgroup rw\nbroken\n"); got != "" {
		t.Errorf("without v2: %q", got)
	}
	if got := cgroupPath("12:memory:/a\n0::/user.slice/x\n"); got != "/user.slice/x" {
		t.Errorf("cgroupPath = %q", got)
	}
}

// TestCgroupFiles plays a delegated cgroup with plain files: which limits are written
// where, and why a cgroup without the controllers is refused.
func TestCgroupFiles(t *testing.T) {
	root := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(root, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	mounts := write("mountinfo", "31 25 0:27 / "+root+" rw - cgroup2 cgroup2 rw\n")
	self := write("self", "0::/\n")
	write("cgroup.controllers", "cpuset hugetlb\n")
	if _, err := findCgroups(mounts, self); err == nil || !strings.Contains(err.Error(), "no memory controller") {
		t.Errorf("without the memory controller: %v", err)
	}
	write("cgroup.controllers", "cpu memory pids\n")
	c, err := findCgroups(mounts, self)
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(filepath.Join(root, "cgroup.subtree_control")); string(got) != "+memory +pids" {
		t.Errorf("controllers asked for: %q", got)
	}
	g, err := c.make(512 << 20)
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(filepath.Join(g.dir, "memory.max")); string(got) != "536870912" {
		t.Errorf("memory.max = %q", got)
	}
	if g.exhausted() {
		t.Error("memory exhausted without events")
	}
	if err := os.WriteFile(filepath.Join(g.dir, "memory.events"), []byte("low 0\noom 1\noom_kill 1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if !g.exhausted() {
		t.Error("an oom_kill is not seen")
	}
	g.remove()
	if got, _ := os.ReadFile(filepath.Join(g.dir, "cgroup.kill")); string(got) != "1" {
		t.Errorf("cgroup.kill = %q; want 1", got)
	}
}
