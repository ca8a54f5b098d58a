package wire

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"math"
	"net/http"
	"strings"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/loadgen/delta"
	"github.com/inferencebench/inferencebench/loadgen/sse"
)

// Bounds on what is held of one reply.
const (
	maxWhole   = 16 << 20 // a body that is no stream, in bytes
	maxRefusal = 64 << 10 // the body of a status code outside 2xx, in bytes
	maxText    = 32 << 20 // text of one channel, in bytes
	maxChunks  = 4 << 20  // token-bearing events
)

// form is what the body of a reply is.
type form uint8

const (
	formUnknown form = iota // not decided yet
	formStream              // events
	formWhole               // one JSON value
	formRefusal             // the body of a failure
	formAlien               // neither
)

// reply reads one response: it is given the head, the body as it comes, and the end, and
// fills the record. Both transports use it. It is not safe for concurrent use.
type reply struct {
	client *Client
	rec    *archive.Request
	header http.Header
	status int
	form   form

	scan  sse.Scanner
	dec   delta.Decoder
	event delta.Delta
	whole []byte

	text, reasoning []byte
	tools           toolJoin
	choices         int
	usage           delta.Usage
	hasUsage        bool
	tokens          []int32
	untold          bool // a chunk came whose tokens nobody told
	counted         int  // completion tokens told so far by running usage
	over            bool // the stream said that it is over
	lastRead        uint64
	failure         *archive.Failure
	broken          bool // the rest of the body is of no use
}

// newReply returns a reply to fill rec, with room for the given number of tokens.
func newReply(c *Client, rec *archive.Request, tokens int) *reply {
	r := &reply{client: c, rec: rec}
	r.scan.Lines = c.api.lines && !c.cfg.NoStream
	r.dec.Dialect = c.api.dialect
	n := min(max(tokens, 16), 4096)
	r.text = make([]byte, 0, 5*n)
	rec.Chunks.T = make([]archive.Instant, 0, n)
	return r
}

// head takes the status and the headers, which were complete at a.
func (r *reply) head(status int, h http.Header, protocol string, a arrival) {
	r.status, r.header = status, h
	r.rec.T.Headers = a.at
	r.rec.Conn.Protocol = protocol
	switch {
	case status < 200 || status > 299:
		r.form = formRefusal
	case !identity(h.Get("Content-Encoding")):
		r.alien("the body is encoded as " + h.Get("Content-Encoding") + ", although identity was asked for: switch compression off on the server or proxy")
	case strings.HasPrefix(strings.ToLower(h.Get("Content-Type")), "text/html"):
		r.form = formAlien
	}
}

func identity(encoding string) bool { return encoding == "" || strings.EqualFold(encoding, "identity") }

// body takes bytes of the body.
func (r *reply) body(p []byte, a arrival) {
	if r.broken {
		return
	}
	if r.form == formUnknown {
		r.sniff(p)
	}
	switch r.form {
	case formStream:
		r.scan.Feed(p)
		r.events(a)
	case formUnknown, formWhole:
		if r.hold(p, maxWhole) {
			return
		}
		r.failOnce(r.client.fail(archive.FailMalformed, "the reply is longer than the %d bytes that are held for one", maxWhole))
		r.broken = true
	default:
		r.broken = !r.hold(p, maxRefusal)
	}
}

// hold keeps the body up to a limit and reports whether it fitted.
func (r *reply) hold(p []byte, limit int) bool {
	room := limit - len(r.whole)
	r.whole = append(r.whole, p[:min(len(p), room)]...)
	return len(p) <= room
}

const byteOrderMark = "\xef\xbb\xbf"

// sniff decides the form by how the body starts behind white space: servers send the one
// under the content type of the other. It leaves the form unknown, and the bytes held,
// until enough has come.
func (r *reply) sniff(p []byte) {
	b := append(r.whole[:len(r.whole):len(r.whole)], p...)
	if len(b) < len(byteOrderMark) && strings.HasPrefix(byteOrderMark, string(b)) {
		return
	}
	b = bytes.TrimLeft(bytes.TrimPrefix(b, []byte(byteOrderMark)), " \t\r\n")
	stream := strings.HasPrefix(strings.ToLower(r.header.Get("Content-Type")), "text/event-stream")
	switch {
	case len(b) == 0:
		return
	case r.scan.Lines && b[0] == '{':
		r.form = formStream
	case b[0] == '{' || b[0] == '[':
		r.form = formWhole
		return
	case stream:
		r.form = formStream
	default:
		if r.form = startForm(b); r.form != formStream {
			return
		}
	}
	r.header = nil // of no more use
	if held := r.whole; len(held) > 0 {
		r.whole = nil
		r.scan.Feed(held)
		for r.scan.Next() { //nolint:revive // what is held ends inside the first line
		}
	}
}

