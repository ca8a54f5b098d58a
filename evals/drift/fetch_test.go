package drift

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
)

const completion = `{"choices":[{"message":{"content":"Hi there"},"logprobs":{"content":[
{"token":"Hi","logprob":-0.1,"top_logprobs":[{"token":"Hi","logprob":-0.1},{"token":"Yo","logprob":-2.5}]},
{"token":" there","logprob":-0.2,"top_logprobs":[{"token":" there","logprob":-0.2}]}]}}]}`

func TestFetch(t *testing.T) {
	answer, status := completion, 200
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.URL.Path != "/v1/chat/completions" || r.Header.Get("Authorization") != "Bearer k" || !strings.Contains(string(body), `"top_logprobs":5`) || !strings.Contains(string(body), `"temperature":0`) {
			w.WriteHeader(400)
			return
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(answer))
	}))
	defer s.Close()
	src := &Source{Client: s.Client(), Base: s.URL + "/", Header: http.Header{"Authorization": {"Bearer k"}}, Model: "m", Top: 5}
	r, pos, err := src.Fetch(context.Background(), "hello", 10)
	if err != nil || r.Text != "Hi there" || len(r.Tokens) != 2 || len(pos) != 2 || pos[0].Top["Yo"] != -2.5 {
		t.Errorf("Fetch = %+v, %+v, %v", r, pos, err)
	}
	for what, a := range map[string]string{
		"no logprobs":       `{"choices":[{"message":{"content":"x"},"logprobs":null}]}`,
		"no choices":        `{"choices":[]}`,
		"a null in between": `{"choices":[{"message":{"content":"x"},"logprobs":{"content":[{"token":"x","logprob":null}]}}]}`,
	} {
		answer = a
		if _, _, err := src.Fetch(context.Background(), "hello", 10); !errors.Is(err, ErrNoLogprobs) {
			t.Errorf("%s: %v; want ErrNoLogprobs", what, err)
		}
	}
	answer, status = "{}", 501
	if _, _, err := src.Fetch(context.Background(), "hello", 10); !errors.Is(err, ErrNoLogprobs) || !strings.Contains(err.Error(), "501") {
		t.Errorf("a server that refuses: %v", err)
	}
}

// TestFetchRealEngine asks the server at IB_EVAL_URL twice: the distance of a server to
// itself must be small.
func TestFetchRealEngine(t *testing.T) {
	url := os.Getenv("IB_EVAL_URL")
	if url == "" {
		t.Skip("IB_EVAL_URL is not set")
	}
	src := &Source{Client: http.DefaultClient, Base: url, Top: 10}
	_, a, err := src.Fetch(context.Background(), "Name three rivers of Europe.", 40)
	if err != nil {
		t.Fatal(err)
	}
	_, b, err := src.Fetch(context.Background(), "Name three rivers of Europe.", 40)
	if err != nil {
		t.Fatal(err)
	}
	d := Compare(a, b)
	t.Logf("%d positions: %+v", len(a), d)
	if d.Positions < 10 || d.Top1.Or(0) < 0.9 || d.KL.Or(1) > 0.05 {
		t.Errorf("a server against itself: %+v; want nearly no distance", d)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(completion))
	f.Add([]byte(`{"choices":[{"logprobs":{"content":[{}]}}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		r, pos, err := parse(raw)
		if err == nil && (len(pos) == 0 || len(pos) != len(r.Tokens)) {
			t.Errorf("parse gives %d positions and %d tokens", len(pos), len(r.Tokens))
		}
	})
}
