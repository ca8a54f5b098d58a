package server

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/inferencebench/inferencebench/sim"
)

func start(t *testing.T, cfg Config) *httptest.Server {
	t.Helper()
	if cfg.Speed == 0 {
		cfg.Speed = 50
	}
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	h := httptest.NewServer(s.Handler())
	t.Cleanup(func() { s.Close(); h.Close() })
	return h
}

func post(t *testing.T, url, body string) (int, http.Header, string) {
	t.Helper()
	res, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, res.Header, string(b)
}

type chunk struct {
	Choices []struct {
		Delta struct {
			Role    string  `json:"role"`
			Content *string `json:"content"`
		} `json:"delta"`
		Text   string  `json:"text"`
		Finish *string `json:"finish_reason"`
	} `json:"choices"`
	Usage *usage `json:"usage"`
}

type usage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Total      int `json:"total_tokens"`
	Details    struct {
		Cached int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
}

// events splits an SSE body; the last must be [DONE].
func events(t *testing.T, body string) []chunk {
	t.Helper()
	var out []chunk
	sc := bufio.NewScanner(strings.NewReader(body))
	done := false
	for sc.Scan() {
		data, ok := strings.CutPrefix(sc.Text(), "data: ")
		if !ok {
			if sc.Text() != "" {
				t.Fatalf("line %q is no event", sc.Text())
			}
			continue
		}
		if done = data == "[DONE]"; done {
			continue
		}
		var c chunk
		if err := json.Unmarshal([]byte(data), &c); err != nil {
			t.Fatalf("event %q: %v", data, err)
		}
		out = append(out, c)
	}
	if !done {
		t.Fatalf("stream does not end with [DONE]: %.300q", body)
	}
	return out
}

func TestChatStream(t *testing.T) {
	h := start(t, Config{})
	status, header, body := post(t, h.URL+"/v1/chat/completions",
		`{"messages":[{"role":"user","content":"Tell me about harbour schedules."}],"stream":true,"stream_options":{"include_usage":true},"max_tokens":20}`)
	if status != 200 || header.Get(Header) != "true" || !strings.HasPrefix(header.Get("Content-Type"), "text/event-stream") {
		t.Fatalf("status %d, header %v", status, header)
	}
	evs := events(t, body)
	if len(evs) != 1+20+1+1 {
		t.Fatalf("%d events; want role, 20 tokens, finish, usage", len(evs))
	}
	if d := evs[0].Choices[0].Delta; d.Role != "assistant" || d.Content == nil || *d.Content != "" {
		t.Errorf("first event is %+v; want the role with empty content", d)
	}
	for i, e := range evs[1:21] {
		if e.Choices[0].Delta.Content == nil || *e.Choices[0].Delta.Content == "" || e.Choices[0].Finish != nil {
			t.Errorf("event %d carries %+v; want one token", i+1, e.Choices[0])
		}
	}
	if f := evs[21].Choices[0].Finish; f == nil || *f != "length" {
		t.Errorf("finish reason is %v; want length", f)
	}
	u := evs[22]
	if len(u.Choices) != 0 || u.Usage == nil || u.Usage.Completion != 20 || u.Usage.Total != u.Usage.Prompt+20 {
		t.Errorf("last event is %+v; want empty choices and usage of 20", u)
	}
	_, _, tok := post(t, h.URL+"/tokenize", `{"messages":[{"role":"user","content":"Tell me about harbour schedules."}]}`)
	if want := fmt.Sprintf(`"count":%d`, u.Usage.Prompt); !strings.Contains(tok, want) {
		t.Errorf("tokenize says %.120s; want %s as in the usage", tok, want)
	}
}

