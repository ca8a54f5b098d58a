//go:build unix

package launch

import (
	"os"
	"syscall"
)

// signalGroup asks a group of processes to end, or ends it.
func signalGroup(pid int, force bool) error {
	if force {
		return syscall.Kill(-pid, syscall.SIGKILL)
	}
	return syscall.Kill(-pid, syscall.SIGTERM)
}

// killed reports whether a process was ended by force.
func killed(s *os.ProcessState) bool {
	ws, ok := s.Sys().(syscall.WaitStatus)
	return ok && ws.Signaled() && ws.Signal() == syscall.SIGKILL
}
