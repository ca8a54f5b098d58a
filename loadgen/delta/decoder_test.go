package delta

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/inferencebench/inferencebench/archive"
)

const (
	head = `{"id":"c1","object":"chat.completion.chunk","created":1764500000,"model":"m","choices":[{"index":0,"delta":{"content":"`
	foot = `"},"logprobs":null,"finish_reason":null}]}`
)

// view is a Delta whose bytes are copied.
type view struct {
	Answer, Reasoning  string
	Tools              []Tool
	Bearing, Answering bool
	Tokens             int32
	Finish             string
	End                bool
	Usage              Usage
	HasUsage           bool
	Err                *Error
}

func look(d *Delta) view {
	return view{string(d.Answer), string(d.Reasoning), append([]Tool(nil), d.Tools...), d.Bearing, d.Answering, d.Tokens, d.Finish, d.End, d.Usage, d.HasUsage, d.Err}
}

func some(n int) archive.Opt[int] { return archive.Some(n) }

func TestOneEvent(t *testing.T) {
	chat := func(delta string) string {
		return `{"choices":[{"index":0,"delta":` + delta + `,"finish_reason":null}]}`
	}
	tests := []struct {
		name, event, in string
		want            view
	}{
		{"content is answer text", "", chat(`{"content":"Hi"}`), view{Answer: "Hi", Bearing: true, Answering: true}},
		{"a role-only delta carries no token", "", chat(`{"role":"assistant","content":""}`), view{}},
		{"null content carries no token", "", chat(`{"content":null}`), view{}},
		{"B16: reasoning under its newer name", "", chat(`{"reasoning":"x"}`), view{Reasoning: "x", Bearing: true}},
		{"reasoning under its older name", "", chat(`{"reasoning_content":"x"}`), view{Reasoning: "x", Bearing: true}},
		{"reasoning given twice counts once", "", chat(`{"reasoning":"x","reasoning_content":"x","reasoning_details":[{"text":"x"}]}`), view{Reasoning: "x", Bearing: true}},
		{"reasoning as a list", "", chat(`{"reasoning_content":["a",{"text":"b"}]}`), view{Reasoning: "ab", Bearing: true}},
		{"reasoning details with summaries", "", chat(`{"reasoning_details":[{"type":"reasoning.summary","summary":"s"}]}`), view{Reasoning: "s", Bearing: true}},
		{"content as a list of parts", "", chat(`{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`), view{Answer: "ab", Bearing: true, Answering: true}},
		{"B22: a tool call with a name and no arguments yet", "", chat(`{"tool_calls":[{"index":0,"id":"t1","type":"function","function":{"name":"get","arguments":""}}]}`), view{Tools: []Tool{{0, "get", ""}}, Bearing: true}},
		{"B22: a part of the arguments", "", chat(`{"tool_calls":[{"index":1,"function":{"arguments":"{\"a\":"}}]}`), view{Tools: []Tool{{1, "", `{"a":`}}, Bearing: true}},
		{"a tool call without name or arguments carries no token", "", chat(`{"tool_calls":[{"index":0,"id":"t1"}]}`), view{}},
		{"arguments as an object", "", chat(`{"tool_calls":[{"function":{"name":"f","arguments":{"a":1}}}]}`), view{Tools: []Tool{{0, "f", `{"a":1}`}}, Bearing: true}},
		{"the old function call", "", chat(`{"function_call":{"name":"f","arguments":"{}"}}`), view{Tools: []Tool{{0, "f", "{}"}}, Bearing: true}},
		{"completions carry text", "", `{"choices":[{"index":0,"text":" a","finish_reason":null}]}`, view{Answer: " a", Bearing: true, Answering: true}},
		{"a whole completion carries a message", "", `{"choices":[{"message":{"role":"assistant","content":"Hi","reasoning_content":"r"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":1}}`, view{Answer: "Hi", Reasoning: "r", Bearing: true, Answering: true, Finish: "stop", HasUsage: true, Usage: Usage{Prompt: some(3), Completion: some(1)}}},
		{"B12: an empty finish reason is none", "", `{"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":""}]}`, view{Answer: "a", Bearing: true, Answering: true}},
		{"B31: usage beside empty choices", "", `{"choices":[],"usage":{"prompt_tokens":11,"completion_tokens":3,"total_tokens":14}}`, view{HasUsage: true, Usage: Usage{Prompt: some(11), Completion: some(3)}}},
		{"usage that is null is none", "", `{"choices":[],"usage":null}`, view{}},
		{"usage inside a choice", "", `{"choices":[{"index":0,"delta":{},"usage":{"prompt_tokens":2,"completion_tokens":5}}]}`, view{HasUsage: true, Usage: Usage{Prompt: some(2), Completion: some(5)}}},
		{"usage of Groq", "", `{"choices":[],"x_groq":{"usage":{"prompt_tokens":2,"completion_tokens":5}}}`, view{HasUsage: true, Usage: Usage{Prompt: some(2), Completion: some(5)}}},
		{"usage details", "", `{"choices":[],"usage":{"prompt_tokens":50,"completion_tokens":205,"prompt_tokens_details":{"cached_tokens":16},"completion_tokens_details":{"reasoning_tokens":200}}}`, view{HasUsage: true, Usage: Usage{Prompt: some(50), Completion: some(205), Reasoning: some(200), Cached: some(16)}}},
		{"reasoning tokens at the top level of usage", "", `{"choices":[],"usage":{"completion_tokens":5,"reasoning_tokens":4}}`, view{HasUsage: true, Usage: Usage{Completion: some(5), Reasoning: some(4)}}},
		{"counts that are no counts are unknown", "", `{"choices":[],"usage":{"prompt_tokens":-1,"completion_tokens":"5","total_tokens":3}}`, view{}},
		{"timings of llama.cpp stand in for usage", "", `{"choices":[],"timings":{"cache_n":10,"prompt_n":3,"predicted_n":7}}`, view{HasUsage: true, Usage: Usage{Prompt: some(13), Completion: some(7), Cached: some(10)}}},
		{"log probabilities tell the tokens of a chunk", "", `{"choices":[{"index":0,"delta":{"content":"ab"},"logprobs":{"content":[{"token":"a"},{"token":"b"}]}}]}`, view{Answer: "ab", Bearing: true, Answering: true, Tokens: 2}},
		{"token ids tell the tokens of a chunk", "", `{"choices":[{"index":0,"delta":{"content":"ab"},"token_ids":[5,6,7]}]}`, view{Answer: "ab", Bearing: true, Answering: true, Tokens: 3}},
		{"text of another choice counts as an arrival, not as the answer", "", `{"choices":[{"index":1,"delta":{"content":"b"}}]}`, view{Bearing: true, Answering: true}},
		{"[DONE] ends the stream", "", `[DONE]`, view{End: true}},
		{"B24: an error object", "", `{"error":{"message":"engine gone","type":"InternalServerError","code":500}}`, view{Err: &Error{Code: some(500), Type: "InternalServerError", Message: "engine gone"}}},
		{"an error object after white space", "", `{ "error": { "message" : "m", "code" : "503" } }`, view{Err: &Error{Code: some(503), Message: "m"}}},
		{"an error that is a text", "", `{"error":"overloaded","error_type":"overloaded_error"}`, view{Err: &Error{Type: "overloaded_error", Message: "overloaded"}}},
		{"the older flat error", "", `{"object":"error","message":"m","type":"BadRequestError","param":"max_tokens","code":400}`, view{Err: &Error{Code: some(400), Type: "BadRequestError", Message: "m", Param: "max_tokens"}}},
		{"an event of type error", "error", `{"message":"boom"}`, view{Err: &Error{Message: "boom"}}},
		{"a FastAPI error", "", `{"detail":"not here"}`, view{Err: &Error{Message: "not here"}}},
		{"an error of Anthropic's shape", "error", `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, view{Err: &Error{Type: "overloaded_error", Message: "Overloaded"}}},
		{"an error inside a choice", "", `{"choices":[{"index":0,"delta":{},"error":{"code":502,"message":"upstream"}}]}`, view{Err: &Error{Code: some(502), Message: "upstream"}}},
		{"an error beside choices", "", `{"choices":[{"index":0,"delta":{"content":"a"}}],"error":{"message":"m"}}`, view{Answer: "a", Bearing: true, Answering: true, Err: &Error{Message: "m"}}},
		{"a null error is none", "", `{"choices":[],"error":null}`, view{}},
		{"the word error in the answer is no error", "", chat(`{"content":"\"error\": {\"message\":1}"}`), view{Answer: `"error": {"message":1}`, Bearing: true, Answering: true}},
		{"fields of other types are as if absent", "", `{"choices":[{"index":"x","delta":{"content":"a"},"finish_reason":7}],"usage":[1]}`, view{Answer: "a", Bearing: true, Answering: true}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var c Decoder
			var d Delta
			if err := c.Decode([]byte(tt.event), []byte(tt.in), &d); err != nil {
				t.Fatalf("Decode(%s): %v", tt.in, err)
			}
			if diff := cmp.Diff(tt.want, look(&d)); diff != "" {
				t.Errorf("Decode(%s) (-want +got):\n%s", tt.in, diff)
			}
		})
	}
}

func TestNotJSON(t *testing.T) {
	for _, in := range []string{"", "hello", `{"choices":[`, `[1]`, `"x"`, `{"a":1}x`, "\x00"} {
		var c Decoder
		var d Delta
		if err := c.Decode(nil, []byte(in), &d); err == nil {
			t.Errorf("Decode(%q) = nil; want an error", in)
		}
	}
}

func TestLearnedPathIsTaken(t *testing.T) {
	for name, frame := range map[string][2]string{
		"vLLM chat":           {head, foot},
		"role before content": {`{"choices":[{"index":0,"delta":{"role":"assistant","content":"`, `"},"finish_reason":null}]}`},
		"spaces":              {`{ "choices" : [ { "delta" : { "content" : "`, `" } } ] }`},
		"completions":         {`{"choices":[{"index":0,"text":"`, `","logprobs":null,"finish_reason":null}]}`},
		"reasoning":           {`{"choices":[{"index":0,"delta":{"content":null,"reasoning":"`, `"}}]}`},
		"the key in a name":   {`{"id":"\"content\":\"x","choices":[{"index":0,"delta":{"content":"`, `"}}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			var c Decoder
			var d Delta
			for _, text := range []string{"a", "b", `\n`, "", `\"`, "中"} {
				if err := c.Decode(nil, []byte(frame[0]+text+frame[1]), &d); err != nil {
					t.Fatal(err)
				}
			}
			if got, want := c.Paths(), (Paths{Learned: 5, Decoded: 1}); got != want {
				t.Errorf("paths = %+v; want %+v", got, want)
			}
		})
	}
}

// A stream whose every event differs outside the text must not be slowed by learning in
// vain for ever.
func TestLearningIsRationed(t *testing.T) {
	var c Decoder
	var d Delta
	learned := 0
	for i := range 1000 {
		before := c.slots[0].prefix
		if err := c.Decode(nil, fmt.Appendf(nil, `{"n":%d,"choices":[{"index":0,"delta":{"content":"x"}}]}`, i), &d); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(before, c.slots[0].prefix) || i == 0 {
			learned++
		}
	}
	if learned > 30 {
		t.Errorf("learned %d templates of 1000 events that never repeat; want at most 30", learned)
	}
}

func TestSteadyPathDoesNotAllocate(t *testing.T) {
	var c Decoder
	var d Delta
	first, next, escaped := []byte(head+"a"+foot), []byte(head+" token"+foot), []byte(head+`\u4e2d\n`+foot)
	for _, e := range [][]byte{first, next, escaped} {
		if err := c.Decode(nil, e, &d); err != nil {
			t.Fatal(err)
		}
	}
	for name, e := range map[string][]byte{"plain": next, "escaped": escaped} {
		if got := testing.AllocsPerRun(200, func() { _ = c.Decode(nil, e, &d) }); got != 0 {
			t.Errorf("%s: allocations per event = %v; want 0", name, got)
		}
	}
}

// compare runs both decoders over the events and fails on any difference.
func compare(t interface {
	Helper()
	Fatalf(string, ...any)
}, events [][]byte) Paths {
	t.Helper()
	learning, plain := Decoder{}, Decoder{NoLearning: true}
	var a, b Delta
	for i, e := range events {
		errA, errB := learning.Decode(nil, e, &a), plain.Decode(nil, e, &b)
		if (errA == nil) != (errB == nil) {
			t.Fatalf("event %d %q: learned path says %v, full path %v", i, e, errA, errB)
		}
		if errA != nil {
			continue
		}
		if diff := cmp.Diff(look(&b), look(&a)); diff != "" || a.Choices != b.Choices {
			t.Fatalf("event %d %q (-full +learned):\n%s", i, e, diff)
		}
	}
	return learning.Paths()
}

func TestBothPathsAgree(t *testing.T) {
	piece := rapid.SampledFrom([]string{"a", " ", `\n`, `\"`, `\\`, `\/`, `\u00e9`, `\ud83e\udd80`, `\ud83e`, `\udd80x`, `\uD83E\u0041`, "中🦀", "\xff", "\x01", `\x`, `\u12`, `"`, `","content":"b`, "\t", "\x7f", probe, `\`})
	frame := rapid.SampledFrom([][2]string{
		{head, foot},
		{head, `"},"finish_reason":"stop"}]}`},
		{head, `"}}],"usage":{"completion_tokens":3}}`},
		{`{"choices":[{"index":0,"delta":{"reasoning_content":"`, foot},
		{`{"choices":[{"index":0,"delta":{"content":"","reasoning":"`, foot},
		{`{"choices":[{"index":0,"delta":{"content":"a","content":"`, foot},
		{`{"choices":[{"index":0,"delta":{"content":"`, `","content":"a"}}]}`},
		{`{"choices":[{"index":0,"delta":{"Content":"`, foot},
		{`{"choices":[{"index":0,"delta":{"content":"`, `"}},{"index":0,"delta":{"content":"z"}}]}`},
		{`{"choices":[{"index":1,"delta":{"content":"`, foot},
		{`{"choices":[{"index":0,"text":"`, `"}]}`},
		{`{"note":{"content":"`, `"},"choices":[{"index":0,"delta":{"content":"fixed"}}]}`},
		{`{"choices":[{"index":0,"delta":{"content":"fixed","role":"`, `"}}]}`},
	})
	learned := int64(0)
	rapid.Check(t, func(t *rapid.T) {
		frames := rapid.SliceOfN(frame, 1, 3).Draw(t, "frames")
		var events [][]byte
		for range rapid.IntRange(2, 12).Draw(t, "events") {
			f := rapid.SampledFrom(frames).Draw(t, "frame")
			text := strings.Join(rapid.SliceOfN(piece, 0, 3).Draw(t, "text"), "")
			events = append(events, []byte(f[0]+text+f[1]))
		}
		learned += compare(t, events).Learned
	})
	if learned == 0 {
		t.Error("no event took the learned path: the comparison shows nothing")
	}
}

func FuzzBothPathsAgree(f *testing.F) {
	f.Add([]byte(head+"a"+foot), []byte("b"), []byte(`\u0041`))
	f.Add([]byte(`{"choices":[{"index":0,"delta":{"reasoning":"a"}}]}`), []byte(`"}}],"x":[{"y":{"z":"`), []byte(``))
	f.Add([]byte(`{"choices":[{"text":"a"}],"error":null}`), []byte("\xff"), []byte(`\ud800`))
	f.Add([]byte(`{"choices":[{"index":0,"delta":{"content":[{"text":"a"}]}}]}`), []byte("x"), []byte("y"))
	f.Fuzz(func(t *testing.T, first, x, y []byte) {
		if len(first)+len(x)+len(y) > 1<<14 {
			t.Skip("larger than an event")
		}
		events := [][]byte{first}
		// Put the texts in the place of every string of the first event.
		for at := 0; at < len(first); at++ {
			if from, to, ok := stringAfterColon(first, at); ok && first[at] == ':' {
				for _, text := range [][]byte{x, y, nil} {
					events = append(events, bytes.Join([][]byte{first[:from], text, first[to:]}, nil))
				}
			}
		}
		compare(t, append(events, first))
	})
}

func BenchmarkLearned(b *testing.B) {
	var c Decoder
	var d Delta
	e := []byte(head + " token" + foot)
	b.ReportAllocs()
	for b.Loop() {
		if err := c.Decode(nil, e, &d); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkFull(b *testing.B) {
	c := Decoder{NoLearning: true}
	var d Delta
	e := []byte(head + " token" + foot)
	b.ReportAllocs()
	for b.Loop() {
		if err := c.Decode(nil, e, &d); err != nil {
			b.Fatal(err)
		}
	}
}
