package wire

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
)

// response cuts the bytes of a connection into one HTTP/1.1 response. Bytes may come in
// any pieces. The head is read by net/http, so that the rules for where the body ends are
// the same in both engines.
type response struct {
	state  responseState
	held   []byte // of the head, or of a line between chunks
	left   int64  // of the body, or of the chunk
	excess int64  // bytes that are not data, above what is usual
	close  bool   // the connection cannot carry another exchange
}

type responseState uint8

const (
	inHead responseState = iota
	inBody               // left bytes remain
	inRest               // the body ends with the connection
	inSize               // a chunk's size line
	inChunk
	inChunkEnd // the line end behind a chunk
	inTrailer
	inNothing // the response is complete
)

// sink takes the parts of a response in order.
type sink interface {
	head(status int, h http.Header, protocol string)
	body(p []byte)
}

// Bounds on what a response may have outside its body, in bytes.
const (
	maxHead = 1 << 20
	maxLine = 4 << 10
)

// feed takes bytes. It returns those that lie behind the response's end.
func (r *response) feed(p []byte, to sink) (rest []byte, err error) {
	for len(p) > 0 && r.state != inNothing {
		switch r.state {
		case inHead:
			p, err = r.takeHead(p, to)
		case inRest:
			to.body(p)
			p = nil
		case inBody, inChunk:
			n := min(int64(len(p)), r.left)
			to.body(p[:n])
			p, r.left = p[n:], r.left-n
			if r.left == 0 && r.state == inBody {
				r.state = inNothing
			} else if r.left == 0 {
				r.state = inChunkEnd
			}
		default:
			p, err = r.takeLine(p)
		}
		if err != nil {
			return nil, err
		}
	}
	return p, nil
}

// end tells the response that the connection ended, and reports how that leaves it.
func (r *response) end() error {
	switch r.state {
	case inNothing:
		return nil
	case inRest:
		r.state = inNothing
		return nil
	}
	return io.ErrUnexpectedEOF
}

// takeHead takes bytes of the head.
func (r *response) takeHead(p []byte, to sink) ([]byte, error) {
	from := max(0, len(r.held)-3)
	r.held = append(r.held, p...)
	end := headEnd(r.held, from)
	if end < 0 {
		if len(r.held) > maxHead {
			return nil, fmt.Errorf("the response's head is longer than %d bytes", maxHead)
		}
		return nil, nil
	}
	behind := len(r.held) - end
	resp, err := http.ReadResponse(bufio.NewReaderSize(bytes.NewReader(r.held[:end]), 512), &http.Request{Method: http.MethodPost})
	r.held = r.held[:0]
	if cap(r.held) > maxLine {
		r.held = nil
	}
	if err != nil {
		return nil, err
	}
	p = p[len(p)-behind:]
	if resp.StatusCode >= 100 && resp.StatusCode <= 199 {
		if resp.StatusCode == http.StatusSwitchingProtocols {
			return nil, errors.New("the server switched protocols")
		}
		return p, nil
	}
	r.close = resp.Close
	switch {
	case len(resp.TransferEncoding) > 0:
		r.state = inSize
	case resp.ContentLength == 0 || resp.Body == http.NoBody:
		r.state = inNothing
	case resp.ContentLength > 0:
		r.state, r.left = inBody, resp.ContentLength
	default:
		r.state, r.close = inRest, true
	}
	to.head(resp.StatusCode, resp.Header, resp.Proto)
	return p, nil
}

// headEnd returns where the head ends, looking from a place on; -1 when it does not.
func headEnd(b []byte, from int) int {
	for i := from; ; {
		n := bytes.IndexByte(b[i:], '\n')
		if n < 0 {
			return -1
		}
		i += n + 1
		switch {
		case i < len(b) && b[i] == '\n':
			return i + 1
		case i+1 < len(b) && b[i] == '\r' && b[i+1] == '\n':
			return i + 2
		}
	}
}

// takeLine takes bytes of the lines between chunks.
func (r *response) takeLine(p []byte) ([]byte, error) {
	n := bytes.IndexByte(p, '\n')
	if n < 0 {
		r.held = append(r.held, p...)
		if len(r.held) > maxLine {
			return nil, errors.New("a line between chunks is too long")
		}
		return nil, nil
	}
	line := p[:n]
	if len(r.held) > 0 {
		r.held = append(r.held, line...)
		line = r.held
		r.held = r.held[:0]
	}
	// As in net/http, a line between chunks ends in CRLF and nothing less.
	if i := bytes.IndexByte(line, '\r'); i < 0 || i != len(line)-1 {
		return nil, errors.New("a line between chunks does not end in CRLF")
	}
	line = line[:len(line)-1]
	p = p[n+1:]
	switch r.state {
	case inSize:
		if err := r.takeSize(line); err != nil {
			return nil, err
		}
	case inChunkEnd:
		if len(line) > 0 {
			return nil, errors.New("a chunk is longer than it says")
		}
		r.state = inSize
	case inTrailer:
		if len(line) == 0 {
			r.state = inNothing
		}
	}
	return p, nil
}

// takeSize reads the line ahead of a chunk, by net/http's rules: an extension is dropped,
// but a server must not send much more than it says.
func (r *response) takeSize(line []byte) error {
	r.excess += int64(len(line)) + 4
	digits, _, _ := bytes.Cut(bytes.TrimRight(line, " \t"), []byte(";"))
	if len(digits) == 0 || len(digits) > 16 {
		return fmt.Errorf("chunk size %.40q", line)
	}
	size := uint64(0)
	for _, b := range digits {
		v, ok := unhex(b)
		if !ok {
			return fmt.Errorf("chunk size %.40q", line)
		}
		size = size<<4 | uint64(v)
	}
	if size > math.MaxInt64 {
		return fmt.Errorf("chunk size %.40q", line)
	}
	r.excess = max(0, r.excess-16-2*int64(min(size, 1<<40)))
	if r.excess > 16<<10 {
		return errors.New("the chunks are mostly not data")
	}
	r.state, r.left = inChunk, int64(size)
	if size == 0 {
		r.state = inTrailer
	}
	return nil
}

func unhex(b byte) (byte, bool) {
	switch {
	case '0' <= b && b <= '9':
		return b - '0', true
	case 'a' <= b && b <= 'f':
		return b - 'a' + 10, true
	case 'A' <= b && b <= 'F':
		return b - 'A' + 10, true
	}
	return 0, false
}
