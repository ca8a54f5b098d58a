package sandbox

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"unsafe"

	"golang.org/x/sys/unix"
)

// exitSetup is the exit code of a helper that could not become Python. The parent does
// not rely on it, since Python can end with it too, but on what the status pipe says.
const exitSetup = 120

// MaybeInit turns this process into a sandbox helper when it was started as one, and
// then never returns. Otherwise it returns at once. It must be the first statement of
// main, and of TestMain in packages whose tests run code.
func MaybeInit() {
	if len(os.Args) != 2 || os.Args[1] != word {
		return
	}
	debug.SetGCPercent(-1)
	runtime.LockOSThread()
	unix.CloseOnExec(fdStatus)
	err := lockIn()
	fmt.Fprintf(os.NewFile(fdStatus, "status"), "%v", err)
	os.Exit(exitSetup)
}

// lockIn reads the spec, builds the sandbox around this thread and becomes Python. It
// returns only an error.
func lockIn() error {
	in := os.NewFile(fdSpec, "spec")
	raw, err := io.ReadAll(in)
	if err != nil {
		return fmt.Errorf("read spec: %w", err)
	}
	in.Close()
	var s spec
	if err := json.Unmarshal(raw, &s); err != nil {
		return fmt.Errorf("read spec: %w", err)
	}
	if s.Mode == ModeNamespaces {
		if err := buildRoot(&s); err != nil {
			return err
		}
	} else if err := os.Chdir("/"); err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		return fmt.Errorf("set death signal: %w", err)
	}
	if err := dropPrivileges(); err != nil {
		return err
	}
	if s.Landlock > 0 {
		if err := restrictFiles(&s); err != nil {
			return err
		}
	}
	return become(&s)
}

// dropPrivileges gives up every way to gain rights: no_new_privs, and an empty bounding
// set where this thread may change it.
func dropPrivileges() error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("set no_new_privs: %w", err)
	}
	for c := uintptr(0); c <= 63; c++ {
		// EINVAL: the kernel has no such capability. EPERM: none to drop for a plain user.
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); err != nil {
			break
		}
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fmt.Errorf("clear ambient capabilities: %w", err)
	}
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	if err := unix.Capset(&head, &none[0]); err != nil {
		return fmt.Errorf("drop capabilities: %w", err)
	}
	return nil
}

// become sets the limits and the system call filter and executes Python. From the first
// raw call on nothing may be allocated: the address space limit would let the Go runtime
// fail at any moment.
func become(s *spec) error {
	path, err := unix.BytePtrFromString(s.Python)
	if err != nil {
		return err
	}
	argv, err := pointers(s.Args)
	if err != nil {
		return err
	}
	env, err := pointers(s.Env)
	if err != nil {
		return err
	}
	filter := seccompFilter()
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	limits := []struct {
		what  uintptr
		value unix.Rlimit
	}{
		{unix.RLIMIT_CORE, same(0)},
		{unix.RLIMIT_CPU, same(s.CPU)},
		{unix.RLIMIT_FSIZE, same(fileSizeLimit)},
		{unix.RLIMIT_NOFILE, same(openFilesLimit)},
		{unix.RLIMIT_STACK, same(stackLimit)},
		{unix.RLIMIT_NPROC, same(s.Procs)},
		{unix.RLIMIT_AS, same(s.Memory)},
	}
	if s.Procs == 0 {
		limits[5] = limits[0]
	}
	for i := range limits {
		_, _, e := unix.RawSyscall6(unix.SYS_PRLIMIT64, 0, limits[i].what, uintptr(unsafe.Pointer(&limits[i].value)), 0, 0, 0)
		if e != 0 {
			return e
		}
	}
	if _, _, e := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&program))); e != 0 {
		giveUp(noFilter)
	}
	unix.RawSyscall(unix.SYS_EXECVE, uintptr(unsafe.Pointer(path)), uintptr(unsafe.Pointer(&argv[0])), uintptr(unsafe.Pointer(&env[0])))
	giveUp(noExec)
	return nil
}

// What the status pipe says when the last steps fail, where nothing may be allocated.
var (
	noFilter = []byte("the kernel refuses the system call filter")
	noExec   = []byte("the interpreter cannot be executed")
)

func giveUp(why []byte) {
	unix.RawSyscall(unix.SYS_WRITE, fdStatus, uintptr(unsafe.Pointer(&why[0])), uintptr(len(why)))
	unix.RawSyscall(unix.SYS_EXIT_GROUP, exitSetup, 0, 0)
}

func same(n uint64) unix.Rlimit { return unix.Rlimit{Cur: n, Max: n} }

// pointers makes the null-terminated array that execve takes.
func pointers(list []string) ([]*byte, error) {
	out := make([]*byte, len(list)+1)
	for i, s := range list {
		p, err := unix.BytePtrFromString(s)
		if err != nil {
			return nil, err
		}
		out[i] = p
	}
	return out, nil
}
