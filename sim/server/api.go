package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/inferencebench/inferencebench/sim"
	"github.com/inferencebench/inferencebench/sim/text"
)

// maxBody bounds a request body: a million tokens of text fit.
const maxBody = 16 << 20

// apiError is an error as the OpenAI API reports it.
type apiError struct {
	status  int
	kind    string
	param   string
	message string
}

func badRequest(param, format string, args ...any) *apiError {
	return &apiError{http.StatusBadRequest, "BadRequestError", param, fmt.Sprintf(format, args...)}
}

func writeError(w http.ResponseWriter, e *apiError) {
	var param any
	if e.param != "" {
		param = e.param
	}
	writeJSON(w, e.status, map[string]any{"error": map[string]any{
		"message": e.message, "type": e.kind, "param": param, "code": e.status,
	}})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	b, err := json.Marshal(v)
	if err != nil { // only values built here are written
		panic(err)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(b, '\n')) // the client is gone: nothing to tell it
}

// request is what both completion endpoints understand. Unknown fields are ignored, as the
// real engine does.
type request struct {
	Model               string          `json:"model"`
	Messages            []message       `json:"messages"`
	Prompt              json.RawMessage `json:"prompt"`
	MaxTokens           *int            `json:"max_tokens"`
	MaxCompletionTokens *int            `json:"max_completion_tokens"`
	MinTokens           int             `json:"min_tokens"`
	IgnoreEOS           bool            `json:"ignore_eos"`
	Stop                json.RawMessage `json:"stop"`
	Temperature         *float64        `json:"temperature"`
	Seed                *uint64         `json:"seed"`
	N                   *int            `json:"n"`
	Priority            int             `json:"priority"`
	Stream              bool            `json:"stream"`
	StreamOptions       *struct {
		IncludeUsage *bool `json:"include_usage"`
		Continuous   bool  `json:"continuous_usage_stats"`
	} `json:"stream_options"`
}

type message struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

// text returns the content: a string, or the text parts of a list.
func (m message) text() (string, error) {
	var s string
	if len(m.Content) == 0 || bytes.Equal(m.Content, []byte("null")) {
		return "", nil
	}
	if json.Unmarshal(m.Content, &s) == nil {
		return s, nil
	}
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if err := json.Unmarshal(m.Content, &parts); err != nil {
		return "", errors.New("content must be a string or a list of parts")
	}
	var b strings.Builder
	for _, p := range parts {
		if p.Type != "text" {
			return "", fmt.Errorf("content part of type %.40q is not supported by this model", p.Type)
		}
		b.WriteString(p.Text)
	}
	return b.String(), nil
}

// job is a request made ready to run.
type job struct {
	req    *sim.Request
	reply  []string // tokens, in order
	model  string
	fate   fate
	engine *driver
	canned bool // answered from memory, past the engine
	// claimed is how many tokens the usage says.
	claimed int
}

// decode reads and checks a body.
func (s *Server) decode(w http.ResponseWriter, r *http.Request) (*request, *apiError) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		return nil, badRequest("", "the body could not be read: %v", err)
	}
	req := &request{}
	if err := json.Unmarshal(body, req); err != nil {
		return nil, badRequest("", "the body is not valid JSON: %v", err)
	}
	if req.Model != "" && req.Model != s.model {
		return nil, &apiError{http.StatusNotFound, "NotFoundError", "model", fmt.Sprintf("The model `%.200s` does not exist.", req.Model)}
	}
	if req.N != nil && *req.N != 1 {
		return nil, badRequest("n", "the simulated engine generates one choice a request; n was %d", *req.N)
	}
	if t := req.Temperature; t != nil && (*t < 0 || *t > 100) {
		return nil, badRequest("temperature", "temperature must be non-negative, got %g", *t)
	}
	for _, m := range []*int{req.MaxTokens, req.MaxCompletionTokens} {
		if m != nil && *m < 1 {
			return nil, badRequest("max_tokens", "max_tokens must be at least 1, got %d", *m)
		}
	}
	if req.MinTokens < 0 {
		return nil, badRequest("min_tokens", "min_tokens must not be negative, got %d", req.MinTokens)
	}
	return req, nil
}

// system is the text of the system messages.
func (r *request) system() string {
	var b strings.Builder
	for _, m := range r.Messages {
		if m.Role == "system" {
			t, _ := m.text() // chatPrompt has read it
			b.WriteString(t)
		}
	}
	return b.String()
}

// stops reads the stop field: a string or a list of at most 16.
func (r *request) stops() ([]string, *apiError) {
	if len(r.Stop) == 0 || bytes.Equal(r.Stop, []byte("null")) {
		return nil, nil
	}
	var one string
	if json.Unmarshal(r.Stop, &one) == nil {
		return []string{one}, nil
	}
	var list []string
	if err := json.Unmarshal(r.Stop, &list); err != nil || len(list) > 16 {
		return nil, badRequest("stop", "stop must be a string or a list of at most 16 strings")
	}
	return list, nil
}

// includeUsage reports whether the stream ends with a usage event.
func (r *request) includeUsage() bool {
	return r.StreamOptions != nil && (r.StreamOptions.IncludeUsage == nil || *r.StreamOptions.IncludeUsage)
}

