package wire

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/tasks"
)

// Each endpoint: the path and body that go out, and the record of its usual stream, through
// every engine.
func TestEndpoints(t *testing.T) {
	tests := []struct {
		endpoint      Endpoint
		path, body    string
		contentType   string
		frames        string
		finish        string
		prompt, reply int // tokens; -1 unknown
		tokens        []int32
		reasoning     string
	}{
		{EndpointCompletions, "/v1/completions", `{"model":"m","prompt":"be short\n\nhi","stream":true,"stream_options":{"include_usage":true},"max_tokens":8,"temperature":0,"stop":["END"]}`, "text/event-stream",
			`data: {"choices":[{"index":0,"text":"a"}]}` + "\n\n" + `data: {"choices":[{"index":0,"text":"b","finish_reason":"length"}],"usage":{"prompt_tokens":3,"completion_tokens":2}}` + "\n\n" + done, "length", 3, 2, nil, ""},
		{EndpointResponses, "/v1/responses", `{"model":"m","input":[{"role":"system","content":"be short"},{"role":"user","content":"hi"}],"stream":true,"max_output_tokens":8,"temperature":0,"stop":["END"]}`, "text/event-stream",
			"event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"status\":\"in_progress\"}}\n\n" +
				"event: response.reasoning_text.delta\ndata: {\"type\":\"response.reasoning_text.delta\",\"delta\":\"r\"}\n\n" +
				"event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"delta\":\"a\"}\n\n" +
				"event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"delta\":\"b\"}\n\n" +
				"event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\",\"usage\":{\"input_tokens\":3,\"output_tokens\":4}}}\n\n", "stop", 3, 4, nil, "r"},
		{EndpointMessages, "/v1/messages", `{"model":"m","system":"be short","messages":[{"role":"user","content":"hi"}],"stream":true,"max_tokens":8,"temperature":0,"stop_sequences":["END"]}`, "text/event-stream",
			"event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":3,\"output_tokens\":1}}}\n\n" +
				"event: ping\ndata: {\"type\":\"ping\"}\n\n" +
				"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"thinking_delta\",\"thinking\":\"r\"}}\n\n" +
				"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"text_delta\",\"text\":\"a\"}}\n\n" +
				"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"text_delta\",\"text\":\"b\"}}\n\n" +
				"event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":4}}\n\n" +
				"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n", "stop", 3, 4, nil, "r"},
		{EndpointOllama, "/api/chat", `{"model":"m","messages":[{"role":"system","content":"be short"},{"role":"user","content":"hi"}],"stream":true,"options":{"num_predict":8,"stop":["END"],"temperature":0}}`, "application/x-ndjson",
			`{"message":{"content":"","thinking":"r"},"done":false}` + "\n" + `{"message":{"content":"a"},"done":false}` + "\n" + `{"message":{"content":"b"},"done":false}` + "\n" + `{"message":{"content":""},"done":true,"done_reason":"stop","prompt_eval_count":3,"eval_count":4}` + "\n", "stop", 3, 4, nil, "r"},
		{EndpointTGI, "/generate_stream", `{"inputs":"be short\n\nhi","parameters":{"details":true,"do_sample":false,"max_new_tokens":8,"stop":["END"]}}`, "text/event-stream",
			`data:{"index":1,"token":{"id":5,"text":"a","special":false},"generated_text":null,"details":null}` + "\n\n" + `data:{"index":2,"token":{"id":6,"text":"b","special":false},"generated_text":"ab","details":{"finish_reason":"length","generated_tokens":2,"input_length":3}}` + "\n\n", "length", 3, 2, []int32{1, 1}, ""},
		{EndpointTriton, "/v2/models/m/generate_stream", `{"text_input":"be short\n\nhi","stream":true,"max_tokens":8,"temperature":0,"stop_words":["END"]}`, "text/event-stream",
			`data: {"model_name":"m","text_output":"a"}` + "\n\n" + `data: {"model_name":"m","text_output":"b"}` + "\n\n", "", -1, -1, nil, ""},
	}
	for _, tt := range tests {
		for name, engine := range engines(t) {
			t.Run(string(tt.endpoint)+" by "+name, func(t *testing.T) {
				var mu sync.Mutex
				var path, body string
				s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					raw, _ := io.ReadAll(r.Body)
					mu.Lock()
					path, body = r.URL.Path, string(raw)
					mu.Unlock()
					w.Header().Set("Content-Type", tt.contentType)
					_, _ = io.WriteString(w, tt.frames)
				}), (*httptest.Server).Start)
				c := client(t, s.URL+"/v1", func(cfg *Config) { engine(cfg); cfg.Endpoint = tt.endpoint })
				rec := &archive.Request{}
				c.Do(t.Context(), &Call{Messages: []tasks.Message{{Role: "system", Content: "be short"}, {Role: "user", Content: "hi"}}, MaxTokens: 8, Temperature: archive.Some(0.0), Stop: []string{"END"}}, rec)
				checkTimes(t, rec)
				mu.Lock()
				defer mu.Unlock()
				if path != tt.path || body != tt.body {
					t.Errorf("sent %s %s;\nwant %s %s", path, body, tt.path, tt.body)
				}
				if rec.Status != archive.StatusOK || rec.Text != "ab" || rec.Reasoning != tt.reasoning || rec.Finish != tt.finish || rec.Usage.Prompt.Or(-1) != tt.prompt || rec.Usage.Completion.Or(-1) != tt.reply {
					t.Errorf("%s %+v: text %q, reasoning %q, finish %q, usage %+v", rec.Status, rec.Error, rec.Text, rec.Reasoning, rec.Finish, rec.Usage)
				}
				if diff := cmp.Diff(tt.tokens, rec.Chunks.Tokens); diff != "" || rec.T.Answer < rec.T.First || tt.reasoning != "" && len(rec.Chunks.T) != 3 {
					t.Errorf("chunks %+v, times %+v", rec.Chunks, rec.T)
				}
			})
		}
	}
}

