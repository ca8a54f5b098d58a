// Package archive is the ground floor: the plain record types that every other
// package shares, and the run directory that holds them.
//
// A run is one campaign executed once, and one run is one directory:
//
//	manifest.json      what ran: configuration as resolved, seeds, server, host, clock anchor
//	requests.jsonl     one [Request] a turn, appended as it finishes
//	series.jsonl       one [Sample] a scrape of one source
//	events.jsonl       one [Event] a line: something dated
//	checkpoints.jsonl  one [Checkpoint] a scored item
//	agents.jsonl       one model call of an agent
//	analysis.json      the [Analysis] computed from the files above
//
// The package imports nothing of the project. Its types carry meaning and units;
// they do not compute metrics, which is the work of package analyst.
//
// Two rules hold for every record. All times are an [Instant]: nanoseconds of one
// monotonic clock since the run's epoch. And a fact that is not known is null, never
// zero: an unknown instant is the zero Instant, any other unknown fact is a zero [Opt].
package archive
