package main

import (
	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/loadgen"
	"github.com/inferencebench/inferencebench/loadgen/pace"
)

// newPacer returns the pacer that a campaign sends by, and what ends it.
func newPacer(clock archive.Clock) (loadgen.Pacer, func()) {
	p := pace.New(clock)
	return p, p.Close
}
