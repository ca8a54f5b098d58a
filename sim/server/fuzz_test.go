package server

import (
	"net/http/httptest"
	"strings"
	"testing"
)

// FuzzBody feeds request bodies to everything before the engine: whatever comes in, the
// answer is a plan within its limits or an error of the API.
func FuzzBody(f *testing.F) {
	f.Add(`{"messages":[{"role":"user","content":"hello"}],"max_tokens":5,"stop":["a"],"stream":true,"stream_options":{"include_usage":true}}`)
	f.Add(`{"prompt":[1,2,3],"min_tokens":4,"max_tokens":9,"seed":7,"temperature":0}`)
	f.Add(`{"messages":[{"role":"user","content":[{"type":"text","text":"x"}]}],"n":1,"stop":"\u0000","max_completion_tokens":1}`)
	s, err := New(Config{Faults: ReplyFaults{Loop: 0.2, Nonsense: 0.2}})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { s.Close() })
	f.Fuzz(func(t *testing.T, body string) {
		req, aerr := s.decode(httptest.NewRecorder(), httptest.NewRequest("POST", "/", strings.NewReader(body)))
		if aerr != nil {
			return
		}
		if req.MaxTokens == nil || *req.MaxTokens > 2000 { // bound the work, not the paths
			n := 2000
			req.MaxTokens = &n
		}
		tokens, user, aerr := chatPrompt(req.Messages)
		if len(req.Messages) == 0 {
			tokens, user, aerr = plainPrompt(req.Prompt)
		}
		if aerr != nil {
			return
		}
		j, aerr := s.prepare(req, tokens, user)
		if aerr != nil {
			if aerr.status < 400 || aerr.message == "" {
				t.Fatalf("error %+v", aerr)
			}
			return
		}
		if len(j.reply) > 2000 || j.req.Output < 1 || j.req.Prompt != len(tokens) {
			t.Fatalf("%d tokens planned, output %d, prompt %d of %d", len(j.reply), j.req.Output, j.req.Prompt, len(tokens))
		}
	})
}