func TestEndpointsWithoutStream(t *testing.T) {
	for _, tt := range []struct {
		endpoint   Endpoint
		path, body string
	}{
		{EndpointChat, "/v1/chat/completions", `{"choices":[{"message":{"content":"ab"},"finish_reason":"stop"}]}`},
		{EndpointCompletions, "/v1/completions", `{"choices":[{"text":"ab","finish_reason":"stop"}]}`},
		{EndpointResponses, "/v1/responses", `{"object":"response","status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"ab"}]}]}`},
		{EndpointMessages, "/v1/messages", `{"type":"message","content":[{"type":"text","text":"ab"}],"stop_reason":"end_turn"}`},
		{EndpointOllama, "/api/chat", `{"message":{"content":"ab"},"done":true,"done_reason":"stop"}`},
		{EndpointTGI, "/generate", `{"generated_text":"ab"}`},
		{EndpointTriton, "/v2/models/m/generate", `{"text_output":"ab"}`},
	} {
		t.Run(string(tt.endpoint), func(t *testing.T) {
			s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var body map[string]any
				if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
					t.Error(err)
				}
				if r.URL.Path != tt.path || body["stream"] == true || body["stream_options"] != nil {
					t.Errorf("%s %v; want %s without a stream", r.URL.Path, body, tt.path)
				}
				w.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(w, tt.body)
			}), (*httptest.Server).Start)
			c := client(t, s.URL, func(cfg *Config) { cfg.Endpoint, cfg.NoStream = tt.endpoint, true })
			rec := ask(t, c)
			if rec.Status != archive.StatusOK || rec.Text != "ab" || rec.T.First.Known() || !rec.T.Last.Known() || !noted(rec, "not_streamed") {
				t.Errorf("%s %+v: text %q, times %+v", rec.Status, rec.Error, rec.Text, rec.T)
			}
		})
	}
}
