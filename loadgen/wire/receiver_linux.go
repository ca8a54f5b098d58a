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

// receiver reads a TCP socket together with the kernel's receive stamps.
type receiver struct {
	rc    syscall.RawConn
	ready func(fd uintptr) bool // made once: no allocation for each read

	p     []byte
	n     int
	errno syscall.Errno
	wall  int64
	iov   unix.Iovec
	msg   unix.Msghdr
	oob   [64]byte
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
		r.iov.Base = &r.p[0]
		r.iov.SetLen(len(r.p))
		r.msg = unix.Msghdr{Iov: &r.iov, Control: &r.oob[0]}
		r.msg.SetIovlen(1)
		r.msg.SetControllen(len(r.oob))
		n, _, errno := syscall.RawSyscall(syscall.SYS_RECVMSG, fd, uintptr(unsafe.Pointer(&r.msg)), syscall.MSG_DONTWAIT)
		switch errno {
		case 0:
			r.n = int(n)
			r.wall = stampOf(r.oob[:min(len(r.oob), int(r.msg.Controllen))])
			return true
		case syscall.EINTR:
			continue
		case syscall.EAGAIN:
			return false
		default:
			r.errno = errno
			return true
		}
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
