package null

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Shape is the form of a reply.
type Shape struct {
	// Chunks is how many token-bearing chunks a stream has; 0 makes the reply one JSON
	// body without a stream.
	Chunks int
	// Gap is the time between two writes; 0 writes as fast as the socket takes it.
	Gap time.Duration
	// First is the time to the first write; 0 is Gap.
	First time.Duration
	// Batch is how many chunks go into one write; 0 is one.
	Batch int
}

// maxChunks bounds what a request may ask for.
const maxChunks = 1 << 24

// Path returns the first segment of a URL path that asks for the shape, with a leading
// slash: put it between the server's address and /v1.
func (s Shape) Path() string {
	return fmt.Sprintf("/c%d-g%d-f%d-b%d", s.Chunks, s.Gap.Microseconds(), s.First.Microseconds(), s.Batch)
}

// parsePath reads the shape that a request's target asks for; the zero Shape has one JSON
// body.
func parsePath(target string) (Shape, bool) {
	segment, _, _ := strings.Cut(strings.TrimPrefix(target, "/"), "/")
	var n [4]int64
	parts := strings.Split(segment, "-")
	if len(parts) != len(n) {
		return Shape{}, false
	}
	for i, p := range parts {
		if len(p) < 2 || p[0] != "cgfb"[i] {
			return Shape{}, false
		}
		v, err := strconv.ParseInt(p[1:], 10, 64)
		if err != nil || v < 0 || v > 1<<40 {
			return Shape{}, false
		}
		n[i] = v
	}
	s := Shape{Chunks: int(n[0]), Gap: time.Duration(n[1]) * time.Microsecond, First: time.Duration(n[2]) * time.Microsecond, Batch: int(max(1, n[3]))}
	if s.First == 0 {
		s.First = s.Gap
	}
	return s, s.Chunks <= maxChunks && s.Batch <= 256
}

// StampSize is the number of digits of a stamp.
const StampSize = 19

// StampBase is added to a stamp, so that it has StampSize digits.
const StampBase = int64(1e18)

// Stamps reads the send stamps out of a reply's text, in nanoseconds of the monotonic
// clock. The error says where the text is none of this server's.
func Stamps(text string) ([]int64, error) {
	if len(text)%StampSize != 0 {
		return nil, fmt.Errorf("a text of %d bytes is not made of stamps of %d", len(text), StampSize)
	}
	out := make([]int64, 0, len(text)/StampSize)
	for i := 0; i < len(text); i += StampSize {
		v, err := strconv.ParseInt(text[i:i+StampSize], 10, 64)
		if err != nil || v < StampBase {
			return nil, fmt.Errorf("stamp %d is %q", i/StampSize, text[i:i+StampSize])
		}
		out = append(out, v-StampBase)
	}
	return out, nil
}

// Pieces of a stream. A chunk has the size that servers of this kind send: 258 bytes of
// event, in an HTTP chunk of its own.
const (
	streamHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n"
	chunkFront = `data: {"id":"chatcmpl-0123456789abcdef0123456789abcdef","object":"chat.completion.chunk","created":1764500000,"model":"null-model-of-no-size-at-all","choices":[{"index":0,"delta":{"content":"`
	chunkBack  = `"},"logprobs":null,"finish_reason":null}]}` + "\n\n"
	textFront  = `data: {"id":"cmpl-0123456789abcdef0123456789abcdef","object":"text_completion","created":1764500000,"model":"null-model-of-no-size-at-all","choices":[{"index":0,"text":"`
	textBack   = `","logprobs":null,"finish_reason":null}]}` + "\n\n"
	finishLine = `data: {"id":"chatcmpl-0123456789abcdef0123456789abcdef","object":"chat.completion.chunk","created":1764500000,"model":"null-model-of-no-size-at-all","choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"length"}]}` + "\n\n"
	usageLine  = `data: {"id":"chatcmpl-0123456789abcdef0123456789abcdef","object":"chat.completion.chunk","created":1764500000,"model":"null-model-of-no-size-at-all","choices":[],"usage":{"prompt_tokens":7,"completion_tokens":%d,"total_tokens":%d}}` + "\n\n"
	doneLine   = "data: [DONE]\n\n"
	wholeBody  = `{"id":"chatcmpl-0123456789abcdef0123456789abcdef","object":"chat.completion","created":1764500000,"model":"null-model-of-no-size-at-all","choices":[{"index":0,"message":{"role":"assistant","content":"nothing at all"},"finish_reason":"stop"}],"usage":{"prompt_tokens":7,"completion_tokens":3,"total_tokens":10}}`
)

// httpChunk returns bytes as one HTTP chunk.
func httpChunk(b string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(b), b) }

// tail returns what follows the last chunk of a stream.
func tail(chunks int) string {
	return httpChunk(finishLine) + httpChunk(fmt.Sprintf(usageLine, chunks, chunks+7)) + httpChunk(doneLine) + "0\r\n\r\n"
}

func whole() string {
	return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(wholeBody), wholeBody)
}
