package bpe

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/inferencebench/inferencebench/tasks"
	"github.com/inferencebench/inferencebench/tasks/prose"
	"github.com/inferencebench/inferencebench/tasks/token"
)

// TestCalibrationOnRealVocabularies fits the estimate to 96 prompts counted by a real
// vocabulary, and counts new prompts that were written with it. See TestReference for the
// folder.
func TestCalibrationOnRealVocabularies(t *testing.T) {
	dir := os.Getenv("INFERENCEBENCH_TOKENIZERS")
	if dir == "" {
		t.Skip("INFERENCEBENCH_TOKENIZERS is not set: no reference vocabularies")
	}
	files, err := filepath.Glob(filepath.Join(dir, "*", "tokenizer.json"))
	if err != nil || len(files) == 0 {
		t.Skipf("no vocabulary in %s", dir)
	}
	for _, path := range files {
		tok, err := Load(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, structure := range []float64{0, 0.3} {
			prompts := func(seed uint64, n int, length tasks.Length, c token.Counter) []tasks.Turn {
				src, err := tasks.NewGenerator(tasks.Options{
					Seed: seed, ISL: length, Structure: structure, Counter: c, TemplateTokens: -1,
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
			var obs []token.Observation
			for _, p := range prompts(1, 96, tasks.Uniform(100, 1500), nil) {
				obs = append(obs, token.Observation{Text: p.User, Tokens: tok.Count(p.User) + 12})
			}
			c, err := token.Calibrate(obs)
			if err != nil {
				t.Fatal(err)
			}
			within, worst, sum := 0, 0.0, 0.0
			const n = 200
			for _, p := range prompts(2, n, tasks.Fixed(1024), c) {
				e := math.Abs(float64(tok.Count(p.User))-1024) / 1024
				worst, sum = math.Max(worst, e), sum+e
				if e <= 0.05 {
					within++
				}
			}
			t.Logf("%s, structure %.1f: %s; %d of %d new prompts within 5 %%, mean error %.1f %%, worst %.1f %%", filepath.Base(filepath.Dir(path)), structure, c, within, n, 100*sum/n, 100*worst)
			if within < n*90/100 || sum/n > 0.025 {
				t.Errorf("%s, structure %.1f: %d of %d new prompts are within 5 %%; want 90 %%, and a mean error of at most 2.5 %%", filepath.Base(filepath.Dir(path)), structure, within, n)
			}
		}
	}
}
