package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/prompts"
)

// script is a model that answers from a list and fails the test when it runs out.
type script struct {
	t       *testing.T
	answers []string
	asked   []Request
	err     error
}

func (s *script) Name() string { return "script" }

func (s *script) Generate(_ context.Context, r Request) (Response, error) {
	s.asked = append(s.asked, r)
	if s.err != nil {
		return Response{}, s.err
	}
	if len(s.answers) == 0 {
		s.t.Fatal("the script has no more answers")
	}
	text := s.answers[0]
	s.answers = s.answers[1:]
	a, err := FindJSON(text)
	return Response{Answer: a, Text: text, In: 100, Out: 10}, err
}

func turnPrompt(t *testing.T) (*prompts.Prompt, map[string]any) {
	t.Helper()
	p, err := prompts.Turn()
	if err != nil {
		t.Fatal(err)
	}
	return p, map[string]any{"Persona": "p", "Language": "English", "MinWords": 5, "MaxWords": 40, "Asked": "1. a", "Reply": prompts.Data{Label: "reply", Text: "secret plans"}}
}

func TestAsk(t *testing.T) {
	good := `{"message":"what about the plans?"}`
	for _, c := range []struct {
		about    string
		answers  []string
		err      error
		limits   Limits
		check    func(string) error
		want     error
		verdicts string
	}{
		{about: "a good answer is taken", answers: []string{good}, verdicts: "ok"},
		{about: "an object in prose is found", answers: []string{"Sure! ```json\n" + good + "\n``` done"}, verdicts: "ok"},
		{about: "an answer without JSON is repaired once", answers: []string{"I would ask about plans.", good}, verdicts: "invalid repaired"},
		{about: "an answer that breaks the schema is repaired once", answers: []string{`{"message":"x","rate":9}`, good}, verdicts: "invalid repaired"},
		{about: "two bad answers are the end", answers: []string{"no", "still no"}, want: ErrInvalid, verdicts: "invalid invalid"},
		{about: "the caller's own rule counts", answers: []string{good, good}, check: func(string) error { return errors.New("off topic") }, want: ErrInvalid, verdicts: "invalid invalid"},
		{about: "an error of the provider is not repaired", err: &StatusError{Code: 500}, verdicts: "error"},
		{about: "a used-up budget means no call", answers: []string{"no"}, limits: Limits{Calls: 1}, want: ErrBudget, verdicts: "invalid denied"},
		{about: "tokens count too", answers: []string{"no"}, limits: Limits{Tokens: 50}, want: ErrBudget, verdicts: "invalid denied"},
		{about: "so does money", answers: []string{"no"}, limits: Limits{USD: 1e-6}, want: ErrBudget, verdicts: "invalid denied"},
	} {
		m := &script{t: t, answers: c.answers, err: c.err}
		var verdicts []string
		var now archive.Instant
		caller := &Caller{
			Model: m, Clock: archive.ClockFunc(func() archive.Instant { now += 1000; return now }), Budget: NewBudget(c.limits), Price: Price{In: 1, Out: 2},
			Record: func(r Record) {
				verdicts = append(verdicts, r.Verdict)
				if r.Prompt != "turn" || r.Version == "" || len(r.InputSHA256) != 64 || r.Took <= 0 || r.Attempt < 1 {
					t.Errorf("%s: record %+v", c.about, r)
				}
			},
		}
		p, values := turnPrompt(t)
		var into struct{ Message string }
		err := caller.Ask(t.Context(), "director", p, values, &into, func() error {
			if c.check == nil {
				return nil
			}
			return c.check(into.Message)
		})
		if got := strings.Join(verdicts, " "); got != c.verdicts {
			t.Errorf("%s: verdicts %q; want %q", c.about, got, c.verdicts)
		}
		if ok := !strings.HasSuffix(c.verdicts, "ok") && !strings.HasSuffix(c.verdicts, "repaired"); (err != nil) != ok || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: Ask = %v; want %v", c.about, err, c.want)
		}
		if err == nil && into.Message == "" {
			t.Errorf("%s: nothing was filled in", c.about)
		}
	}
}

