package wire

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/inferencebench/inferencebench/archive"
)

// h2 serves HTTP/2 over TLS with a limit of streams for each connection.
func h2(t *testing.T, h http.Handler, streams int) *counting {
	return serve(t, h, func(s *httptest.Server) {
		s.EnableHTTP2 = true
		s.Config.HTTP2 = &http.HTTP2Config{MaxConcurrentStreams: streams}
		s.TLS = &tls.Config{NextProtos: []string{"h2", "http/1.1"}}
		s.StartTLS()
	})
}

// B126: with one shared connection the server's limit of streams is met, and the records
// say so; with enough connections it is not.
func TestB126StreamLimit(t *testing.T) {
	const n, limit = 40, 10
	for _, conns := range []int{1, 8} {
		s := h2(t, script{{100, text("a") + usage(1, 1) + done}}, limit)
		c := client(t, s.URL, func(cfg *Config) { cfg.Insecure, cfg.HTTP2 = true, conns })
		// The first request of each connection learns the limit.
		wave(t, c, conns)
		limited := 0
		for _, rec := range wave(t, c, n) {
			if rec.Conn.Protocol != "HTTP/2.0" || rec.Conn.Stamp != "user" || rec.Text != "a" {
				t.Fatalf("%d connections: %+v, text %q", conns, rec.Conn, rec.Text)
			}
			if noted(rec, "stream_limited") {
				limited++
			}
			if got := ms(rec, rec.T.First); got < 90 {
				t.Errorf("TTFT %v ms from the send; want 100 or more", got)
			}
		}
		if conns == 1 && limited < n-2*limit || conns == 8 && limited > 0 {
			t.Errorf("%d connections: %d of %d requests are marked", conns, limited, n)
		}
		if got := s.most.Load(); conns == 8 && got != 8 || conns == 1 && got < n/limit {
			t.Errorf("%d connections asked for, %d at once", conns, got)
		}
		if st := c.Stats(); st.Opened != s.opened.Load() {
			t.Errorf("stats say %d opened; the server saw %d", st.Opened, s.opened.Load())
		}
	}
}

func TestHTTP2WithoutTLS(t *testing.T) {
	s := serve(t, script{{0, text("a") + done}}, func(s *httptest.Server) {
		s.Config.Protocols = new(http.Protocols)
		s.Config.Protocols.SetUnencryptedHTTP2(true)
		s.Start()
	})
	rec := ask(t, client(t, s.URL, func(c *Config) { c.HTTP2 = 1 }))
	if rec.Status != archive.StatusOK || rec.Conn.Protocol != "HTTP/2.0" {
		t.Errorf("%+v %+v", rec.Error, rec.Conn)
	}
}

func TestHTTP2RefusesWhatItCannotDo(t *testing.T) {
	for _, cfg := range []Config{{HTTP2: -1}, {HTTP2: 1, Engine: EngineEventLoop}, {HTTP2: 1, MaxConns: 4}} {
		cfg.BaseURL, cfg.Model, cfg.Clock = "http://h", "m", archive.NewRunClock()
		if _, err := New(cfg); err == nil {
			t.Errorf("New(%+v) = nil error; want one", cfg)
		}
	}
}
