package main

import (
	"errors"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/loadgen"
)

// newPacer returns the pacer that a campaign sends by, and what ends it.
func newPacer(archive.Clock) (loadgen.Pacer, func(), error) {
	return nil, nil, errors.New("there is no pacer thread yet")
}
