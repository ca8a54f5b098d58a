//go:build !unix

package doctor

// openFileLimit is not known on this system.
func openFileLimit() (uint64, bool) { return 0, false }
