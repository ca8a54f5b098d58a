package integrity

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/loadgen/delta"
	"github.com/inferencebench/inferencebench/loadgen/sse"
)

const (
	maxReply = 1 << 20         // bytes of text that are kept of one reply
	maxRead  = 64 << 20        // bytes that are read of one response
	patience = 3 * time.Minute // for one reply
)

// Subject is the server that is looked at. HTTP and Base are required.
type Subject struct {
	HTTP   *http.Client
	Base   string      // without a trailing slash and without /v1
	Model  string      // "" is the only one that the server lists
	Header http.Header // sent with every request; it holds the key, where there is one
}

// ask is one chat request. The JSON fields are the API's.
type ask struct {
	Model     string    `json:"model"`
	Messages  []message `json:"messages"`
	MaxTokens int       `json:"max_tokens"`
	MinTokens int       `json:"min_tokens,omitempty"`
	IgnoreEOS bool      `json:"ignore_eos,omitempty"`
	Temp      float64   `json:"temperature"`
	Seed      *uint64   `json:"seed,omitempty"`
	Stream    bool      `json:"stream"`
	Options   struct {
		Usage bool `json:"include_usage"`
	} `json:"stream_options"`
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// reply is what came of it. Times count from the sending of the request.
type reply struct {
	text        string
	first, last time.Duration // of text
	tokens      int
	counted     bool // tokens are the server's count
	chunks      int
	prompt      archive.Opt[int]
	cached      archive.Opt[int]
	finish      string
	server      string // the Server header
	via         string
	err         string // what went wrong, "" for a whole reply
}

func user(text string, limit int) ask {
	return ask{Messages: []message{{"user", text}}, MaxTokens: limit}
}

// send asks and reads the reply to its end.
func (o *Observer) send(ctx context.Context, s Subject, a ask) (r reply) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	a.Model, a.Stream, a.Options.Usage = s.Model, true, true
	body, err := json.Marshal(a)
	if err != nil { // strings and numbers always marshal
		panic(err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.Base+"/v1/chat/completions", bytes.NewReader(body))
	if err != nil {
		return reply{err: "the server's address is not valid"}
	}
	for k, v := range s.Header {
		req.Header[k] = v
	}
	req.Header.Set("Content-Type", "application/json")
	from := o.now()
	resp, err := s.HTTP.Do(req)
	if err != nil {
		return reply{err: transport(ctx)}
	}
	defer resp.Body.Close()
	r.server, r.via = bounded(resp.Header.Get("Server")), bounded(resp.Header.Get("Via"))
	if resp.StatusCode != http.StatusOK {
		r.err = fmt.Sprintf("HTTP status %d", resp.StatusCode)
		return r
	}
	o.read(ctx, resp.Body, from, &r)
	return r
}

// read takes a stream apart, or a whole answer from a server that does not stream.
func (o *Observer) read(ctx context.Context, body io.Reader, from time.Time, r *reply) {
	var (
		scan  sse.Scanner
		dec   delta.Decoder
		d     delta.Delta
		usage delta.Usage
		text  strings.Builder
		buf   = make([]byte, 16<<10)
		left  = maxRead
		bad   string
	)
	event := func(at time.Duration) {
		if err := dec.Decode(scan.Event(), scan.Data(), &d); err != nil {
			bad = "an event that is not JSON"
			return
		}
		if d.Err != nil {
			bad = "an error within the stream"
		}
		if d.HasUsage {
			usage.Merge(d.Usage)
		}
		if d.Finish != "" {
			r.finish = bounded(d.Finish)
		}
		if !d.Bearing {
			return
		}
		if r.chunks == 0 {
			r.first = at
		}
		r.last = at
		r.chunks++
		if text.Len() < maxReply {
			text.Write(d.Reasoning)
			text.Write(d.Answer)
		}
	}
	for {
		n, err := body.Read(buf)
		at := o.now().Sub(from)
		left -= n
		scan.Feed(buf[:n])
		for scan.Next() {
			event(at)
		}
		if err == nil && left > 0 && scan.Err() == nil {
			continue
		}
		switch {
		case err != nil && err != io.EOF:
			bad = transport(ctx)
		case left <= 0 || scan.Err() != nil:
			bad = "a reply beyond all bounds"
		}
		break
	}
	scan.Finish()
	for scan.Next() {
		event(o.now().Sub(from))
	}
	r.text = strings.ToValidUTF8(text.String(), "?")
	r.prompt, r.cached = usage.Prompt, usage.Cached
	if r.tokens, r.counted = usage.Completion.Get(); !r.counted {
		r.tokens = r.chunks
	}
	if bad == "" && r.finish == "" && r.chunks == 0 {
		bad = "an empty reply"
	}
	r.err = bad
}

// transport is why a request did not come through, without the address or the key.
func transport(ctx context.Context) string {
	if ctx.Err() != nil {
		return "no reply in time"
	}
	return "the connection broke"
}

// bounded keeps words of the server short and printable.
func bounded(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < 0x20 || r == 0x7f || r > 0x2fff {
			return -1
		}
		return r
	}, s)
	return s[:min(len(s), 80)]
}