// prepare plans the whole reply: its tokens, and the request that will make the engine
// spend the time that they take.
func (s *Server) prepare(req *request, prompt []uint64, user string) (*job, *apiError) {
	cfg := s.drv.eng.Config()
	if keep := s.cfg.Faults.KeepPrompt; keep > 0 && len(prompt) > keep {
		prompt = prompt[len(prompt)-keep:]
	}
	limit := cfg.MaxModelLen - len(prompt)
	asked := 0
	for _, m := range []*int{req.MaxTokens, req.MaxCompletionTokens} {
		if m != nil {
			asked = *m
		}
	}
	if limit < max(asked, 1) {
		return nil, badRequest("max_tokens", "This model's maximum context length is %d tokens. However, you requested %d tokens (%d in the messages, %d in the completion). Please reduce the length of the messages or completion.",
			cfg.MaxModelLen, len(prompt)+asked, len(prompt), asked)
	}
	if asked > 0 {
		limit = asked
	}
	if req.MinTokens > limit {
		return nil, badRequest("min_tokens", "min_tokens (%d) must not exceed max_tokens (%d)", req.MinTokens, limit)
	}
	if err := s.drv.eng.CheckRequest(len(prompt), max(asked, 1)); err != nil {
		return nil, badRequest("", "%v", err)
	}
	if room := s.drv.eng.Memory().Tokens - len(prompt); limit > room {
		limit = room
	}
	stops, aerr := req.stops()
	if aerr != nil {
		return nil, aerr
	}
	serial := s.serial.Add(1)
	j := &job{model: s.model, engine: s.route(prompt), fate: s.cfg.Faults.fateOf(s.cfg.Sim.Seed, serial)}
	if j.fate.status != 0 {
		return j, nil
	}
	seed := s.cfg.Sim.Seed
	switch {
	case req.Seed != nil:
		seed ^= *req.Seed * 0x9e3779b97f4a7c15
	case req.Temperature == nil || *req.Temperature > 0:
		seed ^= serial << 20
	}
	if s.cfg.Attack == AttackSmallerModel {
		seed ^= text.Hash("other weights")
	}
	system := req.system()
	if system != "" {
		seed ^= text.Hash(system)
	}
	ask := text.Ask{User: user, Seed: seed, Min: req.MinTokens, Max: limit, Endless: req.IgnoreEOS}
	if s.cfg.Answers != nil {
		if a, ok := s.cfg.Answers(user); ok {
			ask.Answer = a
			ask.Right = !j.fate.wrong && draw(user, s.cfg.Sim.Seed) < s.cfg.Accuracy*recovery(cfg.Quantization, cfg.KVCacheDType)
		}
	}
	tokens, ended := text.Reply(ask)
	if req.Temperature != nil && *req.Temperature == 0 {
		tokens, ended = s.numerics(ask, cfg, tokens, ended)
	}
	tokens = obey(system, ask, tokens)
	tokens, ended, j.claimed, j.canned = s.cheat(ask, prompt, tokens, ended)
	tokens, whole := j.fate.spoil(tokens, limit)
	tokens, stopped := cutAtStop(tokens, stops)
	if s.cfg.Faults.Cached {
		tokens, j.canned = s.memory.recall(prompt, limit, tokens)
	}
	if s.cfg.Attack != AttackTruncate {
		j.claimed = len(tokens)
	}
	reason := sim.FinishLength
	if ended && whole || stopped {
		reason = sim.FinishStop
	}
	hashes := prompt
	for _, t := range tokens {
		hashes = append(hashes, text.Hash(t))
	}
	out := max(len(tokens), 1) // a stop string at the very start still costs a token
	j.reply = tokens
	j.req = &sim.Request{
		Prompt: len(prompt), Output: out, Reason: reason, Priority: req.Priority,
		Keys: text.BlockKeys(cfg.BlockSize, hashes), User: newStream(),
	}
	return j, nil
}

// route picks the engine of a prompt: in turn, or by its first tokens, which the later turns
// of a conversation share.
func (s *Server) route(prompt []uint64) *driver {
	n := uint64(len(s.engines))
	if n == 1 {
		return s.drv
	}
	if s.cfg.RoundRobin {
		return s.engines[s.serial.Load()%n]
	}
	h := uint64(0)
	for _, t := range prompt[:min(len(prompt), 256)] {
		h = (h ^ t) * 0x9e3779b97f4a7c15
	}
	return s.engines[(h>>32)%n]
}

// cutAtStop drops everything from the first stop string on.
func cutAtStop(tokens, stops []string) ([]string, bool) {
	if len(stops) == 0 {
		return tokens, false
	}
	joined := strings.Join(tokens, "")
	cut := -1
	for _, s := range stops {
		if i := strings.Index(joined, s); s != "" && i >= 0 && (cut < 0 || i < cut) {
			cut = i
		}
	}
	if cut < 0 {
		return tokens, false
	}
	n := 0
	for i, t := range tokens {
		if n+len(t) > cut {
			out := append([]string(nil), tokens[:i]...)
			if rest := t[:cut-n]; rest != "" {
				out = append(out, rest)
			}
			return out, true
		}
		n += len(t)
	}
	return tokens, true
}
