//go:build !linux

package pace

// supported reports that there is no thread of its own on this system.
func supported() bool { return false }

// thread is never started.
func (p *Pacer) thread() { close(p.done) }
