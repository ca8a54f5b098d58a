package sandbox

import "golang.org/x/sys/unix"

const (
	auditArch  = unix.AUDIT_ARCH_AARCH64
	foreignBit = 0
)

// deniedHere are calls that only this architecture has, or has by this name.
var deniedHere = []uintptr{unix.SYS_KEXEC_FILE_LOAD}
