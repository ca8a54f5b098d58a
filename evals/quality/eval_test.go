package quality

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/inferencebench/inferencebench/evals"
	"github.com/inferencebench/inferencebench/sim"
	"github.com/inferencebench/inferencebench/sim/server"
)

func TestEval(t *testing.T) {
	sets, err := evals.Open(evals.Selection{Kinds: []string{"all"}, Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	s, err := server.New(server.Config{Sim: sim.Config{Seed: 5}, ModelName: "only-one", Speed: 1e4, Answers: sets.Answer, Accuracy: 1, Key: "sesame-open"})
	if err != nil {
		t.Fatal(err)
	}
	url, err := s.Start("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var notes []string
	rep, err := Eval(context.Background(), Config{URL: url + "/v1", Key: "sesame-open", Kinds: []string{"all"}, Items: 6, Concurrency: 3, Seed: 5,
		Note: func(n string) { notes = append(notes, n) }})
	if err != nil {
		t.Fatal(err)
	}
	if len(rep.Families) != 6 || len(rep.Checkpoints) != 36 || rep.Failed > 0 {
		t.Errorf("%d families, %d checkpoints, %d failed; want 6, 36, 0", len(rep.Families), len(rep.Checkpoints), rep.Failed)
	}
	for _, f := range rep.Families {
		switch f.Kind {
		case evals.KindCode:
			if f.Scored > 0 || len(f.Unscored) == 0 {
				t.Errorf("code ran without being asked for: %+v", f)
			}
		case evals.KindFormat: // the simulated engine writes sentences
		default:
			if f.Score.Or(0) < 1 {
				t.Errorf("%s scores %v; want 1", f.Kind, f.Score)
			}
		}
	}
	if all := strings.Join(notes, "\n"); !strings.Contains(all, "only-one") || strings.Contains(all, "sesame") {
		t.Errorf("notes %q; want the model and no key", all)
	}
	path := filepath.Join(t.TempDir(), "items.txt")
	if err := WriteItems(path, rep.Checkpoints); err != nil {
		t.Fatal(err)
	}
	if raw, err := os.ReadFile(path); err != nil || strings.Count(string(raw), "=== ") != 36 {
		t.Errorf("items file: %v", err)
	}
	if _, err := Eval(context.Background(), Config{URL: url, Key: "wrong", Seed: 5, Items: 1}); err == nil || strings.Contains(err.Error(), "wrong\"") {
		t.Errorf("a wrong key: %v; want an error", err)
	}
}
