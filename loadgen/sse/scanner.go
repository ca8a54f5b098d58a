package sse

import (
	"bytes"
	"fmt"
)

// DefaultMax is the most bytes that one event may have unless [Scanner.Max] says
// otherwise.
const DefaultMax = 16 << 20

// TooLongError reports an event, or a line, above the scanner's memory guard.
type TooLongError struct {
	Limit int // in bytes
}

// Error names the limit.
func (e *TooLongError) Error() string {
	return fmt.Sprintf("an event of the stream is longer than the %d bytes that are held for one", e.Limit)
}

// Scanner cuts a stream into events. The zero Scanner is ready for one stream. It is not
// safe for concurrent use.
//
// Use: Feed the bytes of one read, call Next until it returns false, and so on; at the
// clean end of the stream call Finish and Next once more. No call allocates, except to
// hold an event that several reads share.
type Scanner struct {
	// Max is the most bytes of one event; 0 is DefaultMax.
	Max int
	// Lines makes each non-empty line one event: the newline-delimited JSON of servers
	// that stream without server-sent events.
	Lines bool

	in     []byte // the read being scanned
	pos    int    // of the first byte not consumed
	lf, cr int    // the next LF and CR at or after pos, len(in) for none; below pos when not known
	skipLF bool   // the last line ended in CR: an LF that follows belongs to it
	begun  bool   // the first line is past

	carry []byte // an unfinished line from earlier reads
	own   []byte // data held across reads or joined from several lines
	data  []byte // data of the event so far: part of in, or own
	some  bool   // the event has a data line
	owned bool   // data is own
	ready bool   // data has been yielded and is dropped at the next call

	event []byte
	id    []byte

	comments int64
	finished bool
	tail     bool
	err      error
}

// Feed gives the scanner the bytes of one read. It keeps p until the next Feed, Finish or
// Reset, and the events of p must all have been taken by Next before that.
func (s *Scanner) Feed(p []byte) {
	s.in, s.pos, s.lf, s.cr = p, 0, -1, -1
}

// Finish tells the scanner that the stream ended cleanly: Next then yields an event whose
// end is missing, once.
func (s *Scanner) Finish() {
	s.Feed(nil)
	s.finished = true
}

// Next advances to the next whole event and reports whether there is one. False means
// that more bytes are needed, or that Err is not nil.
func (s *Scanner) Next() bool {
	if s.ready {
		s.drop()
	}
	if s.usual() {
		return true
	}
	for s.err == nil {
		line, ok := s.line()
		if !ok {
			return s.stop()
		}
		if s.take(line) {
			s.ready = true
			return true
		}
	}
	return false
}

// usual takes an event of the most frequent form at once: one data line that ends in LF,
// and a blank line, all in the bytes at hand. It reports false, having changed nothing,
// for any other.
func (s *Scanner) usual() bool {
	p := s.in[s.pos:]
	if len(p) < 8 || string(p[:6]) != "data: " || s.some || s.skipLF || !s.begun || len(s.carry) > 0 || s.Lines || s.err != nil {
		return false
	}
	if s.cr < s.pos {
		s.cr = index(s.in, s.pos, '\r')
	}
	n := bytes.IndexByte(p, '\n')
	if n <= 6 || n+1 >= len(p) || p[n+1] != '\n' || s.cr <= s.pos+n || n-6 > s.max() {
		return false
	}
	s.data, s.some, s.ready = p[6:n], true, true
	s.pos += n + 2
	return true
}

// Data returns the data of the event that Next advanced to. It is valid until the next
// call of Next, Feed or Reset, and must not be changed.
func (s *Scanner) Data() []byte { return s.data }

// Event returns the event's type, empty when it has none. Valid as Data is.
func (s *Scanner) Event() []byte { return s.event }

// ID returns the last event id seen. Valid as Data is.
func (s *Scanner) ID() []byte { return s.id }

// Unterminated reports whether the event that Next advanced to had no line end: the
// stream may have been cut inside it.
func (s *Scanner) Unterminated() bool { return s.tail }

// Comments returns the number of comment lines so far.
func (s *Scanner) Comments() int64 { return s.comments }

// Err returns why scanning stopped: nil or a *TooLongError.
func (s *Scanner) Err() error { return s.err }

// Held returns the bytes that the scanner holds from earlier reads.
func (s *Scanner) Held() int { return len(s.carry) + len(s.own) }

// Reset makes the scanner ready for another stream, with the same settings. Buffers up to
// keep bytes are kept for it.
func (s *Scanner) Reset(keep int) {
	carry, own, event, id := s.carry[:0], s.own[:0], s.event[:0], s.id[:0]
	if cap(carry) > keep {
		carry = nil
	}
	if cap(own) > keep {
		own = nil
	}
	*s = Scanner{Max: s.Max, Lines: s.Lines, carry: carry, own: own, event: event, id: id}
}

