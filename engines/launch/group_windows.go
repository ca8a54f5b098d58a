package launch

import (
	"os"
	"syscall"
)

// signalGroup ends a process. Windows has no request to end that every program hears, so
// that force makes no difference.
func signalGroup(pid int, _ bool) error {
	p, err := os.FindProcess(pid)
	if err != nil {
		return err
	}
	return p.Kill()
}

// killed cannot be told here: a process that was ended has an exit code like any other.
func killed(*os.ProcessState) bool { return false }

// attributes puts a child in a group of its own.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}
