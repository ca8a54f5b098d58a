package doctor

import (
	"time"

	"golang.org/x/sys/unix"
)

// timeSync asks the kernel whether its clock is disciplined, and by how much it is off.
func timeSync() (synced bool, offset time.Duration, ok bool) {
	var t unix.Timex // asks, and changes nothing
	state, err := unix.Adjtimex(&t)
	if err != nil {
		return false, 0, false
	}
	offset = time.Duration(t.Offset) * time.Microsecond
	if t.Status&unix.STA_NANO != 0 {
		offset = time.Duration(t.Offset)
	}
	const timeError = 5
	return state != timeError && t.Status&unix.STA_UNSYNC == 0, offset, true
}
