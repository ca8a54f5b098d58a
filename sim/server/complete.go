package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/inferencebench/inferencebench/sim"
)

// shape is what differs between the two completion endpoints.
type shape struct {
	chat           bool
	prefix         string // of ids
	object, chunks string
}

var (
	chatShape  = shape{true, "chatcmpl-", "chat.completion", "chat.completion.chunk"}
	plainShape = shape{false, "cmpl-", "text_completion", "text_completion"}
)

func (s *Server) chat(w http.ResponseWriter, r *http.Request) {
	s.complete(w, r, chatShape, func(req *request) ([]uint64, string, *apiError) {
		if s.cfg.Attack == AttackDropSystem {
			req.Messages = slices.DeleteFunc(req.Messages, func(m message) bool { return m.Role == "system" })
		}
		return chatPrompt(req.Messages)
	})
}

func (s *Server) completions(w http.ResponseWriter, r *http.Request) {
	s.complete(w, r, plainShape, func(req *request) ([]uint64, string, *apiError) { return plainPrompt(req.Prompt) })
}

func (s *Server) complete(w http.ResponseWriter, r *http.Request, sh shape, prompt func(*request) ([]uint64, string, *apiError)) {
	req, aerr := s.decode(w, r)
	if aerr != nil {
		writeError(w, aerr)
		return
	}
	tokens, user, aerr := prompt(req)
	if aerr != nil {
		writeError(w, aerr)
		return
	}
	j, aerr := s.prepare(req, tokens, user)
	if aerr != nil {
		writeError(w, aerr)
		return
	}
	switch {
	case j.fate.status != 0:
		j.fate.refuse(w)
		return
	case j.canned:
		j.req.User.(*stream).push(event{n: len(j.reply), at: 0, finish: j.req.Reason})
	case !j.engine.submit(j.req):
		writeError(w, &apiError{http.StatusServiceUnavailable, "ServiceUnavailableError", "", "the simulated engine is shutting down"})
		return
	}
	defer j.engine.cancel(j.req) // frees the blocks of a client that left; else does nothing
	id := r.Header.Get("X-Request-Id")
	if id == "" || len(id) > 200 {
		id = fmt.Sprintf("%016x", s.serial.Add(1)*0x9e3779b97f4a7c15)
	}
	out := &reply{srv: s, job: j, shape: sh, id: sh.prefix + id, created: time.Now().Unix(), req: req}
	if req.Stream {
		out.stream(w, r)
		return
	}
	out.whole(w, r)
}

// reply writes one answer.
type reply struct {
	srv     *Server
	job     *job
	shape   shape
	id      string
	created int64
	req     *request
	buf     []byte
	head    []byte // of a token event, up to the token
	tail    []byte
}

func (o *reply) usage(completion int) map[string]any {
	o.job.engine.mu.Lock()
	cached := o.job.req.Cached
	o.job.engine.mu.Unlock()
	if o.srv.cfg.Attack == AttackHiddenPrefix {
		cached = 0
	}
	return map[string]any{
		"prompt_tokens": o.job.req.Prompt, "completion_tokens": completion, "total_tokens": o.job.req.Prompt + completion,
		"prompt_tokens_details": map[string]any{"cached_tokens": cached},
	}
}

// whole waits for the end and writes one object.
func (o *reply) whole(w http.ResponseWriter, r *http.Request) {
	finish, ok := o.each(r, func(int, int) {})
	if !ok {
		return
	}
	if o.job.fate.cut {
		panic(http.ErrAbortHandler) // closes the connection without an answer
	}
	joined := strings.Join(o.job.reply, "")
	choice := map[string]any{"index": 0, "logprobs": nil, "finish_reason": finish.String()}
	if o.shape.chat {
		choice["message"] = map[string]any{"role": "assistant", "content": joined}
	} else {
		choice["text"] = joined
	}
	writeJSON(w, http.StatusOK, map[string]any{
		"id": o.id, "object": o.shape.object, "created": o.created, "model": o.job.model,
		"choices": []any{choice}, "usage": o.usage(o.job.claimed), "system_fingerprint": Version,
	})
}

