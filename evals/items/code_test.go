package items

import (
	"context"
	"os"
	"sync"
	"testing"

	"github.com/inferencebench/inferencebench/evals/sandbox"
)

func TestMain(m *testing.M) {
	sandbox.MaybeInit()
	os.Exit(m.Run())
}

// TestCodeProblems runs every reference solution, which must pass, and every mutant, which
// must not: a test that accepts a wrong program proves nothing.
func TestCodeProblems(t *testing.T) {
	all, err := CodeProblems()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 60 {
		t.Errorf("%d code problems; want 60 or more", len(all))
	}
	r, err := sandbox.New(context.Background(), sandbox.Options{})
	if err != nil {
		t.Skip(err)
	}
	seen := map[string]bool{}
	killed := 0
	var wg sync.WaitGroup
	var mu sync.Mutex
	run := func(c Code, body string, want bool, what string) {
		wg.Go(func() {
			res := r.Run(context.Background(), sandbox.Program{Code: c.Prompt + body, Test: c.Test, Entry: c.Entry})
			mu.Lock()
			defer mu.Unlock()
			switch {
			case res.Outcome == sandbox.Infra, want != (res.Outcome == sandbox.Pass):
				t.Errorf("%s: %s gives %s (%s)", c.ID, what, res.Outcome, res.Detail)
			case !want:
				killed++
			}
		})
	}
	for _, c := range all {
		if seen[c.ID] {
			t.Errorf("%s appears twice", c.ID)
		}
		seen[c.ID] = true
		if len(c.Mutants) < 2 {
			t.Errorf("%s has %d mutants; want two or more", c.ID, len(c.Mutants))
		}
		run(c, c.Solution, true, "the reference")
		for _, m := range c.Mutants {
			run(c, m, false, "mutant\n"+m)
		}
	}
	wg.Wait()
	t.Logf("%d problems, %d mutants rejected", len(all), killed)
}
