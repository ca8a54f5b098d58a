package wire

import (
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/inferencebench/inferencebench/archive"
)

// spareFiles is what the process needs of file descriptors beside its connections.
const spareFiles = 64

// Limits returns what on this machine would keep so many connections to one server from
// being open at once, as annotations that name the limit, its value and the way out; none
// when nothing would. Their codes are "file_limit" and "port_limit". Call it before a run.
func Limits(conns int) []archive.Annotation {
	var out []archive.Annotation
	var files unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &files); err == nil {
		out = append(out, fileLimit(conns, files.Cur)...)
	}
	if b, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range"); err == nil {
		out = append(out, portLimit(conns, string(b))...)
	}
	return out
}

// fileLimit compares with the limit of open files.
func fileLimit(conns int, files uint64) []archive.Annotation {
	need := uint64(max(0, conns)) + spareFiles
	if files >= need || files == math.MaxUint64 {
		return nil
	}
	return []archive.Annotation{{Code: "file_limit", Message: fmt.Sprintf("This process may open %d files, and %d connections need %d: raise the limit with ulimit -n.", files, conns, need)}}
}

// portLimit compares with the range of local ports, as the kernel prints it: to one
// address there can be one connection for each.
func portLimit(conns int, line string) []archive.Annotation {
	f := strings.Fields(line)
	if len(f) != 2 {
		return nil
	}
	low, errLow := strconv.Atoi(f[0])
	high, errHigh := strconv.Atoi(f[1])
	if errLow != nil || errHigh != nil || high < low || conns <= high-low+1 {
		return nil
	}
	return []archive.Annotation{{Code: "port_limit", Message: fmt.Sprintf("This machine has %d local ports for one server, and %d connections are asked for: widen net.ipv4.ip_local_port_range, or use several server addresses.", high-low+1, conns)}}
}
