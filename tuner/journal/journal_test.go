package journal_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/inferencebench/inferencebench/tuner"
	"github.com/inferencebench/inferencebench/tuner/journal"
	"github.com/inferencebench/inferencebench/tuner/space"
	"github.com/inferencebench/inferencebench/tuner/tunertest"
)

func study() tuner.Study {
	return tuner.Study{
		Name: "test", Seed: 3,
		Goal:   tuner.Goal{Metric: "output_throughput", Maximise: true, MinGain: 0.02},
		Budget: tuner.Budget{Time: 90 * time.Minute},
	}
}

// strategy and truths are a search of which one configuration is worth it.
func setup() (*tunertest.Bench, tuner.Strategy) {
	truths := map[string]tunertest.Truth{}
	var all []space.Assignment
	for i := range 10 {
		c := space.Assignment{"x": fmt.Sprint(i)}
		truths[c.Key()] = tunertest.Truth{Gain: float64(i%7) / 50}
		all = append(all, c)
	}
	truths["x=4"] = tunertest.Truth{Outcome: tuner.OOM}
	b := &tunertest.Bench{Seed: 5, Truths: truths, Noise: 0.01, Parts: 5, Items: 4, StartUp: 20 * time.Second, Each: 30 * time.Second}
	return b, tunertest.List{Configs: all, Rung: 1}
}

// play runs the study on the journal at path and returns the result and the bytes.
func play(t *testing.T, path string, stop func(int) error) (result, file []byte) {
	t.Helper()
	b, strategy := setup()
	b.Stop = stop
	h, err := journal.NewHeader(study(), strategy.Name())
	if err != nil {
		t.Fatal(err)
	}
	j, err := journal.Open(path, h)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	r, err := tuner.Run(context.Background(), study(), b, strategy, tuner.Options{Journal: j})
	if stop == nil && err != nil {
		t.Fatal(err)
	}
	if stop != nil && !errors.Is(err, tunertest.ErrKilled) {
		t.Fatalf("the study was not killed: %v", err)
	}
	result, err = json.Marshal(struct {
		R *tuner.Result
		T []tuner.Trial
	}{r, r.Trials})
	if err != nil {
		t.Fatal(err)
	}
	file, err = os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return result, file
}

// A study that is killed before any measurement, with the journal cut at any byte, comes to
// the same journal and the same result.
func TestKilledStudyResumes(t *testing.T) {
	dir := t.TempDir()
	want, file := play(t, filepath.Join(dir, "whole"), nil)
	trials := bytes.Count(file, []byte("\n")) - 1
	if trials < 20 || !bytes.Contains(want, []byte(`"decision":"change"`)) {
		t.Fatalf("the study is too short to be killed: %d trials, %.200s", trials, want)
	}
	rng := rand.New(rand.NewPCG(11, 13))
	for i := range 20 {
		path := filepath.Join(dir, fmt.Sprint("killed", i))
		_, part := play(t, path, tunertest.KillAt(1+rng.IntN(trials)))
		if i%2 == 0 { // the machine died while a line was being written
			part = part[:rng.IntN(len(part)+1)]
			if err := os.WriteFile(path, part, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, again := play(t, path, nil)
		if !bytes.Equal(again, file) || !bytes.Equal(got, want) {
			t.Errorf("killed at byte %d of %d: the journal or the result differs", len(part), len(file))
		}
	}
}

// A cut at every byte of a line is mended.
func TestEveryByteOfALine(t *testing.T) {
	dir := t.TempDir()
	_, file := play(t, filepath.Join(dir, "whole"), nil)
	lines := bytes.SplitAfter(file, []byte("\n"))
	head := len(lines[0]) + len(lines[1])
	h, _, err := journal.Read(filepath.Join(dir, "whole"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "cut")
	for n := head; n <= head+len(lines[2]); n++ {
		if err := os.WriteFile(path, file[:n], 0o644); err != nil {
			t.Fatal(err)
		}
		j, err := journal.Open(path, h)
		if err != nil {
			t.Fatal(err)
		}
		want := 1
		if n == head+len(lines[2]) {
			want = 2
		}
		if len(j.Trials()) != want {
			t.Fatalf("cut at byte %d: %d trials, want %d", n, len(j.Trials()), want)
		}
		j.Close()
	}
}

// A journal is refused where it must not go on.
func TestOpenRefuses(t *testing.T) {
	s := study()
	h, err := journal.NewHeader(s, "list")
	if err != nil {
		t.Fatal(err)
	}
	good := mustJSON(t, h) + "\n"
	trial := mustJSON(t, tuner.Trial{N: 1, Role: tuner.RoleDefault}) + "\n"
	s.Goal.MinGain = 0.05
	other, err := journal.NewHeader(s, "list")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, text string
		header     journal.Header
		want       string
	}{
		{"another question", good + trial, other, `its goal is {"metric":"output_throughput","maximise":true,"min_gain":0.02}, not`},
		{"another search", good, journal.Header{Hash: h.Hash, Strategy: "random"}, "its search is list, not random"},
		{"a damaged line", good + "garbage\n" + trial, h, "line 2: not a trial"},
		{"a line that is missing", good + strings.Replace(trial, `"n":1`, `"n":2`, 1), h, "line 2: trial 2 where trial 1 is expected"},
		{"another file", "hello\n", h, "line 1: not the header"},
	} {
		path := filepath.Join(t.TempDir(), "j")
		if err := os.WriteFile(path, []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := journal.Open(path, c.header)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want it to say %q", c.name, err, c.want)
		}
		if b, _ := os.ReadFile(path); string(b) != c.text {
			t.Errorf("%s: the file was changed", c.name)
		}
	}
}

// Two processes cannot write one journal.
func TestOneWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j")
	h, err := journal.NewHeader(study(), "list")
	if err != nil {
		t.Fatal(err)
	}
	j, err := journal.Open(path, h)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := journal.Open(path, h); !errors.Is(err, journal.ErrInUse) {
		t.Errorf("second writer: %v, want ErrInUse", err)
	}
	j.Close()
	if j, err = journal.Open(path, h); err != nil {
		t.Errorf("after Close: %v", err)
	} else {
		j.Close()
	}
}

func mustJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
