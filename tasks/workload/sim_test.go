package workload_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/loadgen/wire"
	"github.com/inferencebench/inferencebench/sim"
	"github.com/inferencebench/inferencebench/sim/server"
	"github.com/inferencebench/inferencebench/tasks"
	"github.com/inferencebench/inferencebench/tasks/workload"
)

// simulated serves the simulated engine and keeps the hash of every request body.
func simulated(t *testing.T, cfg sim.Config) (url string, hashes func() []string) {
	t.Helper()
	s, err := server.New(server.Config{Sim: cfg, ModelName: "m", Speed: 50})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	var mu sync.Mutex
	var got []string
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, "unreadable", http.StatusBadRequest)
			return
		}
		sum := sha256.Sum256(body)
		mu.Lock()
		got = append(got, hex.EncodeToString(sum[:]))
		mu.Unlock()
		r.Body = io.NopCloser(bytes.NewReader(body))
		s.Handler().ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	return front.URL, func() []string {
		mu.Lock()
		defer mu.Unlock()
		out := slices.Clone(got)
		slices.Sort(out)
		return out
	}
}

func dial(t *testing.T, url string) *wire.Client {
	t.Helper()
	c, err := wire.New(wire.Config{BaseURL: url, Model: "m", Clock: archive.NewRunClock()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func send(t *testing.T, c *wire.Client, turn *tasks.Turn, messages []tasks.Message) *archive.Request {
	t.Helper()
	rec := &archive.Request{}
	c.Do(t.Context(), &wire.Call{ID: "x", Messages: messages, MaxTokens: turn.MaxTokens, Temperature: turn.Temperature, IgnoreEOS: turn.IgnoreEOS, Stop: turn.Stop}, rec)
	if rec.Status != archive.StatusOK {
		t.Fatalf("request failed: %+v", rec.Error)
	}
	return rec
}

// TestReplayOnTwoConfigsSendsTheSameBytes freezes multi-turn sessions against a simulated
// engine and replays them, with the histories of then, against two others that answer
// and schedule otherwise.
func TestReplayOnTwoConfigsSendsTheSameBytes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "workload.jsonl.zst")
	w, err := workload.Create(path, workload.Header{Run: "first", Seed: 4})
	if err != nil {
		t.Fatal(err)
	}
	src, err := tasks.NewGenerator(tasks.Options{Seed: 4, Salt: "first", ISL: tasks.Uniform(40, 300), OSL: tasks.Uniform(5, 40), Turns: tasks.Fixed(3)})
	if err != nil {
		t.Fatal(err)
	}
	url, hashes := simulated(t, sim.Config{Seed: 1})
	client := dial(t, url)
	const sessions = 12
	for i := range uint64(sessions) {
		s, reply := src.Session(i), ""
		var history []tasks.Message
		for k := 0; ; k++ {
			turn, ok := s.Next(reply)
			if !ok {
				break
			}
			history = append(history, tasks.Message{Role: "user", Content: turn.User})
			w.Add(workload.Entry{
				Session: fmt.Sprint(i), Turn: k, Kind: turn.Kind, Task: turn.Task, At: archive.Instant(time.Second) + archive.Instant(i)*1e8 + archive.Instant(k)*1e9,
				Messages: slices.Clone(history), MaxTokens: turn.MaxTokens, Temperature: turn.Temperature, IgnoreEOS: turn.IgnoreEOS,
			})
			reply = send(t, client, &turn, history).Text
			history = append(history, tasks.Message{Role: "assistant", Content: reply})
		}
	}
	content, err := w.Close()
	if err != nil {
		t.Fatal(err)
	}
	first := hashes()
	if len(first) != 3*sessions {
		t.Fatalf("%d requests reached the server; want %d", len(first), 3*sessions)
	}
	for about, cfg := range map[string]sim.Config{"few slots and a small cache": {Seed: 9, MaxNumSeqs: 4, NumGPUBlocksOverride: 600, MaxModelLen: 4096}, "no prefix cache, whole prompts": {Seed: 10, EnablePrefixCaching: sim.Off, EnableChunkedPrefill: sim.Off}} {
		f, err := workload.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if f.Content != content {
			t.Errorf("%s: content %s; want %s", about, f.Content, content)
		}
		url, hashes := simulated(t, cfg)
		client, replay := dial(t, url), f.SameHistory(1)
		var wg sync.WaitGroup
		for i := range replay.Schedule {
			turn, ok := replay.Session(uint64(i)).Next("")
			if !ok {
				t.Fatalf("request %d is missing", i)
			}
			wg.Go(func() { send(t, client, &turn, turn.Messages) })
			if i%6 == 5 {
				wg.Wait()
			}
		}
		wg.Wait()
		if got := hashes(); !slices.Equal(got, first) {
			t.Errorf("%s: the bodies differ from those of the first run", about)
		}
	}
}
