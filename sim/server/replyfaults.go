package server

import (
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/inferencebench/inferencebench/sim/text"
)

// ReplyFaults spoil answers, for testing what should notice it. Shares are of requests, 0
// to 1; which requests are hit follows from the server's seed and their order.
type ReplyFaults struct {
	Error429 float64 // refused with 429 and Retry-After
	Error500 float64 // refused with 500
	Loop     float64 // repeats one phrase until max_tokens
	Nonsense float64 // exclamation marks instead of text
	Wrong    float64 // a known item answered wrongly, beside what Accuracy loses
	Truncate float64 // the stream ends half way, without finish reason or [DONE]
	Cut      float64 // the connection breaks half way
	Stall    float64 // nothing is sent for StallFor, half way
	Corrupt  float64 // one event carries bytes that are not UTF-8
	StallFor time.Duration
	// Cached answers a prompt that was seen before from memory: the same text, at once, past
	// the engine.
	Cached bool
	// KeepPrompt silently drops all but the last so many tokens of longer prompts; 0 keeps all.
	KeepPrompt int
}

// fate is what happens to one request.
type fate struct {
	status                                               int // 0 for none
	loop, nonsense, wrong, truncate, cut, stall, corrupt bool
}

// fateOf decides for the request of that serial number. At most one thing goes wrong.
func (f ReplyFaults) fateOf(seed, serial uint64) (out fate) {
	x := seed ^ serial*0x9e3779b97f4a7c15
	x ^= x >> 29
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 32
	u := float64(x>>11) / (1 << 53)
	hit := func(p float64) bool {
		u -= p
		return u < 0
	}
	switch {
	case hit(f.Error429):
		out.status = http.StatusTooManyRequests
	case hit(f.Error500):
		out.status = http.StatusInternalServerError
	case hit(f.Loop):
		out.loop = true
	case hit(f.Nonsense):
		out.nonsense = true
	case hit(f.Wrong):
		out.wrong = true
	case hit(f.Truncate):
		out.truncate = true
	case hit(f.Cut):
		out.cut = true
	case hit(f.Stall):
		out.stall = true
	case hit(f.Corrupt):
		out.corrupt = true
	}
	return out
}

// spoil changes the text of a reply.
func (f fate) spoil(tokens []string, limit int) ([]string, bool) {
	switch {
	case f.loop:
		phrase := tokens[:min(len(tokens), 12)]
		out := append([]string(nil), tokens[:min(len(tokens), limit)]...)
		for len(out) < limit && len(out) < 4096 {
			out = append(out, phrase[len(out)%len(phrase)])
		}
		return out, false
	case f.nonsense:
		out := make([]string, min(max(len(tokens), 64), limit))
		for i := range out {
			out[i] = "!"
		}
		return out, len(out) < limit
	}
	return tokens, true
}

// refuse writes the error of a request that is turned away.
func (f fate) refuse(w http.ResponseWriter) {
	kind, message := "InternalServerError", "EngineCore encountered an issue (simulated)"
	if f.status == http.StatusTooManyRequests {
		w.Header().Set("Retry-After", strconv.Itoa(1))
		kind, message = "RateLimitError", "too many requests (simulated)"
	}
	writeError(w, &apiError{f.status, kind, "", message})
}

// memory keeps the replies of prompts that were seen, up to a bound.
type memory struct {
	mu   sync.Mutex
	have map[uint64][]string
}

const maxMemory = 4096

// recall returns the reply to the same prompt, or keeps this one.
func (m *memory) recall(prompt []uint64, limit int, tokens []string) ([]string, bool) {
	key := uint64(limit)
	for _, t := range prompt {
		key = (key ^ t) * 0x9e3779b97f4a7c15
		key ^= key >> 31
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if old, ok := m.have[key]; ok {
		return old, true
	}
	if m.have == nil {
		m.have = make(map[uint64][]string)
	}
	if len(m.have) < maxMemory {
		m.have[key] = tokens
	}
	return tokens, false
}

// recovery is the share of its accuracy that a model keeps when it is stored that way, from
// published comparisons: careful 8 bits lose next to nothing, 4 bits a few per cent.
func recovery(quantization, kv string) float64 {
	r := 1.0
	switch quantization {
	case "fp8":
		r = 0.998
	case "int8", "w8a8":
		r = 0.985
	case "int4", "w4a16", "awq", "gptq":
		r = 0.97
	case "fp4", "nvfp4", "mxfp4":
		r = 0.92
	}
	if strings.HasPrefix(kv, "fp8") {
		r *= 0.997
	}
	return r
}

// draw is a number in [0, 1) that depends on the text and the seed alone.
func draw(s string, seed uint64) float64 {
	x := text.Hash(s) ^ seed*0xd6e8feb86659fd93
	x ^= x >> 31
	x *= 0x9e3779b97f4a7c15
	return float64(x>>11) / (1 << 53)
}