// stream writes server-sent events: for chat one with the role, then one a token, one with
// the finish reason, the usage if asked for, and [DONE].
func (o *reply) stream(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	w.Header().Set("Cache-Control", "no-cache")
	flush := http.NewResponseController(w)
	w.WriteHeader(http.StatusOK)
	o.frame()
	if !o.shape.chat {
		_ = flush.Flush() // headers leave before the first token, as the real server's do
	}
	half, stalled := len(o.job.reply)/2, false
	broken := o.job.fate.cut || o.job.fate.truncate
	finish, ok := o.each(r, func(from, n int) {
		o.buf = o.buf[:0]
		if from == 0 && o.shape.chat {
			o.event(`{"role":"assistant","content":""}`, nil)
		}
		for i := range n {
			if broken && from+i >= half {
				break
			}
			o.token(from + i)
		}
		_, _ = w.Write(o.buf)
		_ = flush.Flush() // a client that left ends the request through its context
		if o.job.fate.cut && from+n > half {
			panic(http.ErrAbortHandler) // breaks the connection; deferred calls still run
		}
		if o.job.fate.stall && !stalled && from+n > half {
			stalled = true
			o.pause(r, o.srv.cfg.Faults.StallFor)
		}
	})
	if !ok || o.job.fate.truncate {
		return
	}
	o.buf = o.buf[:0]
	reason := finish.String()
	if o.shape.chat {
		o.event(`{}`, &reason)
	} else {
		o.event(`""`, &reason)
	}
	if o.req.includeUsage() {
		o.json(map[string]any{"id": o.id, "object": o.shape.chunks, "created": o.created, "model": o.job.model,
			"choices": []any{}, "usage": o.usage(o.job.claimed)})
	}
	o.buf = append(o.buf, "data: [DONE]\n\n"...)
	_, _ = w.Write(o.buf)
	_ = flush.Flush()
}

// pause waits that much simulated time, or until the client leaves.
func (o *reply) pause(r *http.Request, d time.Duration) {
	t := time.NewTimer(time.Duration(float64(d) / o.srv.cfg.Speed))
	defer t.Stop()
	select {
	case <-t.C:
	case <-r.Context().Done():
	case <-o.job.engine.quit:
	}
}

// each calls got with the index of the first and the number of tokens that became due,
// until the end. It reports false when the client left or the server stopped.
func (o *reply) each(r *http.Request, got func(from, n int)) (sim.Finish, bool) {
	mail := o.job.req.User.(*stream)
	var events []event
	sent := 0
	for {
		select {
		case <-mail.ready:
		case <-r.Context().Done():
			return 0, false
		case <-o.job.engine.quit:
			return 0, false
		}
		events = mail.take(events)
		for i := 0; i < len(events); {
			if wait := o.job.engine.wall(events[i].at); wait > 50*time.Microsecond {
				t := time.NewTimer(wait)
				select {
				case <-t.C:
				case <-r.Context().Done():
					t.Stop()
					return 0, false
				}
			}
			n, end := 0, sim.FinishNone
			for ; i < len(events) && (n == 0 || o.job.engine.wall(events[i].at) <= 0); i++ {
				n += events[i].n
				end = events[i].finish
			}
			n = min(n, len(o.job.reply)-sent)
			got(sent, n)
			sent += n
			if end != sim.FinishNone {
				return end, true
			}
		}
	}
}

// frame prepares the constant parts of a token event.
func (o *reply) frame() {
	model, _ := json.Marshal(o.job.model)
	id, _ := json.Marshal(o.id)
	o.head = fmt.Appendf(nil, `data: {"id":%s,"object":%q,"created":%d,"model":%s,"choices":[{"index":0,`, id, o.shape.chunks, o.created, model)
	o.tail = []byte(`"logprobs":null,"finish_reason":null}]`)
}

// token appends the event of token i.
func (o *reply) token(i int) {
	o.buf = append(o.buf, o.head...)
	if o.shape.chat {
		o.buf = append(o.buf, `"delta":{"content":`...)
	} else {
		o.buf = append(o.buf, `"text":`...)
	}
	if o.job.fate.corrupt && i == len(o.job.reply)/2 {
		o.buf = append(o.buf, "\"\xc3\x28\xe2\x82\""...) // cut and mismatched sequences
	} else {
		o.buf = appendString(o.buf, o.job.reply[i])
	}
	if o.shape.chat {
		o.buf = append(o.buf, '}')
	}
	o.buf = append(o.buf, ',')
	o.buf = append(o.buf, o.tail...)
	if so := o.req.StreamOptions; so != nil && so.Continuous {
		u := o.job.req.Prompt
		o.buf = fmt.Appendf(o.buf, `,"usage":{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d}`, u, i+1, u+i+1)
	}
	o.buf = append(o.buf, "}\n\n"...)
}

// event appends an event without a token.
func (o *reply) event(payload string, finish *string) {
	o.buf = append(o.buf, o.head...)
	if o.shape.chat {
		o.buf = append(o.buf, `"delta":`...)
	} else {
		o.buf = append(o.buf, `"text":`...)
	}
	o.buf = append(o.buf, payload...)
	o.buf = append(o.buf, `,"logprobs":null,"finish_reason":`...)
	if finish == nil {
		o.buf = append(o.buf, "null"...)
	} else {
		o.buf = strconv.AppendQuote(o.buf, *finish)
	}
	o.buf = append(o.buf, "}]}\n\n"...)
}

func (o *reply) json(v any) {
	b, err := json.Marshal(v)
	if err != nil { // only values built here are written
		panic(err)
	}
	o.buf = append(o.buf, "data: "...)
	o.buf = append(o.buf, b...)
	o.buf = append(o.buf, "\n\n"...)
}

// appendString appends s as a JSON string. Plain text, which almost every token is, takes
// the short way.
func appendString(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < 0x20 || c > 0x7e || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			q, _ := json.Marshal(s)
			return append(b, q...)
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}
