// Package tasks decides what is sent: task kinds, lengths, turns and think times, as
// sessions that are a function of a seed, a session number and the server's replies.
//
// A [Source] gives sessions, a [Session] gives turns. [NewGenerator] is the seeded
// source: it writes real prose with parametric generators in the project's own words,
// and makes each following user turn out of the reply to the one before.
//
// Nothing here knows when a turn is sent; that is the work of package loadgen.
package tasks
