package director

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/inferencebench/inferencebench/agents/langchain"
	"github.com/inferencebench/inferencebench/agents/llm"
	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/loadgen/wire"
	"github.com/inferencebench/inferencebench/tasks"
	"github.com/inferencebench/inferencebench/tasks/token"
)

// realServer is the base URL of a real llama.cpp server, or skips the test.
func realServer(t *testing.T) string {
	t.Helper()
	url := os.Getenv("INFERENCEBENCH_REAL_URL")
	if url == "" {
		t.Skip("INFERENCEBENCH_REAL_URL is not set: no real server")
	}
	return url
}

// count asks a real server how long a prompt is by its own count: one generated token.
func count(t *testing.T, c *wire.Client, turn tasks.Turn) int {
	t.Helper()
	messages := []tasks.Message{{Role: "user", Content: turn.User}}
	if turn.System != "" {
		messages = append([]tasks.Message{{Role: "system", Content: turn.System}}, messages...)
	}
	rec := &archive.Request{}
	c.Do(t.Context(), &wire.Call{ID: "x", Messages: messages, MaxTokens: 1}, rec)
	n, ok := rec.Usage.Prompt.Get()
	if rec.Status != archive.StatusOK || !ok {
		t.Fatalf("request: %s, %+v", rec.Status, rec.Error)
	}
	return n
}

// TestRealPromptLengths asks for prompts of 256 tokens, with counts calibrated through
// usage and with the server's own tokenizer, and compares with what the server counts.
func TestRealPromptLengths(t *testing.T) {
	url := realServer(t)
	client, err := wire.New(wire.Config{BaseURL: url, Model: "m", Clock: archive.NewRunClock()})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	prompts := func(seed uint64, n int, l tasks.Length, c token.Counter, template int) []tasks.Turn {
		src, err := tasks.NewGenerator(tasks.Options{Seed: seed, ISL: l, Counter: c, TemplateTokens: template})
		if err != nil {
			t.Fatal(err)
		}
		out := make([]tasks.Turn, n)
		for i := range out {
			out[i], _ = src.Session(uint64(i)).Next("")
		}
		return out
	}
	var obs []token.Observation
	for _, p := range prompts(1, 32, tasks.Uniform(60, 400), nil, 0) {
		obs = append(obs, token.Observation{Text: p.User, Tokens: count(t, client, p)})
	}
	cal, err := token.Calibrate(obs)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(cal)
	remote := &token.Remote{Base: url}
	own := token.CounterFunc(func(s string) int {
		n, err := remote.Count(context.Background(), s)
		if err != nil {
			t.Fatal(err)
		}
		return n
	})
	template := count(t, client, tasks.Turn{User: "x"}) - own.Count("x")
	for _, c := range []struct {
		about    string
		counter  token.Counter
		template int
		mean     float64 // largest mean error
		worst    float64
	}{{"calibrated through usage", cal, cal.Template, 0.05, 0.12}, {"the server's tokenizer", own, template, 0.02, 0.02}} {
		var sum, worst float64
		const n, want = 16, 256
		for _, p := range prompts(2, n, tasks.Fixed(want), c.counter, c.template) {
			e := math.Abs(float64(count(t, client, p))-want) / want
			sum, worst = sum+e, math.Max(worst, e)
		}
		t.Logf("%s: prompts of %d tokens, mean error %.2f %%, worst %.2f %%", c.about, want, 100*sum/n, 100*worst)
		if sum/n > c.mean || worst > c.worst {
			t.Errorf("%s: mean error %.2f %%, worst %.2f %%; want %.0f and %.0f", c.about, 100*sum/n, 100*worst, 100*c.mean, 100*c.worst)
		}
	}
}

// TestRealModelAsDirector lets a small real model write turns. Whatever it writes, every
// turn is sent in time, and every call is accounted for.
func TestRealModelAsDirector(t *testing.T) {
	url := realServer(t)
	m, err := langchain.New(langchain.Config{Provider: langchain.OpenAI, Model: "m", BaseURL: url + "/v1", Transport: http.DefaultTransport})
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	verdicts := map[string]int{}
	var said []string
	w, err := NewTurns(conversations(t, 3, time.Minute), TurnConfig{Share: 1, Caller: &llm.Caller{
		Model: m, Clock: archive.NewRunClock(), MaxTokens: 160,
		Record: func(r llm.Record) {
			mu.Lock()
			defer mu.Unlock()
			verdicts[r.Verdict]++
			said = append(said, fmt.Sprintf("%s: %.120q", r.Verdict, r.Output))
		},
	}})
	if err != nil {
		t.Fatal(err)
	}
	for i := range uint64(2) {
		s, reply := w.Session(i), ""
		for {
			turn, ok := s.Next(reply)
			if !ok {
				break
			}
			if len(turn.Notes) > 0 && turn.Notes[0].Code == NoteByModel {
				t.Logf("written: %.160q", turn.User)
			}
			reply = sutReply
		}
	}
	s := w.Stats()
	mu.Lock()
	defer mu.Unlock()
	t.Logf("%+v, verdicts %v\n%s", s, verdicts, strings.Join(said, "\n"))
	if s.Eligible != 4 || s.Written+s.Late+s.Invalid+s.Failed != 4 {
		t.Errorf("turns do not add up: %+v", s)
	}
}
