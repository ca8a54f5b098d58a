package datasets

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func serve(t *testing.T, status int, body string) (Dataset, *int) {
	t.Helper()
	hits := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		hits++
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}))
	t.Cleanup(s.Close)
	sum := sha256.Sum256([]byte("items\n"))
	return Dataset{Name: "x", File: "x.jsonl", URL: s.URL, SHA256: hex.EncodeToString(sum[:]), Bytes: 6}, &hits
}

func TestPull(t *testing.T) {
	d, hits := serve(t, 200, "items\n")
	dir := filepath.Join(t.TempDir(), "cache")
	for range 2 {
		path, err := Pull(context.Background(), http.DefaultClient, d, dir)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != "items\n" {
			t.Errorf("the cache holds %q, %v", got, err)
		}
	}
	if *hits != 1 {
		t.Errorf("fetched %d times; want once, then from the cache", *hits)
	}
	if err := os.WriteFile(filepath.Join(dir, d.File), []byte("itemz\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Pull(context.Background(), http.DefaultClient, d, dir); err != nil || *hits != 2 {
		t.Errorf("a damaged file in the cache: %v after %d fetches; want it fetched again", err, *hits)
	}
}

func TestPullRefuses(t *testing.T) {
	for _, c := range []struct {
		what   string
		status int
		body   string
		want   string
	}{
		{"another content", 200, "itemz\n", "checksum"},
		{"a longer one", 200, "items\nmore", "checksum"},
		{"a missing page", 404, "items\n", "404"},
	} {
		d, _ := serve(t, c.status, c.body)
		dir := t.TempDir()
		_, err := Pull(context.Background(), http.DefaultClient, d, dir)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v; want %q", c.what, err, c.want)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) > 0 {
			t.Errorf("%s: left %v behind", c.what, left)
		}
	}
	d, _ := serve(t, 200, "")
	d.URL = "http://127.0.0.1:1/none"
	_, err := Pull(context.Background(), http.DefaultClient, d, t.TempDir())
	var unreachable *UnreachableError
	if !errors.As(err, &unreachable) || !strings.Contains(err.Error(), "put it at") {
		t.Errorf("without a network: %v; want how to get the file by hand", err)
	}
}

func TestLookup(t *testing.T) {
	for _, d := range Known() {
		got, err := Lookup(d.Name)
		if err != nil || got != d || len(d.SHA256) != 64 || d.Bytes < 1 || d.Licence == "" {
			t.Errorf("Lookup(%q) = %+v, %v", d.Name, got, err)
		}
	}
	if _, err := Lookup("mmlu"); err == nil || !strings.Contains(err.Error(), "gsm8k, humaneval") {
		t.Errorf("an unknown name: %v; want the list", err)
	}
}
