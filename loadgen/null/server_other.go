//go:build !linux

package null

import (
	"errors"
	"time"
)

// Stats are facts about the server since it started.
type Stats struct {
	CPU      time.Duration
	Chunks   int64
	Requests int64
	LateMax  time.Duration
	Open     int
}

// Server is a null server, which this system does not have.
type Server struct{}

// Start says that this system has no null server.
func Start() (*Server, error) { return nil, errors.New("the null server runs on Linux only") }

// URL returns nothing.
func (*Server) URL() string { return "" }

// Close does nothing.
func (*Server) Close() {}

// Stats returns nothing.
func (*Server) Stats() Stats { return Stats{} }

// Stall does nothing.
func (*Server) Stall(time.Duration, time.Duration) {}

// Clock reads the clock that stamps are from.
type Clock struct{ base time.Time }

// NewClock returns a clock.
func NewClock() Clock { return Clock{base: time.Now()} }

// Now returns the present in nanoseconds.
func (c Clock) Now() int64 { return int64(time.Since(c.base)) }