func (s *Scanner) max() int {
	if s.Max > 0 {
		return s.Max
	}
	return DefaultMax
}

// drop forgets the event that was yielded.
func (s *Scanner) drop() {
	s.data, s.some, s.owned, s.ready, s.tail = nil, false, false, false, false
	s.own, s.event = s.own[:0], s.event[:0]
}

// line returns the next whole line without its end. The line is part of in or of own.
func (s *Scanner) line() ([]byte, bool) {
	if s.skipLF && s.pos < len(s.in) {
		s.skipLF = false
		if s.in[s.pos] == '\n' {
			s.pos++
		}
	}
	if s.lf < s.pos {
		s.lf = index(s.in, s.pos, '\n')
	}
	if s.cr < s.pos {
		s.cr = index(s.in, s.pos, '\r')
	}
	end := min(s.lf, s.cr)
	if end == len(s.in) {
		if len(s.carry)+end-s.pos > s.max() {
			s.err = &TooLongError{Limit: s.max()}
			return nil, false
		}
		s.carry = append(s.carry, s.in[s.pos:]...)
		s.pos = end
		return nil, false
	}
	line := s.in[s.pos:end]
	s.skipLF = s.in[end] == '\r'
	s.pos = end + 1
	if len(s.carry) > 0 {
		s.carry = append(s.carry, line...)
		line = s.carry
	}
	return line, true
}

func index(in []byte, from int, b byte) int {
	if i := bytes.IndexByte(in[from:], b); i >= 0 {
		return from + i
	}
	return len(in)
}

var bom = []byte("\xef\xbb\xbf")

// take reads one line and reports whether it completed an event. A line that is the carry
// buffer is consumed before take returns.
func (s *Scanner) take(line []byte) bool {
	carried := len(s.carry) > 0
	if !s.begun {
		s.begun = true
		line = bytes.TrimPrefix(line, bom)
	}
	done := false
	switch {
	case s.Lines:
		if line = bytes.TrimSpace(line); len(line) > 0 {
			s.add(line, carried)
			return s.err == nil
		}
	case len(line) == 0:
		done = s.some && len(s.data) > 0
		if !done {
			s.drop()
		}
	case line[0] == ':':
		s.comments++
	default:
		s.field(line, carried)
	}
	s.carry = s.carry[:0]
	return done
}

func (s *Scanner) field(line []byte, carried bool) {
	// The usual line, without looking for the end of its name.
	if len(line) > 6 && string(line[:6]) == "data: " {
		s.add(line[6:], carried)
		return
	}
	name, value, _ := bytes.Cut(line, []byte(":"))
	if len(value) > 0 && value[0] == ' ' {
		value = value[1:]
	}
	switch string(name) {
	case "data":
		s.add(value, carried)
	case "event":
		s.event = append(s.event[:0], value...)
	case "id":
		if bytes.IndexByte(value, 0) < 0 {
			s.id = append(s.id[:0], value...)
		}
	}
}

// add appends one data line to the event. A first line is borrowed where it lies.
func (s *Scanner) add(value []byte, carried bool) {
	if len(s.data)+1+len(value) > s.max()+1 {
		s.err = &TooLongError{Limit: s.max()}
		return
	}
	if !s.some {
		s.some, s.data = true, value
		if carried {
			// The line is the carry buffer: it becomes the holder of the data.
			s.own, s.carry = s.carry, s.own[:0]
			s.owned = true
		}
		return
	}
	if !s.owned {
		s.own = append(s.own[:0], s.data...)
		s.owned = true
	} else if len(s.data) < len(s.own) {
		// The holder begins with the rest of a line: move the data to its start.
		s.own = s.own[:copy(s.own, s.data)]
	}
	s.own = append(append(s.own, '\n'), value...)
	s.data = s.own
}

// stop is the end of the bytes at hand: it keeps what is needed of them.
func (s *Scanner) stop() bool {
	if s.err != nil {
		return false
	}
	if s.finished {
		return s.flush()
	}
	if s.some && !s.owned {
		s.own = append(s.own[:0], s.data...)
		s.data, s.owned = s.own, true
	}
	return false
}

func (s *Scanner) flush() bool {
	if len(s.carry) > 0 {
		s.tail = true
		if s.take(s.carry) {
			s.ready = true
			return true
		}
	}
	if s.err == nil && s.some && len(s.data) > 0 {
		s.ready = true
		return true
	}
	s.drop()
	return false
}
