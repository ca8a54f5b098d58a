package faults

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/inferencebench/inferencebench/sim/server"
)

// Every condition can be met over HTTP too.
func TestEveryConditionServes(t *testing.T) {
	for i, c := range Conditions() {
		if testing.Short() && i%6 != 0 {
			continue // each finds the engine's capacity first, which is slow with a race detector
		}
		l, err := Prepare(context.Background(), c.ID, Options{Severity: Mid, Seed: 1, Duration: 30 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		l.Server.Speed = 100
		srv, err := server.New(l.Server)
		if err != nil {
			t.Fatalf("%s: %v", c.ID, err)
		}
		h := httptest.NewServer(srv.Handler())
		res, err := http.Post(h.URL+"/v1/completions", "application/json", strings.NewReader(`{"prompt":"hello there","max_tokens":8}`))
		if err != nil {
			t.Fatalf("%s: %v", c.ID, err)
		}
		b, _ := io.ReadAll(res.Body)
		res.Body.Close()
		if res.StatusCode != 200 || !strings.Contains(string(b), `"completion_tokens":8`) {
			t.Errorf("%s: status %d: %.200s", c.ID, res.StatusCode, b)
		}
		if l.Truth.Cause != c.Cause || l.Rate == 0 && l.Concurrency == 0 {
			t.Errorf("%s: truth %q, rate %g, concurrency %d", c.ID, l.Truth.Cause, l.Rate, l.Concurrency)
		}
		srv.Close()
		h.Close()
	}
}
