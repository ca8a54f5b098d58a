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

// Now returns nothing.
func Now() int64 { return 0 }
