//go:build !linux

package sandbox

import (
	"context"
	"runtime"
)

// MaybeInit does nothing where there is no sandbox.
func MaybeInit() {}

// Support is what this machine offers.
type Support struct {
	Mode            Mode
	Python, Version string
	Landlock        int
	Missing         []string
	Speed           float64
}

// String is one line for a reader.
func (s Support) String() string { return "code checks are off" }

// UnavailableError means that code cannot be run safely here.
type UnavailableError struct{ Reasons []string }

func (e *UnavailableError) Error() string {
	return "code checks are off: the sandbox needs Linux, this is " + runtime.GOOS
}

// Runner judges programs; there is none on this system.
type Runner struct{}

// New returns an *UnavailableError.
func New(context.Context, Options) (*Runner, error) { return nil, &UnavailableError{} }

// Support says what the runner uses.
func (r *Runner) Support() Support { return Support{} }

// Run reports that the code was not run.
func (r *Runner) Run(context.Context, Program) Result {
	return Result{Outcome: Infra, Detail: "the sandbox needs Linux"}
}