// startForm says whether b starts an event stream, which is not known while it is only
// the start of a field's name.
func startForm(b []byte) form {
	if b[0] == ':' {
		return formStream
	}
	for _, name := range []string{"data", "event", "id", "retry"} {
		if len(b) <= len(name) {
			if strings.HasPrefix(name, string(b)) {
				return formUnknown
			}
			continue
		}
		if string(b[:len(name)]) == name && (b[len(name)] == ':' || b[len(name)] == '\r' || b[len(name)] == '\n') {
			return formStream
		}
	}
	return formAlien
}

// events takes the whole events of the bytes that came at a.
func (r *reply) events(a arrival) {
	for r.scan.Next() {
		if err := r.dec.Decode(r.scan.Event(), r.scan.Data(), &r.event); err != nil {
			if r.scan.Unterminated() {
				return // the stream was cut inside the event
			}
			r.failOnce(r.client.fail(archive.FailMalformed, "event %.200q: %v", r.scan.Data(), err))
			r.broken = true
			return
		}
		r.take(&r.event, a)
	}
	if err := r.scan.Err(); err != nil {
		r.failOnce(r.client.fail(archive.FailMalformed, "%v", err))
		r.broken = true
	}
}

// take records one event.
func (r *reply) take(d *delta.Delta, a arrival) {
	if d.Err != nil {
		r.failOnce(r.streamFailure(d.Err))
	}
	if d.HasUsage {
		r.usage.Merge(d.Usage)
		r.hasUsage = true
	}
	r.text = append(r.text, d.Answer...)
	r.reasoning = append(r.reasoning, d.Reasoning...)
	for _, t := range d.Tools {
		r.tools.add(t)
	}
	r.choices = max(r.choices, d.Choices)
	if d.Bearing {
		r.chunk(d, a)
	}
	if d.Finish != "" {
		r.rec.Finish = d.Finish
	}
	r.over = r.over || d.End
	if len(r.text)+len(r.reasoning)+r.tools.size > maxText || len(r.rec.Chunks.T) > maxChunks {
		r.failOnce(r.client.fail(archive.FailMalformed, "the reply has more text than the %d bytes, or more chunks than the %d, that are held for one", maxText, maxChunks))
		r.broken = true
	}
}

// chunk records the arrival of a token-bearing event.
func (r *reply) chunk(d *delta.Delta, a arrival) {
	t := &r.rec.T
	if !t.First.Known() {
		t.First = a.at
	} else if a.read == r.lastRead {
		r.rec.Chunks.Coalesced++
	}
	if d.Answering && !t.Answer.Known() {
		t.Answer = a.at
	}
	t.Last, r.lastRead = a.at, a.read
	r.rec.Chunks.T = append(r.rec.Chunks.T, a.at)

	n := d.Tokens
	if total, ok := d.Usage.Completion.Get(); n == 0 && ok && d.HasUsage && total > r.counted && total-r.counted <= math.MaxInt32 {
		n = int32(total - r.counted)
	}
	if total, ok := d.Usage.Completion.Get(); ok && d.HasUsage {
		r.counted = total
	}
	if n == 0 {
		r.untold = true
	}
	if r.untold {
		r.tokens = nil
		return
	}
	r.tokens = append(r.tokens, n)
}

func (r *reply) streamFailure(e *delta.Error) *archive.Failure {
	kind := refusalKind(e.Code.Or(http.StatusBadRequest), e)
	if kind == "" {
		kind = archive.FailStreamError
	}
	msg := e.Message
	if e.Type != "" {
		msg = e.Type + ": " + msg
	}
	return &archive.Failure{Kind: kind, HTTPStatus: e.Code, Message: r.client.say(msg)}
}

func (r *reply) alien(msg string) {
	r.form = formAlien
	r.failOnce(r.client.fail(archive.FailNotSSE, "%s", msg))
}

// failOnce keeps the first failure of the reply.
func (r *reply) failOnce(f *archive.Failure) {
	if r.failure == nil {
		r.failure = f
	}
}

