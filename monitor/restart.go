package monitor

import (
	"math"
	"slices"
	"strings"
)

// startTime is when the server's process started, in seconds since 1970, where it says so.
const startTime = "process_start_time_seconds"

// compare looks for a restart of the server between two readings, and for counters that
// fell. A start time that moved by more than a second is a restart; one that stayed rules
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
	then, ok1 := before[startTime]
	started, ok2 := now[startTime]
	if ok1 && ok2 {
		return math.Abs(started-then) > 1, cut
	}
	return len(fell) > 0, cut
}

// cumulative reports whether a value only grows while the server runs. Parts of a
// breakdown count by their whole; an inexact sum of seconds is left out.
func cumulative(name string) bool {
	return strings.HasSuffix(name, "_total") || strings.HasSuffix(name, "_count")
}
