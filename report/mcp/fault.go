package mcp

import (
	"context"
	"encoding/json"
	"errors"
)

// Code says what kind of error a tool call ended with. The codes are a contract.
type Code string

// The codes.
const (
	BadInput     Code = "bad_input"    // an argument is missing or makes no sense
	NotAllowed   Code = "not_allowed"  // a target, run, knob or value that the operator did not allow
	ReadOnly     Code = "read_only"    // the target may be measured, not changed
	OverCeiling  Code = "over_ceiling" // more load than the operator allows
	BudgetSpent  Code = "budget_spent" // the session's time or requests are used up
	Busy         Code = "busy"         // another tool works: one at a time
	Unreachable  Code = "unreachable"  // the target does not answer
	Cancelled    Code = "cancelled"    // the caller or the operator stopped it
	Inconclusive Code = "inconclusive" // it ran, and what it measured decides nothing
	Internal     Code = "internal"     // a fault of this program
)

// Fault is the error of a tool call. As text it is a JSON object.
type Fault struct {
	Code    Code   `json:"code"`
	Message string `json:"message"`       // one sentence
	Try     string `json:"try,omitempty"` // a way out
}

// Error is the fault as JSON.
func (f *Fault) Error() string {
	b, err := json.Marshal(f)
	if err != nil { // three strings always marshal
		panic(err)
	}
	return string(b)
}

func fault(code Code, message, try string) *Fault {
	return &Fault{code, clip(message, 1000), clip(try, 400)}
}

// asFault types an error of the program below.
func asFault(ctx context.Context, err error) *Fault {
	if f, ok := errors.AsType[*Fault](err); ok {
		return f
	}
	if ctx.Err() != nil {
		return fault(Cancelled, "it was stopped: "+context.Cause(ctx).Error(), "what was recorded until then is kept")
	}
	return fault(Internal, err.Error(), "")
}