func TestCompletionsAndWholeReplies(t *testing.T) {
	h := start(t, Config{})
	_, _, body := post(t, h.URL+"/v1/completions", `{"prompt":"Once upon a time","stream":true,"max_tokens":5,"ignore_eos":true}`)
	evs := events(t, body)
	if len(evs) != 6 || evs[0].Choices[0].Text == "" || *evs[5].Choices[0].Finish != "length" {
		t.Errorf("completions stream is %.300q; want 5 tokens and a finish event, no usage", body)
	}
	status, _, body := post(t, h.URL+"/v1/chat/completions", `{"messages":[{"role":"user","content":"Say something about bridges"}],"temperature":0}`)
	var whole struct {
		Choices []struct {
			Message struct{ Content string }
			Finish  string `json:"finish_reason"`
		}
		Usage usage
	}
	if err := json.Unmarshal([]byte(body), &whole); err != nil || status != 200 {
		t.Fatalf("status %d: %v: %s", status, err, body)
	}
	if whole.Choices[0].Finish != "stop" || len(whole.Choices[0].Message.Content) < 40 || whole.Usage.Completion < 10 {
		t.Errorf("whole reply is %s", body)
	}
	if _, _, again := post(t, h.URL+"/v1/chat/completions", `{"messages":[{"role":"user","content":"Say something about bridges"}],"temperature":0}`); !strings.Contains(again, fmt.Sprintf("%q", whole.Choices[0].Message.Content)[1:40]) {
		t.Error("temperature 0 gave two different replies")
	}
	_, _, body = post(t, h.URL+"/v1/chat/completions", `{"messages":[{"role":"user","content":"Say something"}],"temperature":0,"stop":[" "]}`)
	if err := json.Unmarshal([]byte(body), &whole); err != nil || strings.Contains(whole.Choices[0].Message.Content, " ") || whole.Choices[0].Finish != "stop" {
		t.Errorf("with stop at a space the reply is %s", body)
	}
}

func TestErrors(t *testing.T) {
	h := start(t, Config{Sim: sim.Config{MaxModelLen: 4096}, Key: "k"})
	for _, row := range []struct {
		name, path, body string
		status           int
		message          string
	}{
		{"no JSON", "/v1/chat/completions", `{"messages":`, 400, "not valid JSON"},
		{"no messages", "/v1/chat/completions", `{}`, 400, "messages must not be empty"},
		{"unknown model", "/v1/chat/completions", `{"model":"gpt-9","messages":[{"role":"user","content":"x"}]}`, 404, "The model `gpt-9` does not exist."},
		{"prompt and answer above the context", "/v1/chat/completions", `{"messages":[{"role":"user","content":"x"}],"max_tokens":5000}`, 400, "maximum context length is 4096 tokens. However, you requested 5011 tokens (11 in the messages, 5000 in the completion)"},
		{"prompt above the context", "/v1/completions", `{"prompt":"` + strings.Repeat("word ", 5000) + `"}`, 400, "maximum context length is 4096"},
		{"two choices", "/v1/completions", `{"prompt":"x","n":2}`, 400, "n was 2"},
		{"unknown role", "/v1/chat/completions", `{"messages":[{"role":"wizard","content":"x"}]}`, 400, "unknown role"},
		{"picture", "/v1/chat/completions", `{"messages":[{"role":"user","content":[{"type":"image_url"}]}]}`, 400, "not supported"},
		{"no such path", "/v1/embeddings", `{}`, 404, "/v1/embeddings"},
	} {
		req, _ := http.NewRequest("POST", h.URL+row.path, strings.NewReader(row.body))
		req.Header.Set("Authorization", "Bearer k")
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		var e struct {
			Error struct {
				Message, Type string
				Code          int
			}
		}
		err = json.NewDecoder(res.Body).Decode(&e)
		res.Body.Close()
		if err != nil || res.StatusCode != row.status || e.Error.Code != row.status || !strings.Contains(e.Error.Message, row.message) || e.Error.Type == "" {
			t.Errorf("%s: status %d, error %+v (%v); want %d and %q", row.name, res.StatusCode, e.Error, err, row.status, row.message)
		}
	}
	if status, _, body := post(t, h.URL+"/v1/completions", `{"prompt":"x"}`); status != 401 || strings.Contains(body, `"k"`) {
		t.Errorf("without key: status %d, %s", status, body)
	}
}

