package prom

import (
	"crypto/tls"
	"net"
	"time"

	"golang.org/x/sys/unix"
)

// path is what the kernel measured of one connection.
type path struct {
	rtt         time.Duration
	retransmits uint32
}

// tcpInfo asks the kernel about a connection; ok is false where it does not tell.
func tcpInfo(c net.Conn) (p path, ok bool) {
	if t, isTLS := c.(*tls.Conn); isTLS {
		c = t.NetConn()
	}
	t, isTCP := c.(*net.TCPConn)
	if !isTCP {
		return path{}, false
	}
	raw, err := t.SyscallConn()
	if err != nil {
		return path{}, false
	}
	var info *unix.TCPInfo
	if err := raw.Control(func(fd uintptr) {
		info, err = unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
	}); err != nil || info == nil {
		return path{}, false
	}
	return path{rtt: time.Duration(info.Rtt) * time.Microsecond, retransmits: info.Total_retrans}, true
}
