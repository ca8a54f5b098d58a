package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// stage is where the new root is built. It exists on every machine, and what it holds is
// of no use to the sandbox.
const stage = "/tmp"

// devices are the only device files inside.
var devices = []string{"/dev/null", "/dev/zero", "/dev/urandom"}

// buildRoot makes a read-only root of a few mounts and moves into it. It runs in fresh
// user and mount namespaces; nothing outside them changes.
func buildRoot(s *spec) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	// Handles first: the stage may hide a source.
	sources := map[string]int{}
	for _, list := range [][]string{s.Trees, s.Files, devices} {
		for _, path := range list {
			fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
			if err != nil {
				return fmt.Errorf("open %s: %w", path, err)
			}
			sources[path] = fd
		}
	}
	if err := unix.Mount("root", stage, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "size=4m,nr_inodes=512,mode=755"); err != nil {
		return fmt.Errorf("mount tmpfs: %w", err)
	}
	for _, path := range s.Trees {
		if err := show(path, sources[path], true, unix.MOUNT_ATTR_RDONLY|unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV); err != nil {
			return err
		}
	}
	for _, path := range s.Files {
		if err := show(path, sources[path], false, unix.MOUNT_ATTR_RDONLY|unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV); err != nil {
			return err
		}
	}
	for _, path := range devices {
		if err := show(path, sources[path], false, unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NOEXEC); err != nil {
			return err
		}
	}
	for link, to := range s.Links {
		if err := os.Symlink(to, stage+link); err != nil {
			return fmt.Errorf("link %s: %w", link, err)
		}
	}
	for _, fd := range sources {
		unix.Close(fd)
	}
	work := stage + "/work"
	if err := os.Mkdir(work, 0o755); err != nil {
		return fmt.Errorf("make work folder: %w", err)
	}
	opts := fmt.Sprintf("size=%dm,nr_inodes=%d,mode=700", workMB, workInodes)
	if err := unix.Mount("work", work, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, opts); err != nil {
		return fmt.Errorf("mount work folder: %w", err)
	}
	if err := os.Chdir(stage); err != nil {
		return err
	}
	if err := unix.PivotRoot(".", "."); err != nil {
		return fmt.Errorf("pivot root: %w", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("detach the old root: %w", err)
	}
	if err := unix.Mount("", "/", "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY|unix.MS_NOSUID|unix.MS_NODEV, ""); err != nil {
		return fmt.Errorf("make root read-only: %w", err)
	}
	return os.Chdir("/work")
}

// show binds an open tree or file into the stage at its own path and sets the mount's
// attributes, those of mounts below it included.
func show(path string, fd int, tree bool, attributes uint64) error {
	target := stage + path
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return fmt.Errorf("make %s: %w", path, err)
	}
	if tree {
		if err := os.MkdirAll(target, 0o755); err != nil {
			return fmt.Errorf("make %s: %w", path, err)
		}
	} else if err := os.WriteFile(target, nil, 0o644); err != nil {
		return fmt.Errorf("make %s: %w", path, err)
	}
	if err := unix.Mount("/proc/self/fd/"+strconv.Itoa(fd), target, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return fmt.Errorf("bind %s: %w", path, err)
	}
	attr := unix.MountAttr{Attr_set: attributes}
	if err := unix.MountSetattr(-1, target, unix.AT_RECURSIVE, &attr); err != nil {
		return fmt.Errorf("protect %s: %w", path, err)
	}
	return nil
}
