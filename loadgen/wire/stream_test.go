package wire

import (
	"fmt"
	"strings"
	"testing"

	"github.com/inferencebench/inferencebench/archive"
)

// Each row is a case of one scripted stream, in virtual time, so that the times are exact.
func TestStreams(t *testing.T) {
	failed := func(kind, text string, ttft, e2e float64, chunks int) want {
		return want{status: archive.StatusFailed, fail: kind, text: text, ttft: ttft, ttfa: ttft, e2e: e2e, done: -2, prompt: -1, completion: -1, chunks: chunks}
	}
	tests := []struct {
		name   string
		server script
		want   want
	}{
		{"B01 CRLF, and a CRLF cut between its bytes, lose nothing",
			script{{0, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi\"}}]}\r\n\r"}, {5, "\ndata: {\"choices\":[],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":1,\"total_tokens\":4}}\r\n\r\ndata: [DONE]\r\n\r\n"}},
			answered("Hi", 0, 0, 3, 1, 1, "")},
		{"B03 comments are neither tokens nor first bytes",
			script{{50, ":\n\n"}, {100, ": keep-alive\n\n"}, {400, text("A")}, {410, usage(9, 1) + done}},
			answered("A", 400, 400, 9, 1, 1, "")},
		{"B04 events without data are dropped",
			script{{10, "retry: 3000\n\nid: 7\n\ndata:\n\n" + text("ok") + ": ping\n\n" + usage(2, 1) + done}},
			answered("ok", 10, 10, 2, 1, 1, "")},
		{"B06 white space inside an answer survives any cut",
			script{{1, "data:"}, {2, " {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a "}, {3, " b\"}}]}\n\n"}, {4, done}},
			answered("a  b", 3, 3, -1, -1, 1, "")},
		{"B10 a line of three million bytes is whole",
			script{{10, text(strings.Repeat("x", 3_000_000))}, {20, usage(5, 750000) + done}},
			answered(strings.Repeat("x", 3_000_000), 10, 10, 5, 750000, 1, "")},
		{"B12 an empty finish reason does not end the reply",
			script{{10, frame(`{"content":"a"}`, `""`)}, {20, frame(`{"content":"b"}`, `""`)}, {30, finish("stop") + done}},
			answered("ab", 10, 20, -1, -1, 2, "stop")},
		{"B15 the role-only chunk is not the first token",
			script{{10, role}, {500, text("A")}, {520, text("B")}, {540, finish("stop") + usage(7, 2) + done}},
			answered("AB", 500, 520, 7, 2, 2, "stop")},
		{"B16 reasoning under its newer name starts the clock, the answer has its own",
			script{{100, role}, {150, frame(`{"reasoning":"Okay"}`, "null")}, {170, frame(`{"reasoning":" so"}`, "null")}, {900, text("\n\n")}, {920, text("4")}, {930, finish("stop") + usage(6, 4) + done}},
			want{status: archive.StatusOK, text: "\n\n4", ttft: 150, ttfa: 900, e2e: 920, done: 930, prompt: 6, completion: 4, chunks: 4, finish: "stop"}},
		{"B19a a whole answer with usage in one chunk",
			script{{90, `data: {"choices":[{"index":0,"delta":{"content":"Yes"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":1,"total_tokens":4}}` + "\n\n" + done}},
			answered("Yes", 90, 90, 3, 1, 1, "stop")},
		{"B19b usage later does not move the first token",
			script{{90, text("Yes")}, {400, usage(3, 1) + done}},
			answered("Yes", 90, 90, 3, 1, 1, "")},
		{"B21 hidden reasoning is marked",
			script{{2000, text("The result is 12")}, {2010, text(".")}, {2020, `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":50,"completion_tokens":205,"completion_tokens_details":{"reasoning_tokens":200}}}` + "\n\n" + done}},
			want{status: archive.StatusOK, text: "The result is 12.", ttft: 2000, ttfa: 2000, e2e: 2010, done: 2020, prompt: 50, completion: 205, chunks: 2, finish: "stop", note: "hidden_reasoning"}},
		{"B22 an answer of tool calls alone is an answer",
			script{{10, role}, {200, frame(`{"tool_calls":[{"index":0,"id":"t1","type":"function","function":{"name":"get","arguments":""}}]}`, "null")}, {230, frame(`{"tool_calls":[{"index":0,"function":{"arguments":"{\"a\":"}}]}`, "null")}, {260, frame(`{"tool_calls":[{"index":0,"function":{"arguments":"1}"}}]}`, "null")}, {270, finish("tool_calls") + usage(40, 9) + done}},
			want{status: archive.StatusOK, ttft: 200, ttfa: -1, e2e: 260, done: 270, prompt: 40, completion: 9, chunks: 3, finish: "tool_calls"}},
		{"B29a a finish reason is a proper end", script{{10, text("Hi")}, {20, finish("stop")}}, answered("Hi", 10, 10, -1, -1, 1, "stop")},
		{"B29b [DONE] is a proper end", script{{10, text("Hi")}, {20, done}}, answered("Hi", 10, 10, -1, -1, 1, "")},
		{"B29c neither is truncated", script{{10, text("Hi")}, {20, ""}}, failed(archive.FailTruncated, "Hi", 10, 10, 1)},
		{"B29d a broken connection is cut", script{{10, text("Hi")}, {20, cut}}, failed(archive.FailCut, "Hi", 10, 10, 1)},
		{"a stream cut inside an event is truncated, not malformed", script{{10, text("Hi")}, {20, `data: {"choices":[{"in`}}, failed(archive.FailTruncated, "Hi", 10, 10, 1)},
		{"a reset after the end costs nothing",
			script{{10, text("Hi") + finish("stop") + done}, {20, cut}},
			want{status: archive.StatusOK, text: "Hi", ttft: 10, ttfa: 10, e2e: 10, done: -2, prompt: -1, completion: -1, chunks: 1, finish: "stop", note: "open_after_end"}},
		{"B31 usage beside empty choices is read",
			script{{10, text("one two three")}, {20, finish("stop")}, {30, usage(11, 3)}, {40, done}},
			answered("one two three", 10, 10, 11, 3, 1, "stop")},
		{"B43 role, finish, usage and [DONE] are not in the timeline, the close is kept apart",
			script{{5, role}, {100, text("a")}, {110, text("b")}, {400, finish("stop")}, {600, usage(2, 2)}, {900, done}},
			want{status: archive.StatusOK, text: "ab", ttft: 100, ttfa: 100, e2e: 110, done: 900, prompt: 2, completion: 2, chunks: 2, finish: "stop"}},
		{"B28 [DONE] alone is no success", script{{10, done}}, failed(archive.FailNoTokens, "", -1, -1, 0)},
		{"B46 a proper end without text is no success",
			script{{10, role}, {20, finish("stop")}, {30, usage(5, 0) + done}},
			want{status: archive.StatusFailed, fail: archive.FailNoTokens, ttft: -1, ttfa: -1, e2e: -1, done: 30, prompt: 5, completion: 0, finish: "stop"}},
		{"an event that is no JSON is malformed", script{{10, text("a")}, {20, "data: {oops\n\n"}, {30, done}}, failed(archive.FailMalformed, "a", 10, 10, 1)},
		{"an empty stream is truncated", script{{10, ""}}, failed(archive.FailTruncated, "", -1, -1, 0)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			virtual(t, tt.server, nil, func(t *testing.T, c *Client) {
				tt.want.check(t, ask(t, c))
			})
		})
	}
}

