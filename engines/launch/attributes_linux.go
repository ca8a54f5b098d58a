package launch

import "syscall"

// attributes puts a child in a group of its own and ends it with this program.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
