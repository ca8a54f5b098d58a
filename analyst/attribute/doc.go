// Package attribute scores the known causes of a slow server against the facts of one
// run and says which of them limits it.
//
// A cause is scored in [0, 1] by a fixed rule over facts that code computed. A rule that
// lacks a mandatory fact is capped at 0.5, below the 0.6 that a verdict needs, and the
// fact is listed as missing. Ties go to the cause furthest upstream: what happens before
// the server hides what happens inside it.
package attribute
