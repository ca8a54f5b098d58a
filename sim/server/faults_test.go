package server

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/inferencebench/inferencebench/sim"
)

const askStream = `{"messages":[{"role":"user","content":"Tell me about harbours"}],"stream":true,"max_tokens":40,"ignore_eos":true}`

func TestReplyFaults(t *testing.T) {
	for _, row := range []struct {
		name   string
		faults ReplyFaults
		check  func(t *testing.T, url string)
	}{
		{"429 carries Retry-After and an error object", ReplyFaults{Error429: 1}, func(t *testing.T, url string) {
			status, h, body := post(t, url, askStream)
			if status != 429 || h.Get("Retry-After") != "1" || !strings.Contains(body, `"type":"RateLimitError"`) {
				t.Errorf("status %d, %v, %s", status, h, body)
			}
		}},
		{"500 carries an error object", ReplyFaults{Error500: 1}, func(t *testing.T, url string) {
			if status, _, body := post(t, url, askStream); status != 500 || !strings.Contains(body, "InternalServerError") {
				t.Errorf("status %d, %s", status, body)
			}
		}},
		{"a truncated stream ends without finish reason and [DONE]", ReplyFaults{Truncate: 1}, func(t *testing.T, url string) {
			_, _, body := post(t, url, askStream)
			if strings.Contains(body, "[DONE]") || strings.Contains(body, `"finish_reason":"`) || strings.Count(body, `"content":"`) < 10 {
				t.Errorf("body %.300s", body)
			}
		}},
		{"a cut connection breaks in the body", ReplyFaults{Cut: 1}, func(t *testing.T, url string) {
			res, err := http.Post(url, "application/json", strings.NewReader(askStream))
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			b, err := io.ReadAll(res.Body)
			if !errors.Is(err, io.ErrUnexpectedEOF) || strings.Count(string(b), "data: ") < 10 {
				t.Errorf("read ended with %v after %d bytes; want an unexpected end", err, len(b))
			}
		}},
		{"a corrupt stream has bytes that are not UTF-8", ReplyFaults{Corrupt: 1}, func(t *testing.T, url string) {
			if _, _, body := post(t, url, askStream); utf8.ValidString(body) || !strings.Contains(body, "[DONE]") {
				t.Error("the body is valid UTF-8 or not whole")
			}
		}},
		{"a loop repeats itself", ReplyFaults{Loop: 1}, func(t *testing.T, url string) {
			_, _, body := post(t, url, `{"messages":[{"role":"user","content":"hi"}],"max_tokens":3000}`)
			if !strings.Contains(body, `"completion_tokens":3000`) {
				t.Errorf("loop ended early: %.200s", body[max(0, len(body)-200):])
			}
		}},
		{"nonsense is exclamation marks", ReplyFaults{Nonsense: 1}, func(t *testing.T, url string) {
			if _, _, body := post(t, url, `{"messages":[{"role":"user","content":"hi"}],"max_tokens":300}`); !strings.Contains(body, "!!!!!!!!!!") {
				t.Errorf("body %.200s", body)
			}
		}},
		{"a stall pauses once", ReplyFaults{Stall: 1, StallFor: 20 * time.Second}, func(t *testing.T, url string) {
			began := time.Now()
			_, _, body := post(t, url, askStream)
			if d := time.Since(began); d < 400*time.Millisecond || !strings.Contains(body, "[DONE]") {
				t.Errorf("20 simulated seconds at 50 times the speed took %v", d)
			}
		}},
		{"a cached reply comes back unchanged though the temperature is not 0", ReplyFaults{Cached: true}, func(t *testing.T, url string) {
			ask := `{"messages":[{"role":"user","content":"Say anything"}],"max_tokens":50,"temperature":1}`
			content := func() string {
				_, _, b := post(t, url, ask)
				return b[strings.Index(b, `"content":`):strings.Index(b, `"role"`)]
			}
			if a, b := content(), content(); a != b {
				t.Errorf("two replies:\n%s\n%s", a, b)
			}
		}},
		{"a shortened prompt shows in the usage", ReplyFaults{KeepPrompt: 20}, func(t *testing.T, url string) {
			if _, _, body := post(t, url, `{"messages":[{"role":"user","content":"`+strings.Repeat("word ", 100)+`"}],"max_tokens":5}`); !strings.Contains(body, `"prompt_tokens":20`) {
				t.Errorf("body %s", body)
			}
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			row.check(t, start(t, Config{Faults: row.faults}).URL+"/v1/chat/completions")
		})
	}
}

