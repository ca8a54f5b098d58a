// Package sse cuts a byte stream into server-sent events.
//
// The [Scanner] is fed whatever each read returned and yields the events that are whole.
// What it yields does not depend on how the bytes were cut into reads. It follows the
// event stream format of the HTML standard: lines end in LF, CRLF or CR, one leading byte
// order mark is skipped, lines that start with a colon are comments, several data lines
// of one event are joined by LF, an event without data is dropped.
//
// It departs from the standard in one place: at a clean end of the stream, an event whose
// last blank line or line end is missing is yielded too ([Scanner.Finish]), for servers
// that leave it out.
package sse
