package director

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/inferencebench/inferencebench/agents/langchain"
	"github.com/inferencebench/inferencebench/agents/llm"
	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/tasks"
	"github.com/inferencebench/inferencebench/tasks/workload"
)

// steeringServer is a model server that joins the changes of the best phases it is shown,
// and answers every fifth request with a setting that does not exist.
func steeringServer(t *testing.T) *httptest.Server {
	t.Helper()
	line := regexp.MustCompile(`(?m)^\d+\. changes (\S+), scores \w+ ([+-][\d.]+)`)
	space := Traffic()
	n := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var o struct {
			Messages []struct{ Content string } `json:"messages"`
		}
		if err := json.Unmarshal(body, &o); err != nil || len(o.Messages) != 2 {
			http.Error(w, "bad request", http.StatusBadRequest)
			return
		}
		type phase struct {
			changes []Change
			score   float64
		}
		var phases []phase
		for _, m := range line.FindAllStringSubmatch(o.Messages[1].Content, -1) {
			var p phase
			_ = json.Unmarshal([]byte(m[1]), &p.changes)
			p.score, _ = strconv.ParseFloat(m[2], 64)
			phases = append(phases, p)
		}
		slices.SortStableFunc(phases, func(a, b phase) int { return compare(b.score, a.score) })
		values := space.Values(space.Baseline())
		for k, p := range phases {
			for _, c := range p.changes {
				values[c.Setting] = c.To
			}
			point, err := space.Find(values)
			if err != nil {
				break
			}
			tried := slices.ContainsFunc(phases, func(q phase) bool { return slices.Equal(q.changes, space.Changes(point)) })
			if k >= 2 && !tried {
				break
			}
		}
		if n++; n%5 == 0 {
			values["temperature_of_the_room"] = 21
		}
		args, _ := json.Marshal(map[string]any{"settings": values, "reason": "these raised the score most"})
		text, _ := json.Marshal(string(args))
		fmt.Fprintf(w, `{"choices":[{"message":{"role":"assistant","content":"","tool_calls":[{"id":"1","type":"function","function":{"name":"steer","arguments":%s}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":900,"completion_tokens":60}}`, text)
	}))
	t.Cleanup(s.Close)
	return s
}

// steered searches all plants with a model behind the transport.
func steered(t *testing.T, transport http.RoundTripper, url string) (found, byModel, refused int, maps []*Map) {
	t.Helper()
	m, err := langchain.New(langchain.Config{Provider: langchain.OpenAI, Model: "director", BaseURL: url + "/v1", Transport: transport})
	if err != nil {
		t.Fatal(err)
	}
	space := Traffic()
	for _, pl := range plants() {
		proposer := &Model{
			Caller:     &llm.Caller{Model: m, Clock: archive.NewRunClock(), Budget: llm.NewBudget(llm.Limits{Calls: 60})},
			Objectives: []string{fmt.Sprintf("%s p%g of ordinary chats at most %s", pl.metric, 100*pl.q, pl.limit)},
		}
		s := &Search{Space: space, Trial: pl.trial(space), Budget: searchBudget, Seed: 100, Proposer: proposer}
		out, err := s.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		found += len(out.Weaknesses)
		byModel, refused = byModel+out.ByModel, refused+out.Refused
		maps = append(maps, out)
	}
	return found, byModel, refused, maps
}