func TestWrongAnswersAndQuantisationCostAccuracy(t *testing.T) {
	right := func(c Config) (n int) {
		c.Speed, c.Accuracy, c.Answers = 2000, 1, func(string) (string, bool) { return "42", true }
		h := start(t, c)
		for i := range 60 {
			if _, _, body := post(t, h.URL+"/v1/completions", `{"prompt":"Item `+strings.Repeat("x", i+1)+`","max_tokens":300}`); strings.Contains(body, `#### 42"`) {
				n++
			}
		}
		return n
	}
	if n := right(Config{}); n != 60 {
		t.Errorf("a perfect model got %d of 60", n)
	}
	if n := right(Config{Faults: ReplyFaults{Wrong: 0.5}}); n < 18 || n > 42 {
		t.Errorf("with half of the answers wrong %d of 60 are right", n)
	}
	if n := right(Config{Sim: sim.Config{Quantization: "fp4"}}); n == 60 || n < 45 {
		t.Errorf("in 4 bits %d of 60 are right; want a few lost", n)
	}
}

func TestDialectsAnswerTheirProbes(t *testing.T) {
	for _, row := range []struct{ dialect, path, want string }{
		{"vllm", "/version", "simulated"},
		{"sglang", "/model_info", `"model_path"`},
		{"sglang", "/server_info", `"max_total_num_tokens"`},
		{"sglang", "/metrics", "sglang:num_running_reqs"},
		{"tgi", "/info", `"model_id"`},
		{"tgi", "/metrics", "tgi_queue_size"},
		{"tensorrt_llm", "/metrics", `"kvCacheStats"`},
		{"tensorrt_llm", "/prometheus/metrics", "trtllm_kv_cache_utilization"},
		{"llama_cpp", "/props", `"total_slots"`},
		{"llama_cpp", "/slots", `"is_processing":false`},
		{"llama_cpp", "/metrics", "llamacpp:requests_processing"},
	} {
		h := start(t, Config{Dialect: row.dialect})
		status, head, body := get(t, h.URL+row.path)
		if status != 200 || !strings.Contains(body, row.want) || head.Get(Header) != "true" {
			t.Errorf("%s %s: status %d, %.200s; want %s", row.dialect, row.path, status, body, row.want)
		}
	}
	if _, err := New(Config{Dialect: "klingon"}); err == nil {
		t.Error("an unknown dialect starts")
	}
}

func TestStartUpAnswers503(t *testing.T) {
	h := start(t, Config{StartUp: time.Hour})
	if status, head, body := get(t, h.URL+"/health"); status != 503 || head.Get("Retry-After") == "" || !strings.Contains(body, "loading") {
		t.Errorf("while loading: status %d, %v, %s", status, head, body)
	}
	h = start(t, Config{StartUp: time.Microsecond})
	if status, _, _ := get(t, h.URL+"/health"); status != 200 {
		t.Errorf("after start-up: status %d", status)
	}
	if up := (sim.Config{}).StartUp(); up < 20*time.Second || up > 2*time.Minute {
		t.Errorf("an 8B model starts in %v; want 20 s to 2 min", up)
	}
}

func TestReplicasKeepConversationsTogether(t *testing.T) {
	h := start(t, Config{Replicas: 3})
	for i := range 12 {
		post(t, h.URL+"/v1/completions", `{"prompt":"`+strings.Repeat("z", i+1)+`","max_tokens":4}`)
		post(t, h.URL+"/v1/completions", `{"prompt":"`+strings.Repeat("z", i+1)+`","max_tokens":4}`)
	}
	_, _, page := get(t, h.URL+"/metrics")
	used := 0
	for _, e := range []string{"0", "1", "2"} {
		if !strings.Contains(page, `vllm:generation_tokens_total{engine="`+e+`"`) {
			t.Fatalf("engine %s has no series", e)
		}
		if !strings.Contains(page, `vllm:generation_tokens_total{engine="`+e+`",model_name="meta-llama/Llama-3.1-8B-Instruct"} 0`) {
			used++
		}
	}
	if used < 2 {
		t.Errorf("%d of 3 replicas were used", used)
	}
}

func TestNetworkAndProxyDelay(t *testing.T) {
	h := start(t, Config{Speed: 1, RTT: 150 * time.Millisecond, Hold: 100 * time.Millisecond})
	began := time.Now()
	post(t, h.URL+"/v1/completions", `{"prompt":"x","max_tokens":2}`)
	if d := time.Since(began); d < 150*time.Millisecond {
		t.Errorf("a request over a round trip of 150 ms took %v", d)
	}
}
