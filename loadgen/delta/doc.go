// Package delta reads the events of a streamed reply: which text they carry, on which
// channel, how the generation ended, what the server counted, and whether it failed.
//
// A [Decoder] has two paths that give the same answer for every input. The full path is
// encoding/json. The learned path compares bytes: after the full path has read an event
// that carries only text, the decoder knows the bytes before and after that text. While
// later events have the same bytes before and after, the text is what lies between.
// Identical bytes around one string mean an identical structure, so this is exact; any
// other event takes the full path. A template is accepted only after the full path has
// read it with another text, and with none, in the place of the text.
package delta
