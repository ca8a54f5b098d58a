package token_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/inferencebench/inferencebench/tasks"
	"github.com/inferencebench/inferencebench/tasks/prose"
	"github.com/inferencebench/inferencebench/tasks/token"
)

// prompts are first turns of the generator, of many lengths and kinds.
func prompts(t testing.TB, seed uint64, n int, c token.Counter) []tasks.Turn {
	t.Helper()
	src, err := tasks.NewGenerator(tasks.Options{
		Seed: seed, ISL: tasks.Uniform(100, 900), Structure: 0.3, Counter: c, TemplateTokens: -1,
		Langs: []tasks.LangShare{{Lang: prose.English, Weight: 3}, {Lang: prose.Chinese, Weight: 1}},
	})
	if err != nil {
		t.Fatal(err)
	}
	out := make([]tasks.Turn, n)
	for i := range out {
		out[i], _ = src.Session(uint64(i)).Next("")
	}
	return out
}

// odd is a vocabulary unlike the rule of thumb: three letters a token, a token a digit,
// two tokens a Chinese character.
func odd(s string) int {
	n := 0.0
	for _, r := range s {
		switch {
		case r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z':
			n += 1.0 / 3
		case r >= '0' && r <= '9':
			n++
		case r > 0x2000:
			n += 2
		case r == ' ':
		default:
			n += 0.9
		}
	}
	return int(n + 0.5)
}

func TestCalibrationFindsAnotherVocabulary(t *testing.T) {
	var obs []token.Observation
	for _, p := range prompts(t, 1, 96, nil) {
		obs = append(obs, token.Observation{Text: p.User, Tokens: odd(p.User) + 23})
	}
	c, err := token.Calibrate(obs)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(c)
	if c.P95 > 0.08 || c.Template < 5 || c.Template > 45 {
		t.Errorf("%s; want a P95 of at most 8 %% and a template of about 23", c)
	}
	worst, before := 0.0, 0.0
	for _, p := range prompts(t, 2, 80, c) {
		want := float64(p.PromptTokens.Or(0))
		worst = math.Max(worst, math.Abs(float64(odd(p.User))-want)/want)
	}
	for _, p := range prompts(t, 2, 80, nil) {
		want := float64(p.PromptTokens.Or(0))
		before = math.Max(before, math.Abs(float64(odd(p.User))-want)/want)
	}
	t.Logf("worst error of new prompts: %.1f %%, uncalibrated %.1f %%", 100*worst, 100*before)
	if worst > 0.12 || worst >= before {
		t.Errorf("new prompts are off by up to %.1f %%, without calibration by %.1f %%", 100*worst, 100*before)
	}
}

func TestCalibrationNeedsEnoughToGoBy(t *testing.T) {
	if _, err := token.Calibrate(make([]token.Observation, 3)); err == nil {
		t.Error("three prompts are enough")
	}
	if _, err := token.Calibrate(make([]token.Observation, 20)); err == nil {
		t.Error("counts of zero are accepted")
	}
}

func TestRemoteCounts(t *testing.T) {
	for about, h := range map[string]http.HandlerFunc{
		"vLLM": func(w http.ResponseWriter, r *http.Request) {
			var o struct{ Model, Prompt string }
			if json.NewDecoder(r.Body).Decode(&o) != nil || o.Model != "m" || r.URL.Path != "/tokenize" || r.Header.Get("Authorization") != "Bearer k" {
				t.Errorf("path %s, body %+v", r.URL.Path, o)
			}
			fmt.Fprintf(w, `{"count":%d,"max_model_len":4096,"tokens":[]}`, len(strings.Fields(o.Prompt)))
		},
		"llama.cpp": func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprint(w, `{"tokens":[1,2,{"id":3,"piece":"x"}]}`)
		},
	} {
		s := httptest.NewServer(h)
		got, err := (&token.Remote{Base: s.URL + "/", Model: "m", Header: http.Header{"Authorization": {"Bearer k"}}}).Count(t.Context(), "one two three")
		s.Close()
		if err != nil || got != 3 {
			t.Errorf("%s: %d, %v; want 3", about, got, err)
		}
	}
	for _, body := range []string{"<html>", "{}", `{"count":-1}`, ""} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, body) }))
		if _, err := (&token.Remote{Base: s.URL}).Count(t.Context(), "x"); !errors.Is(err, token.ErrNoTokenize) {
			t.Errorf("reply %q: %v; want ErrNoTokenize", body, err)
		}
		s.Close()
	}
}
