// Package workload freezes what a run sent and makes it sendable again.
//
// A frozen workload is a zstd-compressed file of JSON lines, usually workload.jsonl.zst in
// the run directory:
//
//	{"format":"inferencebench-workload/1","run":"…","seed":1}      the header
//	{"session":"0-3","turn":0,"at":1200000,"base":0,"messages":[…],…}  one entry a request, in order of sending
//	{"entries":128,"content_sha256":"…","file_sha256":"…"}         the seal
//
// An entry's prompt is the first base messages of the entry before it in the same session
// plus its own messages, so that histories are stored once. The content hash covers what
// was sent and not when, in an order that does not depend on which request finished
// first: two runs that sent the same conversations have the same content hash. The file
// hash covers every byte before the seal; a file whose hash differs is refused.
//
// A frozen workload replays in two ways. [File.SameHistory] sends every request with the
// messages that were sent then, at the times they were due then, whatever the server now
// answers: the fair way to compare two servers. [File.LiveHistory] sends the same user
// turns, but lets the present server's replies be the history.
package workload
