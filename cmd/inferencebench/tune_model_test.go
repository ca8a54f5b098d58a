package main

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/tuner"
	"github.com/inferencebench/inferencebench/tuner/live"
)

// TestTuneModelProposes wants the model that a study names to be asked, its answer to be
// proposed under its own name, and the key to be in no file.
func TestTuneModelProposes(t *testing.T) {
	const answer = `{\"proposals\":[{\"settings\":{\"--max-num-seqs\":\"64\"},\"hypothesis\":\"the cap\",\"gain_low\":0.1,\"gain_high\":0.5,\"falsifier\":\"none waits\"}]}`
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer sk-tune-secret" {
			t.Errorf("key header %q", r.Header.Get("Authorization"))
		}
		fmt.Fprintf(w, `{"choices":[{"message":{"role":"assistant","content":"%s"},"finish_reason":"stop"}]}`, answer)
	}))
	defer s.Close()
	t.Setenv("TUNE_TEST_KEY", "sk-tune-secret")
	dir := t.TempDir()
	f := live.Demo()
	f.Agents.Provider, f.Agents.Model, f.Agents.URL, f.Agents.KeyEnv = "openai", "m", s.URL+"/v1", "TUNE_TEST_KEY"
	f.Resolve()
	if err := f.Validate(); err != nil {
		t.Fatal(err)
	}
	p, err := openProposers(dir, f)
	if err != nil {
		t.Fatal(err)
	}
	var others []tuner.Strategy
	env := live.Environment{Now: time.Now, Others: func(x *live.Setup) []tuner.Strategy {
		others = p.strategies(t.Context(), x)
		return others
	}}
	if _, err := live.Prepare(filepath.Join(dir, "study"), f, env); err != nil {
		t.Fatal(err)
	}
	base := tuner.Trial{N: 1, Role: tuner.RoleDefault, Load: tuner.Load{Rung: 1}}
	base.Outcome, base.Value = tuner.OK, archive.Some(100.0)
	rng := rand.New(rand.NewPCG(1, 1))
	var got []tuner.Proposal
	for range 40 { // a new proposer gets half of the turns
		got = append(got, others[0].Ask(rng, []tuner.Trial{base}, 3)...)
	}
	if len(got) == 0 || got[0].Source != "model" || got[0].Config["--max-num-seqs"] != "64" {
		t.Fatalf("proposals %+v; want the model's", got)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{proposalsFile, transcriptFile} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || len(b) == 0 || strings.Contains(string(b), "sk-tune-secret") {
			t.Errorf("%s: %v, %d bytes; want what the model answered, without the key", name, err, len(b))
		}
	}
	f.Agents.KeyEnv = "TUNE_TEST_NO_SUCH_KEY"
	if _, err := openProposers(dir, f); err == nil || !strings.Contains(err.Error(), "TUNE_TEST_NO_SUCH_KEY") {
		t.Errorf("without the key: %v; want the variable named", err)
	}
}
