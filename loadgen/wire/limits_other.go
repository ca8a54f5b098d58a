//go:build !linux

package wire

import "github.com/inferencebench/inferencebench/archive"

// Limits returns what on this machine would keep so many connections to one server from
// being open at once. This system's limits are not read: there are none to report.
func Limits(int) []archive.Annotation { return nil }
