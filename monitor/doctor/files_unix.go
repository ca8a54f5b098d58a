//go:build unix

package doctor

import "syscall"

// openFileLimit is how many files this process may have open.
func openFileLimit() (uint64, bool) {
	var l syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l) != nil {
		return 0, false
	}
	return uint64(l.Cur), true
}
