package prom

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/inferencebench/inferencebench/engines"
	"github.com/inferencebench/inferencebench/engines/expo"
)

func source(t *testing.T, h http.HandlerFunc, header http.Header) *Source {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	a, ok := engines.Lookup("vllm")
	if !ok {
		t.Fatal("no vllm adapter")
	}
	return New(s.Client(), strings.Replace(s.URL, "://", "://u:hunter2@", 1)+"/metrics", header, a)
}

func TestRead(t *testing.T) {
	s := source(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Key") != "k" || !strings.HasPrefix(r.Header.Get("Accept"), "text/plain") {
			t.Errorf("headers %v; want the given one and the text format", r.Header)
		}
		w.Header().Set("Process-Start-Time-Unix", "701932688")
		fmt.Fprint(w, "vllm:num_requests_running 3\nrubbish{\n")
	}, http.Header{"X-Key": {"k"}})
	v, err := s.Read(t.Context())
	if err != nil || v["requests_running"] != 3 || v["process_start_mark"] != 701932688 || len(s.Annotations()) != 1 {
		t.Errorf("Read = %v, %v, notes %v; want 3 running and a note on the bad line", v, err, s.Annotations())
	}
	if strings.Contains(s.Target(), "hunter2") {
		t.Errorf("Target = %q shows the password", s.Target())
	}
}

func TestReadErrors(t *testing.T) {
	stuck := make(chan struct{})
	defer close(stuck)
	tests := []struct {
		why   string
		h     http.HandlerFunc
		words string
		is    error
	}{
		{"an error status", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusServiceUnavailable) }, "status 503", nil},
		{"a web page", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>\n") }, "", engines.ErrNotMetrics},
		{"no answer in time", func(_ http.ResponseWriter, r *http.Request) {
			select {
			case <-stuck:
			case <-r.Context().Done():
			}
		}, "", context.DeadlineExceeded},
		{"a body that breaks off", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			fmt.Fprint(w, "vllm:num_requests_running 3\n")
		}, "EOF", nil},
	}
	for _, tt := range tests {
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		v, err := source(t, tt.h, nil).Read(ctx)
		cancel()
		if err == nil || v != nil || !strings.Contains(err.Error(), tt.words) || (tt.is != nil && !errors.Is(err, tt.is)) {
			t.Errorf("%s: Read = %v, %v; want an error with %q, %v", tt.why, v, err, tt.words, tt.is)
		}
		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: the error shows the password: %v", tt.why, err)
		}
	}
}

func TestEndlessPageIsCut(t *testing.T) {
	s := source(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "vllm:num_requests_running 3\n")
		line := []byte(strings.Repeat("#", 1<<16-1) + "\n")
		for range expo.MaxPage/len(line) + 8 {
			if _, err := w.Write(line); err != nil {
				return
			}
		}
	}, nil)
	v, err := s.Read(t.Context())
	if err != nil || v["requests_running"] != 3 {
		t.Errorf("Read = %v, %v; want the part below the limit", v, err)
	}
}