func TestBudgetAddsUp(t *testing.T) {
	b := NewBudget(Limits{Calls: 2})
	for range 2 {
		if err := b.reserve(); err != nil {
			t.Fatal(err)
		}
		b.settle(100, 10, 0.5, time.Second)
	}
	if err := b.reserve(); !errors.Is(err, ErrBudget) {
		t.Errorf("a third call: %v; want ErrBudget", err)
	}
	if got, want := b.Spent(), (Spent{Calls: 2, In: 200, Out: 20, USD: 1, Time: 2 * time.Second, Denied: 1}); got != want {
		t.Errorf("Spent = %+v; want %+v", got, want)
	}
}

type tripper func(*http.Request) (*http.Response, error)

func (f tripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func reply(r *http.Request, code int, body string) *http.Response {
	return response(r, exchange{Status: code, Reply: body})
}

func request(t *testing.T, body string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://user:pass@host/v1/chat", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer sk-secret-key")
	return r
}

func TestCassetteRecordsAndPlays(t *testing.T) {
	n := 0
	var tape bytes.Buffer
	rec := RecordTo(tripper(func(r *http.Request) (*http.Response, error) {
		n++
		return reply(r, 200, strings.Repeat("x", n)), nil
	}), &tape)
	for _, body := range []string{"a", "b", "a"} {
		resp, err := rec.RoundTrip(request(t, body))
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.ReadAll(resp.Body)
	}
	for _, secret := range []string{"sk-secret-key", "pass"} {
		if strings.Contains(tape.String(), secret) {
			t.Errorf("the cassette holds %q", secret)
		}
	}
	play, err := Play(bytes.NewReader(tape.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ body, want string }{{"b", "xx"}, {"a", "x"}, {"a", "xxx"}, {"a", "xxx"}} {
		resp, err := play.RoundTrip(request(t, c.body))
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := io.ReadAll(resp.Body); string(got) != c.want {
			t.Errorf("request %q is answered with %q; want %q", c.body, got, c.want)
		}
	}
	if _, err := play.RoundTrip(request(t, "new")); !errors.Is(err, ErrNotOnCassette) || play.Missed() != 1 {
		t.Errorf("a new request: %v, %d missed; want ErrNotOnCassette and 1", err, play.Missed())
	}
	if _, err := Play(strings.NewReader(strings.Replace(tape.String(), `"body":"b"`, `"body":"c"`, 1))); err == nil {
		t.Error("a cassette with a changed request is played")
	}
}

func TestTransport(t *testing.T) {
	for _, c := range []struct {
		about   string
		answers []int
		after   string
		want    int // status of the error, 0 for success
		tries   int
	}{
		{"a good answer is passed on", []int{200}, "", 0, 1},
		{"a 429 with a short wait is tried again", []int{429, 200}, "0.001", 0, 2},
		{"a 503 is tried again as often as allowed", []int{503, 503, 503, 503}, "0.001", 503, 3},
		{"a wait that is too long is not waited", []int{429, 200}, "3600", 429, 1},
		{"a wrong key is not tried again", []int{401, 200}, "", 401, 1},
	} {
		tries := 0
		tr := &Transport{Retries: 2, Secrets: []string{"sk-secret-key"}, Next: tripper(func(r *http.Request) (*http.Response, error) {
			body, _ := io.ReadAll(r.Body)
			if string(body) != "question" {
				t.Errorf("%s: try %d has the body %q", c.about, tries, body)
			}
			resp := reply(r, c.answers[tries], `{"error":{"message":"bad key sk-secret-key"}}`)
			if c.after != "" {
				resp.Header.Set("Retry-After", c.after)
			}
			tries++
			return resp, nil
		})}
		_, err := tr.RoundTrip(request(t, "question"))
		se, _ := AsStatus(err)
		if (c.want == 0) != (err == nil) || c.want != 0 && (se == nil || se.Code != c.want) || tries != c.tries {
			t.Errorf("%s: %v after %d tries; want status %d after %d", c.about, err, tries, c.want, c.tries)
		}
		if err != nil && strings.Contains(err.Error(), "sk-secret") {
			t.Errorf("%s: the key is in the error: %v", c.about, err)
		}
	}
}

func FuzzFindJSON(f *testing.F) {
	for _, s := range []string{`{"a":1}`, `x {"a":"}"} y`, `{{{{`, `{"a":{"b":[1,2,{"c":"\"}"}]}}`, "```json\n{}\n```"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if b, err := FindJSON(s); err == nil && (!json.Valid(b) || b[0] != '{' || !strings.Contains(s, string(b))) {
			t.Fatalf("FindJSON(%q) = %q", s, b)
		}
	})
}