// end takes the end of the body: clean when the server ended it as HTTP wants, with what
// broke it otherwise. The last bytes came at a.
func (r *reply) end(broke *archive.Failure, a arrival) {
	rec := r.rec
	if broke == nil && r.form == formStream {
		r.scan.Finish()
		r.events(a)
	}
	if r.form == formWhole && broke == nil && r.failure == nil {
		r.readWhole(a)
	}
	complete := r.over || rec.Finish != "" || r.client.api.endless && broke == nil && rec.T.Last.Known()
	switch {
	case r.form == formRefusal:
		r.failure = r.client.statusFailure(r.status, r.header, r.whole)
	case r.failure != nil:
	case r.form == formAlien:
		r.failure = r.client.fail(archive.FailNotSSE, "the reply has the content type %q and is neither an event stream nor a completion: %.200q", r.header.Get("Content-Type"), r.whole)
	case broke != nil && !complete:
		r.failure = broke
	case complete && !rec.T.Last.Known():
		r.failure = r.client.fail(archive.FailNoTokens, "the reply ended properly (finish reason %q) without any text", rec.Finish)
	case !complete:
		r.failure = r.client.fail(archive.FailTruncated, "the reply ended after %d chunks without a finish reason or [DONE]", len(rec.Chunks.T))
	case broke != nil:
		rec.Annotations = append(rec.Annotations, archive.Annotation{Code: "open_after_end", Message: "The reply was complete, but its body did not end properly: " + broke.Message})
	}
	if f := r.failure; f != nil {
		if f.HTTPStatus == (archive.Opt[int]{}) && r.status != 0 {
			f.HTTPStatus = archive.Some(r.status)
		}
		rec.Status, rec.Error = archive.StatusFailed, f
	} else {
		rec.Status, rec.Error = archive.StatusOK, nil
	}
	r.fill()
}

// readWhole reads a body that is one JSON value, all of which had come at a.
func (r *reply) readWhole(a arrival) {
	if err := r.dec.Decode(nil, r.whole, &r.event); err != nil {
		r.failOnce(r.client.fail(archive.FailMalformed, "the reply is not valid JSON: %v", err))
		return
	}
	d := &r.event
	bearing := d.Bearing
	if !bearing && d.Err == nil && d.Finish == "" && !d.HasUsage {
		r.failOnce(r.client.fail(archive.FailNotSSE, "the reply is JSON but no completion: %.200q", r.whole))
		return
	}
	// A reply that came at once shows when it was complete, and nothing about the times
	// of its tokens.
	d.Bearing = false
	r.take(d, a)
	r.over = true
	if bearing {
		r.rec.T.Last = a.at
	}
	r.rec.Annotations = append(r.rec.Annotations, archive.Annotation{Code: "not_streamed", Message: "The reply came as one body: there is no time to first token."})
}

// fill completes the record with what the reply carried.
func (r *reply) fill() {
	rec := r.rec
	rec.Text, rec.Reasoning, rec.ToolCalls = string(r.text), string(r.reasoning), r.tools.join()
	if rec.Text != "" {
		sum := sha256.Sum256(r.text)
		rec.TextSHA256 = hex.EncodeToString(sum[:])
	}
	rec.Usage = archive.Usage{Source: archive.UsageNone}
	if r.hasUsage {
		rec.Usage = archive.Usage{Prompt: r.usage.Prompt, Completion: r.usage.Completion, Reasoning: r.usage.Reasoning, Cached: r.usage.Cached, Source: archive.UsageServer}
	}
	rec.Chunks.Tokens = r.tokens
	r.annotate()
	paths := r.dec.Paths()
	r.client.learned.Add(paths.Learned)
	r.client.decoded.Add(paths.Decoded)
	r.client.chunks.Add(int64(len(rec.Chunks.T)))
	r.client.coalesced.Add(int64(rec.Chunks.Coalesced))
}

// annotate says what makes the record doubtful.
func (r *reply) annotate() {
	rec := r.rec
	note := func(code, msg string) {
		rec.Annotations = append(rec.Annotations, archive.Annotation{Code: code, Message: msg})
	}
	if n := rec.Usage.Reasoning.Or(0); n > 0 && rec.Reasoning == "" && !strings.Contains(rec.Text, "<think>") {
		note("hidden_reasoning", "The server counted reasoning tokens that it did not send: the time to first token and the decode speed are not those of the model.")
	}
	if _, marked := TrimStopMarker(rec.Text); marked {
		note("stop_marker_in_text", "The answer ends with an end-of-turn marker, which is not part of it.")
	}
	if r.choices > 1 {
		note("several_choices", "The server sent more than one choice: the text is that of the first, the chunks are of all.")
	}
	if rec.Status == archive.StatusOK && !rec.Usage.Completion.Known() {
		note("no_usage", "The server did not count the tokens of this reply.")
	}
}
