package monitor

import (
	"math"
	"slices"
	"strings"
)

// startTime is when the server's process started, in seconds since 1970, where it says so.
const startTime = "process_start_time_seconds"

// startMark is a number that a server's process keeps as long as it lives; see package prom.
const startMark = "process_start_mark"

// compare looks for a restart of the server between two readings, and for counters that
// fell. A start time that moved by more than a second, or another start mark, is a restart; one that stayed rules
// a restart out, and counters that fell then belong to a part of the server or to series
// that went away. Where the server tells no start time, a counter that fell is a restart.
func compare(before, now map[string]float64) (restart bool, fell []string) {
	for name, v := range now {
		if old, ok := before[name]; ok && cumulative(name) && v < old {
			fell = append(fell, name)
		}
	}
	slices.Sort(fell)
	const keep = 10
	cut := fell[:min(len(fell), keep)]
	for name, slack := range map[string]float64{startTime: 1, startMark: 0} {
		then, ok1 := before[name]
		started, ok2 := now[name]
		if ok1 && ok2 {
			return math.Abs(started-then) > slack, cut
		}
	}
	return len(fell) > 0, cut
}

// cumulative reports whether a value only grows while the server runs. Parts of a
// breakdown count by their whole; an inexact sum of seconds is left out.
func cumulative(name string) bool {
	return strings.HasSuffix(name, "_total") || strings.HasSuffix(name, "_count")
}