func TestSteeringWithACassette(t *testing.T) {
	server := steeringServer(t)
	var tape bytes.Buffer
	_, _, _, recorded := steered(t, llm.RecordTo(http.DefaultTransport, &tape), server.URL)
	server.Close()
	play, err := llm.Play(bytes.NewReader(tape.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	found, byModel, refused, played := steered(t, play, server.URL)
	t.Logf("with a cassette model: %d of 10 found, %d phases by the model, %d proposals refused", found, byModel, refused)
	if found < 9 || byModel == 0 {
		t.Errorf("%d of 10 weaknesses found with %d phases by the model; want 9 and some", found, byModel)
	}
	if play.Missed() != 0 {
		t.Errorf("%d requests are not on the cassette", play.Missed())
	}
	if diff := cmp.Diff(recorded, played); diff != "" {
		t.Errorf("the playback searched otherwise:\n%s", diff)
	}
}

func TestUselessModelsDoNotStopTheSearch(t *testing.T) {
	pl := plants()[1]
	space := Traffic()
	for about, f := range map[string]func(llm.Request) (string, error){
		"it fails":             func(llm.Request) (string, error) { return "", errors.New("no route") },
		"it answers prose":     func(llm.Request) (string, error) { return "more load!", nil },
		"it breaks the schema": func(llm.Request) (string, error) { return `{"settings":[1]}`, nil },
		"it repeats itself": func(llm.Request) (string, error) {
			b, _ := json.Marshal(map[string]any{"settings": space.Values(space.Baseline()), "reason": "again"})
			return string(b), nil
		},
		"it leaves the space": func(llm.Request) (string, error) {
			v := space.Values(space.Baseline())
			v[SettingRate] = 1e6
			b, _ := json.Marshal(map[string]any{"settings": v, "reason": "much more"})
			return string(b), nil
		},
	} {
		s := &Search{Space: space, Trial: pl.trial(space), Budget: searchBudget, Seed: 100, Proposer: &Model{Caller: &llm.Caller{Model: fakeModel{f: f}, Clock: archive.NewRunClock()}}}
		m, err := s.Run(t.Context())
		if err != nil || len(m.Weaknesses) != 1 || m.ByModel != 0 || m.Refused == 0 {
			t.Errorf("%s: %d found, %d by the model, %d refused, %v; want the search to go on alone", about, len(m.Weaknesses), m.ByModel, m.Refused, err)
		}
	}
}

func TestSearchKeepsToItsBudgetAndItsContext(t *testing.T) {
	space := Traffic()
	n := 0
	calm := func(context.Context, Point, uint64) (Outcome, error) {
		n++
		if n%3 == 0 {
			return Outcome{}, errors.New("the server fell over")
		}
		return Outcome{Scores: map[string]float64{"ttft": -1, "odd": math.NaN()}}, nil
	}
	m, err := (&Search{Space: space, Trial: calm, Budget: 25}).Run(t.Context())
	if err != nil || n != 25 || m.Explored != 25 || len(m.Weaknesses) != 0 {
		t.Errorf("%d phases, %d explored, %d weaknesses, %v; want 25, 25, 0", n, m.Explored, len(m.Weaknesses), err)
	}
	seen := map[string]bool{}
	for _, tr := range m.Tried {
		if seen[tr.Point.key()] {
			t.Errorf("point %v is tried twice", tr.Point)
		}
		seen[tr.Point.key()] = true
	}
	ctx, cancel := context.WithCancel(t.Context())
	stop := func(context.Context, Point, uint64) (Outcome, error) { cancel(); return Outcome{}, ctx.Err() }
	if m, err := (&Search{Space: space, Trial: stop, Budget: 25}).Run(ctx); !errors.Is(err, context.Canceled) || m == nil {
		t.Errorf("a cancelled search returns %v, %v", m, err)
	}
	small := Space{{Name: "a", Values: []float64{1, 2}}}
	if m, err := (&Search{Space: small, Trial: calm, Budget: 25}).Run(t.Context()); err != nil || m.Explored != 2 {
		t.Errorf("a space of 2 points is explored %d times, %v", m.Explored, err)
	}
}

func TestOneOffMissesAreNotWeaknesses(t *testing.T) {
	fluke := func(_ context.Context, _ Point, seed uint64) (Outcome, error) {
		if seed == 0 {
			return Outcome{Scores: map[string]float64{"ttft": 0.5}}, nil
		}
		return Outcome{Scores: map[string]float64{"ttft": -0.5}}, nil
	}
	m, err := (&Search{Space: Traffic(), Trial: fluke, Budget: 3}).Run(t.Context())
	if err != nil || len(m.Weaknesses) != 0 || len(m.Unconfirmed) != 3 {
		t.Errorf("%d weaknesses, %d unconfirmed, %v; want 0 and 3", len(m.Weaknesses), len(m.Unconfirmed), err)
	}
}

func TestLoadOfAPoint(t *testing.T) {
	s := Traffic()
	v := s.Values(s.Baseline())
	v[SettingLongShare], v[SettingLongISL], v[SettingShared], v[SettingTurns], v[SettingRate], v[SettingBurst] = 0.1, 8192, 0.5, 3, 2, 4
	p, err := s.Find(v)
	if err != nil {
		t.Fatal(err)
	}
	l, err := NewLoad(s, p, 5, tasks.Options{Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	long := 0
	for i := range uint64(400) {
		turn, _ := l.Source.Session(i).Next("")
		switch n := turn.PromptTokens.Or(0); n {
		case 8192:
			long++
		case 512:
			if turn.SharedPrefix.Or(0) < 250 {
				t.Errorf("session %d shares %d tokens; want 256", i, turn.SharedPrefix.Or(0))
			}
		default:
			t.Errorf("session %d has a prompt of %d tokens", i, n)
		}
		if turn.MaxTokens != 128 {
			t.Errorf("session %d asks for %d tokens; want 128", i, turn.MaxTokens)
		}
	}
	if long < 38 || long > 42 || l.Rate != 10 || l.CV != 4 {
		t.Errorf("%d of 400 long, rate %g, CV %g; want 40, 10, 4", long, l.Rate, l.CV)
	}
	at := l.Arrivals(4000, 1)
	if mean := at[len(at)-1].Seconds() / float64(len(at)-1); math.Abs(mean-0.1) > 0.02 {
		t.Errorf("mean gap %.4f s; want 0.1", mean)
	}

	path := filepath.Join(t.TempDir(), "w.zst")
	sum, err := l.Freeze(path, workload.Header{Seed: 3}, 20, 1)
	if err != nil {
		t.Fatal(err)
	}
	f, err := workload.Open(path)
	if err != nil || f.Content != sum {
		t.Fatalf("Open = %v; hash %s", err, sum)
	}
	if r := f.LiveHistory(1); len(r.Schedule) != 20 || r.Schedule[19] != at[19].Round(0) && r.Schedule[19]-at[19] > time.Microsecond {
		t.Errorf("the frozen weakness has %d sessions, the last at %s; want 20 and %s", len(r.Schedule), r.Schedule[19], at[19])
	}
}

func TestSpaceRefusesWhatIsNotInIt(t *testing.T) {
	s := Traffic()
	good := s.Values(s.Baseline())
	for about, change := range map[string]func(map[string]float64){
		"a value between":    func(v map[string]float64) { v[SettingISL] = 777 },
		"a setting too many": func(v map[string]float64) { v["shutdown"] = 1 },
		"a setting too few":  func(v map[string]float64) { delete(v, SettingOSL) },
		"not a number":       func(v map[string]float64) { v[SettingRate] = math.NaN() },
	} {
		v := s.Values(s.Baseline())
		change(v)
		if _, err := s.Find(v); err == nil {
			t.Errorf("%s is accepted", about)
		}
	}
	if p, err := s.Find(good); err != nil || !slices.Equal(p, s.Baseline()) || len(s.Changes(p)) != 0 {
		t.Errorf("the baseline is %v, %v", p, err)
	}
}
