package delta

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDialects(t *testing.T) {
	tests := []struct {
		name      string
		dialect   Dialect
		event, in string
		want      view
	}{
		{"responses: answer text", Responses, "response.output_text.delta", `{"type":"response.output_text.delta","item_id":"m1","output_index":0,"content_index":0,"delta":"Hi","sequence_number":4}`, view{Answer: "Hi", Bearing: true, Answering: true}},
		{"responses: reasoning text", Responses, "", `{"type":"response.reasoning_text.delta","delta":"r"}`, view{Reasoning: "r", Bearing: true}},
		{"responses: a reasoning summary", Responses, "", `{"type":"response.reasoning_summary_text.delta","delta":"s"}`, view{Reasoning: "s", Bearing: true}},
		{"responses: a tool call begins", Responses, "", `{"type":"response.output_item.added","output_index":1,"item":{"type":"function_call","name":"get","arguments":""}}`, view{Tools: []Tool{{1, "get", ""}}, Bearing: true}},
		{"responses: a message item alone carries nothing", Responses, "", `{"type":"response.output_item.added","output_index":0,"item":{"type":"message","content":[]}}`, view{}},
		{"responses: arguments", Responses, "", `{"type":"response.function_call_arguments.delta","output_index":1,"delta":"{}"}`, view{Tools: []Tool{{1, "", "{}"}}, Bearing: true}},
		{"responses: text that is done is not sent again", Responses, "", `{"type":"response.output_text.done","text":"Hi"}`, view{}},
		{"responses: the end", Responses, "", `{"type":"response.completed","response":{"status":"completed","usage":{"input_tokens":9,"input_tokens_details":{"cached_tokens":4},"output_tokens":7,"output_tokens_details":{"reasoning_tokens":2}}}}`, view{Finish: "stop", End: true, HasUsage: true, Usage: Usage{some(9), some(7), some(2), some(4)}}},
		{"responses: the limit", Responses, "", `{"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}}}`, view{Finish: "length", End: true}},
		{"responses: a failure", Responses, "", `{"type":"response.failed","response":{"status":"failed","error":{"code":"server_error","message":"gone"}}}`, view{End: true, Err: &Error{Type: "server_error", Message: "gone"}}},
		{"responses: an error event", Responses, "error", `{"type":"error","code":"x","message":"gone"}`, view{Err: &Error{Type: "error", Message: "gone"}}},
		{"responses: a whole one", Responses, "", `{"object":"response","status":"completed","error":null,"output":[{"type":"reasoning","summary":[{"type":"summary_text","text":"r"}]},{"type":"message","content":[{"type":"output_text","text":"Hi"}]},{"type":"function_call","name":"f","arguments":"{}"}],"usage":{"input_tokens":1,"output_tokens":2}}`, view{Answer: "Hi", Reasoning: "r", Tools: []Tool{{2, "f", "{}"}}, Bearing: true, Answering: true, Finish: "stop", HasUsage: true, Usage: Usage{Prompt: some(1), Completion: some(2)}}},
		{"responses: an error body", Responses, "", `{"error":{"message":"no"}}`, view{Err: &Error{Message: "no"}}},

		{"messages: the prompt's tokens", Messages, "message_start", `{"type":"message_start","message":{"content":[],"usage":{"input_tokens":5,"cache_read_input_tokens":10,"cache_creation_input_tokens":3,"output_tokens":1}}}`, view{HasUsage: true, Usage: Usage{Prompt: some(18), Completion: some(1), Cached: some(10)}}},
		{"messages: an empty block carries nothing", Messages, "content_block_start", `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`, view{}},
		{"messages: text", Messages, "content_block_delta", `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hi"}}`, view{Answer: "Hi", Bearing: true, Answering: true}},
		{"messages: thinking", Messages, "content_block_delta", `{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}`, view{Reasoning: "hm", Bearing: true}},
		{"messages: a signature carries nothing", Messages, "content_block_delta", `{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"abc"}}`, view{}},
		{"messages: a tool call", Messages, "content_block_start", `{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","name":"get","input":{}}}`, view{Tools: []Tool{{1, "get", ""}}, Bearing: true}},
		{"messages: arguments", Messages, "content_block_delta", `{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{}"}}`, view{Tools: []Tool{{1, "", "{}"}}, Bearing: true}},
		{"messages: how it ended", Messages, "message_delta", `{"type":"message_delta","delta":{"stop_reason":"max_tokens"},"usage":{"output_tokens":15}}`, view{Finish: "length", HasUsage: true, Usage: Usage{Completion: some(15)}}},
		{"messages: the end", Messages, "message_stop", `{"type":"message_stop"}`, view{End: true}},
		{"messages: a ping", Messages, "ping", `{"type":"ping"}`, view{}},
		{"messages: an error", Messages, "error", `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, view{Err: &Error{Type: "overloaded_error", Message: "Overloaded"}}},
		{"messages: a whole one", Messages, "", `{"type":"message","role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"Hi"}],"stop_reason":"end_turn","usage":{"input_tokens":3,"output_tokens":4}}`, view{Answer: "Hi", Reasoning: "hm", Bearing: true, Answering: true, Finish: "stop", HasUsage: true, Usage: Usage{Prompt: some(3), Completion: some(4)}}},

		{"ollama: a line", Ollama, "", `{"model":"m","created_at":"2026","message":{"role":"assistant","content":"Hi"},"done":false}`, view{Answer: "Hi", Bearing: true, Answering: true}},
		{"ollama: thinking", Ollama, "", `{"message":{"content":"","thinking":"hm"},"done":false}`, view{Reasoning: "hm", Bearing: true}},
		{"ollama: a tool call", Ollama, "", `{"message":{"content":"","tool_calls":[{"function":{"name":"f","arguments":{"a":1}}}]},"done":false}`, view{Tools: []Tool{{0, "f", `{"a":1}`}}, Bearing: true}},
		{"ollama: generate", Ollama, "", `{"response":"Hi","done":false}`, view{Answer: "Hi", Bearing: true, Answering: true}},
		{"ollama: the end", Ollama, "", `{"message":{"content":""},"done":true,"done_reason":"length","prompt_eval_count":7,"eval_count":9}`, view{Finish: "length", End: true, HasUsage: true, Usage: Usage{Prompt: some(7), Completion: some(9)}}},
		{"ollama: an error", Ollama, "", `{"error":"no model"}`, view{Err: &Error{Message: "no model"}}},

		{"tgi: a token", TGI, "", `{"index":1,"token":{"id":5,"text":" a","logprob":-0.1,"special":false},"generated_text":null,"details":null}`, view{Answer: " a", Bearing: true, Answering: true, Tokens: 1}},
		{"tgi: the last token and the end", TGI, "", `{"index":2,"token":{"id":2,"text":"</s>","special":true},"generated_text":" a","details":{"finish_reason":"eos_token","generated_tokens":2,"input_length":6}}`, view{Finish: "stop", End: true, HasUsage: true, Usage: Usage{Prompt: some(6), Completion: some(2)}}},
		{"tgi: an error", TGI, "", `{"error":"Request failed","error_type":"generation"}`, view{Err: &Error{Type: "generation", Message: "Request failed"}}},
		{"tgi: a whole one", TGI, "", `{"generated_text":" a b","details":{"finish_reason":"length","generated_tokens":2,"prefill":[{},{},{}]}}`, view{Answer: " a b", Bearing: true, Answering: true, Finish: "length", End: true, HasUsage: true, Usage: Usage{Prompt: some(3), Completion: some(2)}}},

		{"triton: text", Triton, "", `{"model_name":"ensemble","model_version":"1","sequence_end":false,"text_output":"Hi"}`, view{Answer: "Hi", Bearing: true, Answering: true}},
		{"triton: an error", Triton, "", `{"error":"bad shape"}`, view{Err: &Error{Message: "bad shape"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := Decoder{Dialect: tt.dialect}
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

func TestDialectsLearn(t *testing.T) {
	for _, tt := range []struct {
		dialect     Dialect
		event       string
		head, foot  string
		tokens, was int32
	}{
		{Messages, "content_block_delta", `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"`, `"}}`, 0, 0},
		{Messages, "content_block_delta", `{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"`, `"}}`, 0, 0},
		{Triton, "", `{"model_name":"e","text_output":"`, `"}`, 0, 0},
		{TGI, "", `{"token":{"id":5,"text":"`, `","special":false},"generated_text":null,"details":null}`, 1, 1},
		{Responses, "response.output_text.delta", `{"type":"response.output_text.delta","delta":"`, `"}`, 0, 0},
	} {
		c := Decoder{Dialect: tt.dialect}
		plain := Decoder{Dialect: tt.dialect, NoLearning: true}
		var d, want Delta
		for _, s := range []string{"a", "b", "", `\n`} {
			in := []byte(tt.head + s + tt.foot)
			if err := c.Decode([]byte(tt.event), in, &d); err != nil {
				t.Fatal(err)
			}
			if err := plain.Decode([]byte(tt.event), in, &want); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(look(&want), look(&d)); diff != "" {
				t.Errorf("%s%s%s (-full +learned):\n%s", tt.head, s, tt.foot, diff)
			}
		}
		if got := c.Paths().Learned; got != 3 {
			t.Errorf("%s: %d of 3 later events took the learned path", tt.head, got)
		}
		// The same bytes under another event type are another event.
		if err := c.Decode([]byte("other"), []byte(tt.head+"x"+tt.foot), &d); err != nil || c.Paths().Learned != 3 {
			t.Errorf("%s: another event type took the learned path", tt.head)
		}
	}
}

func FuzzDialects(f *testing.F) {
	for d, s := range map[Dialect]string{Responses: `{"type":"response.output_text.delta","delta":"x"}`, Messages: `{"type":"message_delta","delta":{"stop_reason":"a"}}`, Ollama: `{"message":{"content":"a"},"done":true}`, TGI: `{"token":{"text":"a"},"details":{}}`, Triton: `{"text_output":["a"]}`} {
		f.Add(uint8(d), []byte("error"), []byte(s))
	}
	f.Fuzz(func(t *testing.T, dialect uint8, event, in []byte) {
		if len(in) > 1<<14 {
			t.Skip("larger than an event")
		}
		c := Decoder{Dialect: Dialect(dialect % 6)}
		plain := Decoder{Dialect: c.Dialect, NoLearning: true}
		var a, b Delta
		for range 3 {
			errA, errB := c.Decode(event, in, &a), plain.Decode(event, in, &b)
			if (errA == nil) != (errB == nil) {
				t.Fatalf("%v against %v", errA, errB)
			}
			if diff := cmp.Diff(look(&b), look(&a)); errA == nil && diff != "" {
				t.Fatalf("(-full +learned):\n%s", diff)
			}
		}
	})
}
