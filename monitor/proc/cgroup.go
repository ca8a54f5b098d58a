package proc

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// cgroupRoot is where control groups are mounted.
const cgroupRoot = "/sys/fs/cgroup"

// cgroupOf returns the folder with the processor statistics of a process's control group,
// of version 2 or 1; "" when there is none to be seen.
func cgroupOf(root string, pid int) string {
	b, err := os.ReadFile(filepath.Join(root, strconv.Itoa(pid), "cgroup"))
	if err != nil {
		return ""
	}
	for _, line := range strings.Split(strings.TrimSpace(string(b)), "\n") {
		// hierarchy:controllers:path
		f := strings.SplitN(line, ":", 3)
		if len(f) != 3 {
			continue
		}
		var dirs []string
		if f[0] == "0" && f[1] == "" {
			dirs = []string{filepath.Join(cgroupRoot, f[2]), filepath.Join(cgroupRoot, "unified", f[2]), cgroupRoot}
		}
		for _, c := range strings.Split(f[1], ",") {
			if c == "cpu" {
				dirs = []string{filepath.Join(cgroupRoot, "cpu", f[2]), filepath.Join(cgroupRoot, f[1], f[2]), filepath.Join(cgroupRoot, "cpu")}
			}
		}
		for _, d := range dirs {
			if _, err := os.Stat(filepath.Join(d, "cpu.stat")); err == nil {
				return d
			}
		}
	}
	return ""
}

// throttling adds how often and how long a control group was held back for having used up
// its processor quota.
func throttling(dir string, v map[string]float64) {
	if dir == "" {
		return
	}
	b, err := os.ReadFile(filepath.Join(dir, "cpu.stat"))
	if err != nil {
		return
	}
	for _, line := range strings.Split(string(b), "\n") {
		name, num, _ := strings.Cut(strings.TrimSpace(line), " ")
		n, err := strconv.ParseFloat(num, 64)
		if err != nil {
			continue
		}
		switch name {
		case "nr_throttled":
			v["cgroup_throttled_periods_total"] = n
		case "throttled_usec":
			v["cgroup_throttled_seconds_total"] = n / 1e6
		case "throttled_time":
			v["cgroup_throttled_seconds_total"] = n / 1e9
		}
	}
}
