//go:build !unix

package self

import "time"

// cpuTime is not known on this system.
func cpuTime() (time.Duration, bool) { return 0, false }

// residentBytes is not known on this system.
func residentBytes() (float64, bool) { return 0, false }
