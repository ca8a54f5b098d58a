//go:build unix

package archive

import (
	"os"

	"golang.org/x/sys/unix"
)

// lockFile marks the file as being written by this process. It never waits.
func lockFile(f *os.File) { _ = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) }

// locked reports whether another process holds the mark on the file.
func locked(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	if err := unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB); err != nil {
		return err == unix.EWOULDBLOCK
	}
	return false
}
