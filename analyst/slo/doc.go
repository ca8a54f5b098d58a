// Package slo is the language of service-level objectives.
//
// An objective is an expression over metrics, with units:
//
//	ttft_p99 < 500ms && tpot_p95 < 40ms
//	ttft_p99<500ms, error_rate<1%
//	ttft < 500ms && tpot < 40ms && attainment >= 95%
//
// A metric with a statistic ("ttft_p99", "e2e_mean") is a property of the whole run. A bare
// latency ("ttft") is a limit on each request: a request is good when it meets all of
// them, and the objective asks that the share of good requests, attainment, reaches
// [DefaultTarget] or what the expression itself asks of attainment. The form of the vLLM
// client, "ttft:200 tpot:20" in milliseconds, is such a list of limits on each request.
//
// A comma is a conjunction that binds weakest. Numbers need a unit where the metric has
// one that could be mistaken: times are ns, us, ms, s, m or h, and a bare number compared
// with a time is an error. Ratios take % or a bare number, rates a bare number.
//
// Evaluation has three values. A metric that is unknown, or whose interval contains the
// limit, leaves a comparison undecided, and the connectives follow Kleene's logic: an
// unknown operand decides nothing by itself, but "missed && unknown" is missed.
//
// The grammar is a small part of that of expr-lang, whose parser reads it; anything that
// is not a comparison, a connective or plain arithmetic is refused with its position.
package slo