// B08: one byte for each write, through characters of several bytes.
func TestB08ByteByByte(t *testing.T) {
	var s script
	for i, b := range []byte(text("中🦀") + done) {
		s = append(s, step{i, string([]byte{b})})
	}
	virtual(t, s, nil, func(t *testing.T, c *Client) {
		at := float64(len(text("中🦀")) - 1)
		answered("中🦀", at, at, -1, -1, 1, "").check(t, ask(t, c))
	})
}

// B06: the same bytes, cut at every place, give the same record.
func TestB06EveryCut(t *testing.T) {
	whole := role + frame(`{"reasoning_content":"r"}`, "null") + ": ping\r\n\r\n" + text("a  b") + text("中\n") + frame(`{"tool_calls":[{"index":0,"function":{"name":"f","arguments":"{}"}}]}`, "null") + finish("stop") + usage(3, 4) + done
	for cutAt := range len(whole) + 1 {
		virtual(t, script{{1, whole[:cutAt]}, {2, whole[cutAt:]}}, nil, func(t *testing.T, c *Client) {
			rec := ask(t, c)
			if rec.Status != archive.StatusOK || rec.Text != "a  b中\n" || rec.Reasoning != "r" || rec.ToolCalls != `[{"name":"f","arguments":"{}"}]` || len(rec.Chunks.T) != 4 || rec.Usage.Completion.Or(-1) != 4 {
				t.Fatalf("cut at %d: %+v", cutAt, rec)
			}
		})
	}
}

func TestB14StopMarkerInText(t *testing.T) {
	virtual(t, script{{10, text("4")}, {20, text("<|im_end|>")}, {30, finish("stop") + done}}, nil, func(t *testing.T, c *Client) {
		rec := ask(t, c)
		if rec.Text != "4<|im_end|>" || !noted(rec, "stop_marker_in_text") {
			t.Errorf("text %q, annotations %v; want the raw text and a note", rec.Text, rec.Annotations)
		}
		if got, marked := TrimStopMarker(rec.Text); got != "4" || !marked {
			t.Errorf("TrimStopMarker = %q, %v; want 4", got, marked)
		}
	})
	for _, plain := range []string{"", "4", "a < b", "<|im_end|> is a marker"} {
		if got, marked := TrimStopMarker(plain); got != plain || marked {
			t.Errorf("TrimStopMarker(%q) = %q, %v; want it unchanged", plain, got, marked)
		}
	}
}

