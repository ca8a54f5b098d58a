package proc

import (
	"bytes"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Root is where Linux keeps its process files.
const Root = "/proc"

// Find returns the process that listens at a base URL on this machine. ok is false when
// the URL is of another machine, or nobody is seen to listen: seeing another user's
// process needs the right to.
func Find(root, base string) (pid int, ok bool) {
	u, err := url.Parse(base)
	if err != nil {
		return 0, false
	}
	host := u.Hostname()
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback() && !isLocal(ip)) {
		return 0, false
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return 0, false
	}
	inodes := listening(root, uint16(n))
	if len(inodes) == 0 {
		return 0, false
	}
	return owner(root, inodes)
}

// isLocal reports whether an address is one of this machine's.
func isLocal(ip net.IP) bool {
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return false
	}
	for _, a := range addrs {
		if n, ok := a.(*net.IPNet); ok && n.IP.Equal(ip) {
			return true
		}
	}
	return false
}

// listening returns the socket inodes that listen at a port.
func listening(root string, port uint16) map[string]bool {
	out := map[string]bool{}
	for _, file := range []string{"net/tcp", "net/tcp6"} {
		b, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			continue
		}
		suffix := fmt.Sprintf(":%04X", port)
		for line := range bytes.Lines(b) {
			f := strings.Fields(string(line))
			const listen = "0A"
			if len(f) > 9 && f[3] == listen && strings.HasSuffix(f[1], suffix) {
				out[f[9]] = true
			}
		}
	}
	return out
}

// owner returns the process that holds one of the sockets: the oldest of several, which
// share it by inheritance.
func owner(root string, inodes map[string]bool) (int, bool) {
	best := 0
	for _, pid := range pids(root) {
		dir := filepath.Join(root, strconv.Itoa(pid), "fd")
		fds, err := os.ReadDir(dir)
		if err != nil {
			continue
		}
		for _, fd := range fds {
			link, err := os.Readlink(filepath.Join(dir, fd.Name()))
			if err != nil {
				continue
			}
			inode, ok := strings.CutPrefix(link, "socket:[")
			if ok && inodes[strings.TrimSuffix(inode, "]")] && (best == 0 || pid < best) {
				best = pid
			}
		}
	}
	return best, best != 0
}

// pids lists the processes.
func pids(root string) (out []int) {
	dir, err := os.Open(root)
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil
	}
	for _, n := range names {
		if pid, err := strconv.Atoi(n); err == nil && pid > 0 {
			out = append(out, pid)
		}
	}
	return out
}

// Env returns a variable of a process's environment as it was started; ok is false when it
// is not set or may not be read.
func Env(root string, pid int, name string) (value string, ok bool) {
	b, err := os.ReadFile(filepath.Join(root, strconv.Itoa(pid), "environ"))
	if err != nil {
		return "", false
	}
	for _, kv := range bytes.Split(b, []byte{0}) {
		if v, found := strings.CutPrefix(string(kv), name+"="); found {
			return v, true
		}
	}
	return "", false
}
