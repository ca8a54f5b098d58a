package sandbox

import (
	"errors"
	"fmt"
	"path/filepath"
	"unsafe"

	"golang.org/x/sys/unix"
)

// landlockABI returns the kernel's Landlock version, or an error that says why there is
// none: ENOSYS when it is not built in, EOPNOTSUPP when it is switched off.
func landlockABI() (int, error) {
	v, _, e := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if e != 0 {
		return 0, e
	}
	return int(v), nil
}

// rulesetAttr is struct landlock_ruleset_attr. Older kernels take a shorter one.
type rulesetAttr struct {
	fs, net, scoped uint64
}

// pathRule is struct landlock_path_beneath_attr, which is packed.
type pathRule struct {
	access [8]byte
	fd     int32
}

const (
	accessRead = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	accessWork = accessRead | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR |
		unix.LANDLOCK_ACCESS_FS_REMOVE_FILE | unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG |
		unix.LANDLOCK_ACCESS_FS_MAKE_SYM | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO
)

// handled returns all rights that an ABI knows: what is not granted is refused.
func handled(abi int) rulesetAttr {
	a := rulesetAttr{fs: 1<<13 - 1}
	if abi >= 2 {
		a.fs |= unix.LANDLOCK_ACCESS_FS_REFER
	}
	if abi >= 3 {
		a.fs |= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	if abi >= 4 {
		a.net = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
	}
	if abi >= 5 {
		a.fs |= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	if abi >= 6 {
		a.scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
	}
	return a
}

// restrictFiles applies Landlock to this thread: the interpreter's trees are readable,
// only the interpreter and its loader can be executed, and only the namespace mode has a
// folder to write in. Any error is fatal: a ruleset that was not applied protects nothing.
func restrictFiles(s *spec) error {
	attr := handled(s.Landlock)
	size := unsafe.Sizeof(attr)
	switch {
	case s.Landlock < 4:
		size = 8
	case s.Landlock < 6:
		size = 16
	}
	r, _, e := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), size, 0)
	if e != 0 {
		return fmt.Errorf("landlock ruleset: %w", e)
	}
	ruleset := int(r)
	defer unix.Close(ruleset)
	allow := func(path string, access uint64) error {
		return grant(ruleset, path, access&attr.fs)
	}
	for _, t := range s.Trees {
		if err := allow(t, accessRead); err != nil {
			return err
		}
	}
	for _, f := range append(append([]string{}, s.Files...), devices...) {
		access := uint64(unix.LANDLOCK_ACCESS_FS_READ_FILE)
		if f == "/dev/null" {
			access |= unix.LANDLOCK_ACCESS_FS_WRITE_FILE
		}
		if err := allow(f, access); err != nil {
			return err
		}
	}
	for _, f := range []string{s.Python, s.Loader} {
		if f == "" {
			continue
		}
		if err := allow(f, unix.LANDLOCK_ACCESS_FS_EXECUTE|unix.LANDLOCK_ACCESS_FS_READ_FILE); err != nil {
			return err
		}
	}
	if s.Mode == ModeNamespaces {
		if err := allow("/work", accessWork|unix.LANDLOCK_ACCESS_FS_TRUNCATE); err != nil {
			return err
		}
	}
	if _, _, e := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(ruleset), 0, 0); e != 0 {
		return fmt.Errorf("landlock restrict: %w", e)
	}
	return nil
}

// grant adds one rule.
func grant(ruleset int, path string, access uint64) error {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return fmt.Errorf("landlock rule for %s: %w", path, err)
	}
	fd, err := unix.Open(real, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("landlock rule for %s: %w", path, err)
	}
	defer unix.Close(fd)
	rule := pathRule{fd: int32(fd)}
	*(*uint64)(unsafe.Pointer(&rule.access)) = access
	_, _, e := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(ruleset), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&rule)), 0, 0, 0)
	if e != 0 {
		return fmt.Errorf("landlock rule for %s: %w", path, e)
	}
	return nil
}

// landlockNote says in words why Landlock is missing.
func landlockNote(err error) string {
	switch {
	case errors.Is(err, unix.ENOSYS):
		return "no Landlock (ENOSYS: not in this kernel)"
	case errors.Is(err, unix.EOPNOTSUPP):
		return "no Landlock (EOPNOTSUPP: switched off at boot)"
	}
	return fmt.Sprintf("no Landlock (%v)", err)
}