func TestErrorsInsideAStream(t *testing.T) {
	tests := []struct {
		name, bytes string
		status      int
		words       string
	}{
		{"B24 an error object", `data: {"error":{"message":"engine gone","type":"InternalServerError","code":500}}` + "\n\n", 500, "engine gone"},
		{"white space inside", `data: { "error" : {"message":"engine gone"}}` + "\n\n", 200, "engine gone"},
		{"the older flat shape", `data: {"object":"error","message":"engine gone","code":503}` + "\n\n", 503, "engine gone"},
		{"a comment ahead of it", ": ping\n\n" + `data: {"error":{"message":"engine gone"}}` + "\n\n", 200, "engine gone"},
		{"an event of type error", "event: error\n" + `data: {"message":"engine gone"}` + "\n\n", 200, "engine gone"},
		{"a text", `data: {"error":"engine gone","error_type":"incomplete_generation"}` + "\n\n", 200, "engine gone"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			virtual(t, script{{100, text("a")}, {120, text("b")}, {130, tt.bytes + done}}, nil, func(t *testing.T, c *Client) {
				rec := ask(t, c)
				if rec.Status != archive.StatusFailed || rec.Error.Kind != archive.FailStreamError || rec.Error.HTTPStatus.Or(0) != tt.status || !strings.Contains(rec.Error.Message, tt.words) {
					t.Errorf("outcome %s %+v; want a stream_error %d with the server's words", rec.Status, rec.Error, tt.status)
				}
				if rec.Text != "ab" || len(rec.Chunks.T) != 2 {
					t.Errorf("text %q in %d chunks; want the partial text kept", rec.Text, len(rec.Chunks.T))
				}
			})
		})
	}
}

// B28: the record of a stream of [DONE] alone has no first-token sample at all.
func TestB28NoSample(t *testing.T) {
	virtual(t, script{{0, done}}, nil, func(t *testing.T, c *Client) {
		if rec := ask(t, c); rec.T.First.Known() || rec.T.Answer.Known() || rec.T.Last.Known() {
			t.Errorf("times %+v; want no token times", rec.T)
		}
	})
}

// B39, B45: k token-bearing events give k arrivals, at their own times.
func TestB39Arrivals(t *testing.T) {
	var s script
	for i := range 5 {
		s = append(s, step{200 + 30*i, text("w ")})
	}
	virtual(t, append(s, step{330, usage(9, 5) + done}), nil, func(t *testing.T, c *Client) {
		rec := ask(t, c)
		if len(rec.Chunks.T) != 5 || rec.Chunks.Coalesced != 0 {
			t.Fatalf("%d arrivals, %d coalesced; want 5 and 0", len(rec.Chunks.T), rec.Chunks.Coalesced)
		}
		for i, at := range rec.Chunks.T {
			if got := ms(rec, at); got != float64(200+30*i) {
				t.Errorf("arrival %d at %v ms; want %d", i, got, 200+30*i)
			}
		}
	})
}

func TestB40TokensPerChunk(t *testing.T) {
	running := func(at int, s string, total int) step {
		return step{at, fmt.Sprintf(`data: {"choices":[{"index":0,"delta":{"content":%q}}],"usage":{"prompt_tokens":3,"completion_tokens":%d}}`+"\n\n", s, total)}
	}
	virtual(t, script{running(100, "a", 1), running(112, "b c d e", 5), running(124, "f g h i", 9), {130, done}}, nil, func(t *testing.T, c *Client) {
		rec := ask(t, c)
		if fmt.Sprint(rec.Chunks.Tokens) != "[1 4 4]" || rec.Usage.Completion.Or(0) != 9 {
			t.Errorf("tokens %v of %v; want [1 4 4] of 9", rec.Chunks.Tokens, rec.Usage.Completion)
		}
	})
	virtual(t, script{running(100, "a", 1), {112, text("b")}, running(124, "c", 9), {130, done}}, nil, func(t *testing.T, c *Client) {
		if rec := ask(t, c); rec.Chunks.Tokens != nil {
			t.Errorf("tokens %v; want unknown, since one chunk does not say", rec.Chunks.Tokens)
		}
	})
}

func TestCoalescedChunks(t *testing.T) {
	virtual(t, script{{10, text("a") + text("b") + text("c")}, {20, text("d")}, {30, done}}, nil, func(t *testing.T, c *Client) {
		rec := ask(t, c)
		if len(rec.Chunks.T) != 4 || rec.Chunks.Coalesced != 2 {
			t.Errorf("%d chunks, %d coalesced; want 4 and 2", len(rec.Chunks.T), rec.Chunks.Coalesced)
		}
		if s := c.Stats(); s.Chunks != 4 || s.Coalesced != 2 || s.CoalescedShare().Or(0) != 0.5 || s.Learned+s.Decoded != 5 || s.StampClock != "user" {
			t.Errorf("stats %+v", s)
		}
	})
}
