// Package integrity tells a server that got faster from one that only looks faster: canned
// or memoised replies, another model behind the same name, truncated or cut-short replies,
// dropped system messages, hidden reuse of prefixes, requests passed on to somebody else,
// and speeds that the device cannot have.
//
// It has two halves. An [Observer] sends a few dozen requests of its own to the live server
// after a trial and writes down a [Sighting]. A [Check] compares the challenger's sightings
// with those of the default, which the study measured first, and gives one verdict a
// question.
//
//	secret prompts, greedy   what the model is         fingerprint, lengths, same replies
//	secret prompts again     how exact the server is   the margin of the fingerprint
//	a first word demanded    system messages           canary
//	fresh prompts, twice     memory                    repeats
//	a forced length          what is counted           forced
//	a fresh long prefix, twice                         prefix
//	counters before, after   who did the work          work
//	one stream, one burst    what physics allows       speed
//
// The secret prompts follow from a [Secret] of the study that nobody is shown before its
// end; all others are drawn anew each time. A sighting holds neither prompts nor replies,
// only keyed hashes and counts.
//
// Honest servers differ from themselves: batches change rounding, so that some greedy
// replies part. Every statistical verdict is therefore an exact test against the default's
// own counts, and fails only where the difference is large besides being certain. What
// cannot be decided is unknown with its reason, and stops nothing.
package integrity
