//go:build unix && !linux

package launch

import "syscall"

// attributes puts a child in a group of its own.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
