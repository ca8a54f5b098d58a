//go:build !linux

package doctor

import "time"

// timeSync is not known on this system.
func timeSync() (synced bool, offset time.Duration, ok bool) { return false, 0, false }
