//go:build !linux

package prom

import (
	"net"
	"time"
)

// path is what the kernel measured of one connection.
type path struct {
	rtt         time.Duration
	retransmits uint32
}

// tcpInfo knows nothing on this system.
func tcpInfo(net.Conn) (path, bool) { return path{}, false }
