// Package mcp offers the program to other agents, such as a coding agent, as tools of the
// Model Context Protocol: run, analyze, compare, probe, trial, tune.
//
// An agent drives studies with them and cannot break their discipline. It names targets that
// the operator allowed, never addresses; run directories by name, never paths; knobs and
// values of the study's space, never commands. Traffic has ceilings, a session has budgets of
// time and requests, one tool works at a time, and a target without a study file is never
// started, stopped or changed. What a trial or a study finds comes from the same protocol as
// that of `inferencebench tune`: the default first, interleaved blocks, certification on a
// workload that was held out.
//
// Results are bounded, and name what they left out. An error is a JSON object with a code,
// a message and a way out; see [Fault].
package mcp