func TestLeavingClientFreesItsBlocks(t *testing.T) {
	s, err := New(Config{Speed: 1})
	if err != nil {
		t.Fatal(err)
	}
	h := httptest.NewServer(s.Handler())
	defer h.Close()
	defer s.Close()
	ctx, cancel := context.WithCancel(t.Context())
	req, _ := http.NewRequestWithContext(ctx, "POST", h.URL+"/v1/chat/completions", strings.NewReader(
		`{"messages":[{"role":"user","content":"Tell me a very long story"}],"stream":true,"max_tokens":100000,"ignore_eos":true}`))
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := res.Body.Read(make([]byte, 100)); err != nil {
		t.Fatal(err)
	}
	cancel()
	res.Body.Close()
	for {
		_, _, page := get(t, h.URL+"/metrics")
		if strings.Contains(page, `finished_reason="abort"} 1`) {
			if !strings.Contains(page, "vllm:num_requests_running{engine=\"0\",model_name=\"meta-llama/Llama-3.1-8B-Instruct\"} 0\n") {
				t.Errorf("aborted request is still running:\n%.600s", page)
			}
			return
		}
		if t.Context().Err() != nil {
			t.Fatal("the request was never aborted")
		}
	}
}

func get(t *testing.T, url string) (int, http.Header, string) {
	t.Helper()
	res, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, res.Header, string(b)
}

func TestNextTurnHitsThePrefixCache(t *testing.T) {
	h := start(t, Config{})
	system := strings.Repeat("You are a patient assistant who answers in plain words. ", 10)
	msgs := []map[string]string{{"role": "system", "content": system}, {"role": "user", "content": "How do tides work in a harbour?"}}
	cached := []int{}
	for range 3 {
		body, _ := json.Marshal(map[string]any{"messages": msgs, "max_tokens": 80})
		_, _, reply := post(t, h.URL+"/v1/chat/completions", string(body))
		var whole struct {
			Choices []struct{ Message struct{ Content string } }
			Usage   usage
		}
		if err := json.Unmarshal([]byte(reply), &whole); err != nil {
			t.Fatal(err)
		}
		cached = append(cached, whole.Usage.Details.Cached)
		if n := whole.Usage.Details.Cached; len(msgs) > 2 && n < whole.Usage.Prompt-60 {
			t.Errorf("turn %d: %d of %d prompt tokens were cached; want nearly all of the history", len(msgs)/2, n, whole.Usage.Prompt)
		}
		msgs = append(msgs, map[string]string{"role": "assistant", "content": whole.Choices[0].Message.Content},
			map[string]string{"role": "user", "content": "And what about storms?"})
	}
	if cached[0] != 0 || cached[2] <= cached[1] {
		t.Errorf("cached tokens by turn are %v; want 0 and then growing", cached)
	}
}

func TestAnswersAtTheGivenAccuracy(t *testing.T) {
	h := start(t, Config{Speed: 1000, Accuracy: 0.7, Answers: func(p string) (string, bool) { return "1338", strings.HasPrefix(p, "Item") }})
	right := 0
	for i := range 60 {
		_, _, body := post(t, h.URL+"/v1/chat/completions", fmt.Sprintf(`{"messages":[{"role":"user","content":"Item %d: how many pears?"}],"max_tokens":400}`, i))
		if strings.Contains(body, `#### 1338"`) {
			right++
		}
		if !strings.Contains(body, "#### ") {
			t.Fatalf("no answer line in %s", body)
		}
	}
	if right < 30 || right > 54 {
		t.Errorf("%d of 60 items are right; want about 42", right)
	}
}

func TestInfoPages(t *testing.T) {
	h := start(t, Config{})
	if _, _, body := get(t, h.URL+"/v1/models"); !strings.Contains(body, `"owned_by":"inferencebench-sim"`) || !strings.Contains(body, `"max_model_len":131072`) {
		t.Errorf("models page is %s", body)
	}
	if _, _, body := get(t, h.URL+"/version"); !strings.Contains(body, "simulated") {
		t.Errorf("version page is %s", body)
	}
	for _, p := range []string{"/health", "/ping"} {
		if status, hd, _ := get(t, h.URL+p); status != 200 || hd.Get(Header) != "true" {
			t.Errorf("%s: status %d", p, status)
		}
	}
	post(t, h.URL+"/v1/completions", `{"prompt":"x","max_tokens":3}`)
	_, _, page := get(t, h.URL+"/metrics")
	for _, want := range []string{"vllm:generation_tokens_total{", "vllm:iteration_tokens_total_count{", "vllm:cache_config_info{block_size=\"16\"", `le="+Inf"`} {
		if !strings.Contains(page, want) {
			t.Errorf("metrics page has no %s", want)
		}
	}
}
