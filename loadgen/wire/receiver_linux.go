//go:build linux && !386 && !s390x

package wire

import (
	"io"
	"net"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// rawReceiver makes reads with the kernel's receive stamps, one at a time.
type rawReceiver struct {
	iov unix.Iovec
	msg unix.Msghdr
	oob [64]byte
}

// recv makes one read that does not block. It returns the wall-clock nanosecond at which
// the kernel received the last byte returned; 0 when it gave none.
func (r *rawReceiver) recv(fd int, p []byte) (n int, wall int64, errno syscall.Errno) {
	r.iov.Base = &p[0]
	r.iov.SetLen(len(p))
	r.msg = unix.Msghdr{Iov: &r.iov, Control: &r.oob[0]}
	r.msg.SetIovlen(1)
	r.msg.SetControllen(len(r.oob))
	got, _, errno := syscall.RawSyscall(syscall.SYS_RECVMSG, uintptr(fd), uintptr(unsafe.Pointer(&r.msg)), syscall.MSG_DONTWAIT)
	if errno != 0 {
		return 0, 0, errno
	}
	return int(got), stampOf(r.oob[:min(len(r.oob), int(r.msg.Controllen))]), 0
}

// receiver reads a TCP socket together with the kernel's receive stamps.
type receiver struct {
	rc    syscall.RawConn
	ready func(fd uintptr) bool // made once: no allocation for each read

	raw   rawReceiver
	p     []byte
	n     int
	errno syscall.Errno
	wall  int64
}

// newReceiver turns receive stamps on. It returns nil where the socket has none.
func newReceiver(conn net.Conn) *receiver {
	tcp, ok := conn.(*net.TCPConn)
	if !ok {
		return nil
	}
	rc, err := tcp.SyscallConn()
	if err != nil {
		return nil
	}
	var optErr error
	err = rc.Control(func(fd uintptr) {
		optErr = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1)
	})
	if err != nil || optErr != nil {
		return nil
	}
	r := &receiver{rc: rc}
	r.ready = r.try
	return r
}

// recv reads into p and returns the wall-clock nanosecond at which the kernel received
// the last byte returned; 0 when it gave none.
func (r *receiver) recv(p []byte) (int, int64, error) {
	if len(p) == 0 {
		return 0, 0, nil
	}
	r.p, r.n, r.errno, r.wall = p, 0, 0, 0
	err := r.rc.Read(r.ready)
	r.p = nil
	switch {
	case err != nil:
		return 0, 0, err
	case r.errno != 0:
		return 0, 0, &net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("recvmsg", r.errno)}
	case r.n == 0:
		return 0, 0, io.EOF
	}
	return r.n, r.wall, nil
}

// try makes one attempt that does not block, and reports whether it is decided.
func (r *receiver) try(fd uintptr) bool {
	for {
		r.n, r.wall, r.errno = r.raw.recv(int(fd), r.p)
		switch r.errno {
		case syscall.EINTR:
			continue
		case syscall.EAGAIN:
			r.errno = 0
			return false
		}
		return true
	}
}

// stampOf finds the receive stamp among control messages.
func stampOf(oob []byte) int64 {
	const head = unix.SizeofCmsghdr
	for len(oob) >= head {
		h := (*unix.Cmsghdr)(unsafe.Pointer(&oob[0]))
		size := int(h.Len)
		if size < head || size > len(oob) {
			return 0
		}
		if h.Level == unix.SOL_SOCKET && h.Type == unix.SCM_TIMESTAMPNS && size >= head+int(unsafe.Sizeof(unix.Timespec{})) {
			ts := (*unix.Timespec)(unsafe.Pointer(&oob[head]))
			return ts.Nano()
		}
		oob = oob[min(len(oob), (size+7)&^7):]
	}
	return 0
}
