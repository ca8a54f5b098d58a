package sandbox

import "golang.org/x/sys/unix"

// denied are the system calls that fail with EPERM whatever their arguments: sockets,
// processes, other processes, mounts, namespaces, kernel doors, keys, rights, and memory
// that outlives limits. Calls of one architecture alone are in deniedHere.
var denied = []uintptr{
	unix.SYS_SOCKET, unix.SYS_SOCKETPAIR, unix.SYS_CONNECT, unix.SYS_BIND, unix.SYS_LISTEN, unix.SYS_ACCEPT, unix.SYS_ACCEPT4,
	unix.SYS_SENDTO, unix.SYS_SENDMSG, unix.SYS_SENDMMSG,
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_KCMP, unix.SYS_PROCESS_MADVISE,
	unix.SYS_KILL, unix.SYS_TKILL, unix.SYS_TGKILL, unix.SYS_RT_SIGQUEUEINFO, unix.SYS_RT_TGSIGQUEUEINFO,
	unix.SYS_PIDFD_OPEN, unix.SYS_PIDFD_GETFD, unix.SYS_PIDFD_SEND_SIGNAL,
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_MOVE_MOUNT, unix.SYS_OPEN_TREE,
	unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR, unix.SYS_SWAPON, unix.SYS_SWAPOFF,
	unix.SYS_UNSHARE, unix.SYS_SETNS, unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME,
	unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
	unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_KEYCTL, unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_NAME_TO_HANDLE_AT,
	unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE, unix.SYS_KEXEC_LOAD, unix.SYS_REBOOT, unix.SYS_SYSLOG, unix.SYS_ACCT, unix.SYS_QUOTACTL,
	unix.SYS_MKNODAT, unix.SYS_SETRLIMIT, unix.SYS_PERSONALITY, unix.SYS_SECCOMP,
	unix.SYS_SETUID, unix.SYS_SETGID, unix.SYS_SETREUID, unix.SYS_SETREGID, unix.SYS_SETRESUID, unix.SYS_SETRESGID, unix.SYS_SETFSUID, unix.SYS_SETFSGID, unix.SYS_SETGROUPS, unix.SYS_CAPSET,
	unix.SYS_FCHMOD, unix.SYS_FCHMODAT, unix.SYS_FCHOWN, unix.SYS_FCHOWNAT, unix.SYS_LINKAT,
	unix.SYS_SETXATTR, unix.SYS_LSETXATTR, unix.SYS_FSETXATTR,
	unix.SYS_MEMFD_CREATE, unix.SYS_MEMFD_SECRET, unix.SYS_SHMGET, unix.SYS_SHMAT, unix.SYS_SHMCTL, unix.SYS_SEMGET, unix.SYS_SEMOP, unix.SYS_SEMCTL, unix.SYS_MSGGET, unix.SYS_MSGSND, unix.SYS_MSGRCV, unix.SYS_MSGCTL, unix.SYS_MQ_OPEN,
	unix.SYS_CLOCK_SETTIME, unix.SYS_SETTIMEOFDAY, unix.SYS_ADJTIMEX, unix.SYS_CLOCK_ADJTIME,
	unix.SYS_FANOTIFY_INIT, unix.SYS_VHANGUP, unix.SYS_SETPRIORITY,
}

// Offsets in struct seccomp_data.
const (
	dataNumber = 0
	dataArch   = 4
	dataArgs   = 16
)

// seccompFilter is the filter of every sandboxed process. A call of a foreign
// architecture kills the process; clone makes threads but no processes; clone3 does not
// exist (the C library then uses clone); prlimit64 reads but does not set; prctl does not
// touch the death signal, with which the code would outlive this program.
func seccompFilter() []unix.SockFilter {
	load := func(at uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at}
	}
	answer := func(k uint32) unix.SockFilter { return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: k} }
	equal := func(k uint32, yes, no uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: k, Jt: yes, Jf: no}
	}
	any := func(k uint32, yes, no uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K, K: k, Jt: yes, Jf: no}
	}
	kill, allow := answer(unix.SECCOMP_RET_KILL_PROCESS), answer(unix.SECCOMP_RET_ALLOW)
	refuse := answer(unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM))
	unknown := answer(unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS))

	f := []unix.SockFilter{load(dataArch), equal(auditArch, 1, 0), kill, load(dataNumber)}
	if foreignBit != 0 {
		f = append(f, any(foreignBit, 0, 1), kill)
	}
	f = append(f,
		equal(uint32(unix.SYS_CLONE), 0, 4), load(dataArgs), any(unix.CLONE_THREAD, 0, 1), allow, refuse,
		equal(uint32(unix.SYS_CLONE3), 0, 1), unknown,
		equal(uint32(unix.SYS_PRLIMIT64), 0, 5), load(dataArgs+2*8), equal(0, 0, 2), load(dataArgs+2*8+4), equal(0, 1, 0), refuse,
		load(dataNumber),
		equal(uint32(unix.SYS_PRCTL), 0, 3), load(dataArgs), equal(unix.PR_SET_PDEATHSIG, 0, 1), refuse,
		load(dataNumber),
	)
	for _, nr := range append(append([]uintptr{}, denied...), deniedHere...) {
		f = append(f, equal(uint32(nr), 0, 1), refuse)
	}
	return append(f, allow)
}
