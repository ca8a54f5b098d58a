package main

import (
	"errors"

	"github.com/inferencebench/inferencebench/campaign"
)

// The exit codes. They are an interface: scripts and CI jobs branch on them.
const (
	exitOK          = 0 // the run is valid and every gate passed
	exitGate        = 1 // a gate failed: an SLO was missed, or too many requests failed
	exitUndecided   = 2 // the run is invalid, or a gate could not be decided
	exitUsage       = 3 // usage or configuration: flags, campaign file, key, model, output folder
	exitUnreachable = 4 // the target cannot be reached, or is not an inference server
	exitInterrupted = 5 // stopped before its end; what was recorded is saved
	exitInternal    = 6 // a fault of this program
)

// exitCodesHelp is the table that `inferencebench help exit-codes` prints.
const exitCodesHelp = `  0  the run is valid and every gate passed
  1  a gate failed: an SLO was missed, too many requests failed, or a compared run is worse
  2  the run is invalid (all requests failed, client-limited), or a gate could not be decided;
     an invalid run is 2 whatever its objectives say (against the embedded simulation,
     which shares this machine with the load generator, it is 0 when requests succeeded)
  3  usage or configuration: flags, campaign file, key, model, output folder
  4  the target cannot be reached, or is not an inference server
  5  stopped before its end (Ctrl-C, full disk); what was recorded is saved
  6  a fault of inferencebench itself
`

// codeError gives an error its exit code. A nil err prints nothing.
type codeError struct {
	code int
	err  error
}

func (e *codeError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *codeError) Unwrap() error { return e.err }

func withCode(code int, err error) error { return &codeError{code: code, err: err} }

// exitCode maps an error to the exit code that it stands for.
func exitCode(err error) int {
	if err == nil {
		return exitOK
	}
	if ce, ok := errors.AsType[*codeError](err); ok {
		return ce.code
	}
	if te, ok := errors.AsType[*campaign.TargetError](err); ok {
		if te.Configuration() {
			return exitUsage
		}
		return exitUnreachable
	}
	if _, ok := errors.AsType[campaign.Problems](err); ok {
		return exitUsage
	}
	if _, ok := errors.AsType[*campaign.FileError](err); ok {
		return exitUsage
	}
	return exitInternal
}
