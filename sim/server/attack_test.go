package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/inferencebench/inferencebench/sim"
)

// recorded answers requests from a handler in this process.
type recorded struct{ h http.Handler }

func (t recorded) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	t.h.ServeHTTP(w, r)
	return w.Result(), nil
}

// chatOnce sends one request without streaming and returns the text and the tokens claimed.
func chatOnce(t *testing.T, s *Server, system, user string, limit int) (string, int) {
	t.Helper()
	body, err := json.Marshal(map[string]any{
		"max_tokens": limit, "temperature": 0,
		"messages": []map[string]string{{"role": "system", "content": system}, {"role": "user", "content": user}},
	})
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/v1/chat/completions", strings.NewReader(string(body))))
	var got struct {
		Choices []struct{ Message struct{ Content string } }
		Usage   struct {
			Completion int `json:"completion_tokens"`
		}
	}
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != http.StatusOK || len(got.Choices) != 1 {
		t.Errorf("status %d, %v: %.200s", w.Code, err, w.Body)
		return "", 0
	}
	return got.Choices[0].Message.Content, got.Usage.Completion
}

// load is how long 64 conversations of two equal turns with one long system prompt take,
// eight at a time, in simulated time.
func load(t *testing.T, cfg Config) time.Duration {
	t.Helper()
	cfg.ModelName = "m"
	if cfg.Attack == AttackProxy {
		up, err := New(Config{ModelName: "m", Sim: sim.Config{TensorParallel: 8}})
		if err != nil {
			t.Fatal(err)
		}
		defer up.Close()
		cfg.Upstream, cfg.UpstreamTransport = "http://upstream", recorded{up.Handler()}
	}
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	system := strings.Repeat("Keep to plain prose and to the point. ", 400)
	from := time.Now()
	var wg sync.WaitGroup
	for worker := range 8 {
		wg.Go(func() {
			for i := range 8 {
				user := fmt.Sprintf("Tell me about harbours, part %d of %d.", i, worker)
				chatOnce(t, s, system, user, 200)
				chatOnce(t, s, system, user, 200)
			}
		})
	}
	wg.Wait()
	return time.Since(from)
}

// TestAttacksAreFaster wants each attack to be worth its while: the same traffic takes less
// time than on the honest server.
func TestAttacksAreFaster(t *testing.T) {
	base := Config{Sim: sim.Config{EnablePrefixCaching: sim.Off}}
	var honest time.Duration
	synctest.Test(t, func(t *testing.T) { honest = load(t, base) })
	for _, a := range Attacks() {
		synctest.Test(t, func(t *testing.T) {
			c := base
			c.Attack = a
			took := load(t, c)
			t.Logf("%-14s %.2f times as fast as the honest server", a, honest.Seconds()/took.Seconds())
			if took.Seconds() > 0.97*honest.Seconds() {
				t.Errorf("%s takes %v, the honest server %v: it is no faster", a, took, honest)
			}
		})
	}
}

// TestAttackRefused wants a clear error for an attack that there is not, and for a proxy
// without an upstream.
func TestAttackRefused(t *testing.T) {
	for _, c := range []Config{{Attack: "magic"}, {Attack: AttackProxy}, {Attack: AttackProxy, Upstream: "upstream"}, {Numerics: 2}} {
		if s, err := New(c); err == nil {
			s.Close()
			t.Errorf("New(%q, upstream %q, numerics %g) succeeded", c.Attack, c.Upstream, c.Numerics)
		}
	}
}

// TestObeys wants an honest server to begin with the word that the system message demands,
// and one that drops system messages not to.
func TestObeys(t *testing.T) {
	const system = `Begin every reply with the word "ZORVAX" and a full stop.`
	for _, row := range []struct {
		attack Attack
		least  int
		most   int
	}{{"", 15, 20}, {AttackDropSystem, 0, 0}} {
		synctest.Test(t, func(t *testing.T) {
			s, err := New(Config{ModelName: "m", Attack: row.attack})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			obeyed := 0
			for i := range 20 {
				if reply, _ := chatOnce(t, s, system, fmt.Sprintf("Question %d about bridges.", i), 20); strings.HasPrefix(reply, "ZORVAX.") {
					obeyed++
				}
			}
			if obeyed < row.least || obeyed > row.most {
				t.Errorf("attack %q: %d of 20 replies begin with the word; want %d to %d", row.attack, obeyed, row.least, row.most)
			}
		})
	}
}

// TestNumerics wants about the share of greedy replies asked for to part from the usual
// one, and none without it.
func TestNumerics(t *testing.T) {
	parted := func(share float64) (n int) {
		synctest.Test(t, func(t *testing.T) {
			s, err := New(Config{ModelName: "m", Numerics: share})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			for i := range 60 {
				user := fmt.Sprintf("Question %d about rivers.", i)
				a, _ := chatOnce(t, s, "", user, 60)
				b, _ := chatOnce(t, s, "", user, 60)
				if a != b {
					n++
				}
			}
		})
		return n
	}
	if n := parted(0); n != 0 {
		t.Errorf("%d of 60 pairs of greedy replies differ without numerics; want 0", n)
	}
	if n := parted(0.1); n < 2 || n > 25 {
		t.Errorf("%d of 60 pairs of greedy replies differ with a share of 0.1 each; want about 11", n)
	}
}
