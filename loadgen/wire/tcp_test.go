package wire

import (
	"context"
	"crypto/tls"
	"encoding/pem"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/inferencebench/inferencebench/archive"
)

// counting is a server on loopback that counts connections.
type counting struct {
	*httptest.Server
	opened, open, most atomic.Int64
}

func serve(t *testing.T, h http.Handler, start func(*httptest.Server)) *counting {
	t.Helper()
	s := &counting{Server: httptest.NewUnstartedServer(h)}
	s.Config.ConnState = func(_ net.Conn, st http.ConnState) {
		switch st {
		case http.StateNew:
			s.opened.Add(1)
			n := s.open.Add(1)
			for m := s.most.Load(); n > m && !s.most.CompareAndSwap(m, n); m = s.most.Load() {
			}
		case http.StateClosed, http.StateHijacked:
			s.open.Add(-1)
		}
	}
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	start(s.Server)
	t.Cleanup(s.Server.Close)
	return s
}

func client(t *testing.T, url string, set func(*Config)) *Client {
	t.Helper()
	cfg := Config{BaseURL: url, Model: "m", Clock: archive.NewRunClock()}
	if set != nil {
		set(&cfg)
	}
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// wave makes n calls at once.
func wave(t *testing.T, c *Client, n int) []*archive.Request {
	recs := make([]*archive.Request, n)
	var wg sync.WaitGroup
	for i := range recs {
		recs[i] = &archive.Request{}
		wg.Go(func() { c.Do(t.Context(), &Call{Prompt: "x"}, recs[i]) })
	}
	wg.Wait()
	for i, rec := range recs {
		checkTimes(t, rec)
		if rec.Status != archive.StatusOK {
			t.Fatalf("call %d of %d: %+v", i, n, rec.Error)
		}
	}
	return recs
}

// meeting is a handler that answers when n requests are open, so that all are open at once.
func meeting(n int64) http.Handler {
	var here atomic.Int64
	all := make(chan struct{})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if here.Add(1) == n {
			close(all)
		}
		select {
		case <-all:
		case <-r.Context().Done():
		}
		stream(w, text("a"), usage(1, 1), done)
	})
}

// B56, B57: no hidden cap on connections, and a second wave that opens none.
func TestB56ThreeHundredAtOnce(t *testing.T) {
	s := serve(t, meeting(300), (*httptest.Server).Start)
	c := client(t, s.URL, nil)
	wave(t, c, 300)
	if got := s.most.Load(); got != 300 {
		t.Errorf("the server saw %d connections at once; want 300", got)
	}
	before := s.opened.Load()
	for _, rec := range wave(t, c, 300) {
		if !rec.Conn.Reused.Or(false) || rec.Conn.Dial.Known() {
			t.Fatalf("second wave: %+v; want a reused connection", rec.Conn)
		}
	}
	if got := s.opened.Load(); got != before {
		t.Errorf("the second wave opened %d connections; want 0", got-before)
	}
	if st := c.Stats(); st.Opened != 300 || st.Reused != 300 {
		t.Errorf("stats say %d opened, %d reused; want 300 and 300", st.Opened, st.Reused)
	}
}

// B57: the body is read to its end, so that a few connections carry many requests.
func TestB57Reuse(t *testing.T) {
	s := serve(t, script{{0, text("a")}, {0, usage(1, 1) + done}}, (*httptest.Server).Start)
	c := client(t, s.URL, nil)
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			for range 25 {
				rec := &archive.Request{}
				c.Do(t.Context(), &Call{Prompt: "x"}, rec)
				if rec.Status != archive.StatusOK {
					t.Errorf("%+v", rec.Error)
				}
			}
		})
	}
	wg.Wait()
	if got := s.opened.Load(); got > 40 {
		t.Errorf("500 requests of 20 workers opened %d connections; want at most 40", got)
	}
}

// B57: a machine out of ports or files is never the server's fault.
func TestB57ClientLimits(t *testing.T) {
	for errno, kind := range map[syscall.Errno]string{
		syscall.EADDRNOTAVAIL: archive.FailClientPorts, syscall.EMFILE: archive.FailClientFiles, syscall.ENFILE: archive.FailClientFiles,
		syscall.ECONNREFUSED: archive.FailConnect, syscall.ECONNRESET: archive.FailConnect,
	} {
		c := client(t, "http://127.0.0.1:9", nil)
		c.dialer = func(context.Context, string, string) (net.Conn, error) {
			return nil, &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", errno)}
		}
		rec := &archive.Request{}
		c.Do(t.Context(), &Call{Prompt: "x"}, rec)
		if rec.Status != archive.StatusFailed || rec.Error.Kind != kind || rec.Error.HTTPStatus.Known() {
			t.Errorf("%v: %+v; want %s", errno, rec.Error, kind)
		}
	}
}

func TestMaxConnsWaitIsRecorded(t *testing.T) {
	s := serve(t, script{{20, text("a") + done}}, (*httptest.Server).Start)
	c := client(t, s.URL, func(cfg *Config) { cfg.MaxConns = 1 })
	var wg sync.WaitGroup
	recs := make([]*archive.Request, 3)
	for i := range recs {
		recs[i] = &archive.Request{T: archive.Times{Intended: c.cfg.Clock.Now()}}
		wg.Go(func() { c.Do(t.Context(), &Call{Prompt: "x"}, recs[i]) })
	}
	wg.Wait()
	most := int64(0)
	for _, r := range recs {
		if r.Status != archive.StatusOK {
			t.Fatalf("%+v", r.Error)
		}
		most = max(most, r.Conn.Wait.Or(-1))
	}
	if most < int64(40*time.Millisecond) {
		t.Errorf("the longest wait is %v; want 40 ms or more: two answers of 20 ms go ahead", time.Duration(most))
	}
	if got := s.most.Load(); got != 1 {
		t.Errorf("%d connections at once; want 1", got)
	}
}

func TestRefusedConnection(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := ln.Addr().String()
	_ = ln.Close()
	rec := ask(t, client(t, "http://"+addr, nil))
	if rec.Status != archive.StatusFailed || rec.Error.Kind != archive.FailConnect || rec.T.Send.Known() || !rec.T.Done.Known() || !strings.Contains(rec.Error.Message, "refused") {
		t.Errorf("%+v %+v; want connect, not sent", rec.Error, rec.T)
	}
}

func TestConnectTimeout(t *testing.T) {
	c := client(t, "http://server", func(cfg *Config) { cfg.Timeouts.Connect = 20 * time.Millisecond })
	c.dialer = func(ctx context.Context, _, _ string) (net.Conn, error) {
		<-ctx.Done()
		return nil, &net.OpError{Op: "dial", Err: ctx.Err()}
	}
	rec := ask(t, c)
	if rec.Status != archive.StatusFailed || rec.Error.Kind != archive.FailTimeoutConnect || !strings.Contains(rec.Error.Message, "20ms") {
		t.Errorf("%+v; want timeout_connect that names the limit", rec.Error)
	}
}

func TestB92IPv6(t *testing.T) {
	ln, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		t.Skipf("this machine has no IPv6 loopback: %v", err)
	}
	s := serve(t, script{{0, text("six") + done}}, func(s *httptest.Server) {
		_ = s.Listener.Close()
		s.Listener = ln
		s.Start()
	})
	if rec := ask(t, client(t, s.URL, nil)); rec.Status != archive.StatusOK || rec.Text != "six" {
		t.Errorf("%s: %+v", s.URL, rec.Error)
	}
}

func TestB93Certificates(t *testing.T) {
	s := serve(t, script{{0, text("tls") + done}}, (*httptest.Server).StartTLS)
	rec := ask(t, client(t, s.URL, nil))
	if rec.Status != archive.StatusFailed || rec.Error.Kind != archive.FailTLS || !strings.Contains(rec.Error.Message, "certificate") {
		t.Errorf("unknown authority: %+v; want tls, with the word certificate", rec.Error)
	}
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, set := range map[string]func(*Config){
		"the authority's file": func(c *Config) { c.CAFile = file },
		"insecure":             func(c *Config) { c.Insecure = true },
	} {
		rec := ask(t, client(t, s.URL, set))
		if rec.Status != archive.StatusOK || rec.Text != "tls" || !rec.Conn.TLS.Known() || !rec.Conn.Dial.Known() {
			t.Errorf("%s: %+v %+v; want ok with the handshake timed", name, rec.Error, rec.Conn)
		}
		if want := stampHere(); rec.Conn.Stamp != want {
			t.Errorf("%s: stamps by %s; want %s, taken below TLS", name, rec.Conn.Stamp, want)
		}
	}
	if err := os.WriteFile(file, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := New(Config{BaseURL: s.URL, Model: "m", Clock: archive.NewRunClock(), CAFile: file}); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("a file without certificates: %v; want an error that names it", err)
	}
}

func TestPlainServerBehindHTTPS(t *testing.T) {
	s := serve(t, script{{0, text("x") + done}}, (*httptest.Server).Start)
	rec := ask(t, client(t, strings.Replace(s.URL, "http:", "https:", 1), nil))
	if rec.Status != archive.StatusFailed || rec.Error.Kind != archive.FailTLS {
		t.Errorf("%+v; want tls", rec.Error)
	}
}

// B126: a server that offers HTTP/2 still gets a connection for each request at once.
func TestB126OwnConnections(t *testing.T) {
	s := serve(t, meeting(40), func(s *httptest.Server) {
		s.EnableHTTP2 = true
		s.TLS = &tls.Config{NextProtos: []string{"h2", "http/1.1"}}
		s.StartTLS()
	})
	c := client(t, s.URL, func(cfg *Config) { cfg.Insecure = true })
	for _, rec := range wave(t, c, 40) {
		if rec.Conn.Protocol != "HTTP/1.1" {
			t.Fatalf("protocol %s; want HTTP/1.1", rec.Conn.Protocol)
		}
	}
	if got := c.Stats().Opened; got != 40 || s.most.Load() != 40 {
		t.Errorf("%d connections opened, %d at once; want 40", got, s.most.Load())
	}
}

func TestB63Proxies(t *testing.T) {
	env := func(kv ...string) func(string) string {
		return func(name string) string {
			for i := 0; i < len(kv); i += 2 {
				if kv[i] == name {
					return kv[i+1]
				}
			}
			return ""
		}
	}
	const proxy = "http://proxy:3128"
	for _, tt := range []struct {
		why, target string
		env         func(string) string
		want        string
	}{
		{"loopback never", "http://127.0.0.1:8000", env("HTTP_PROXY", proxy), ""},
		{"localhost never", "http://localhost:8000", env("http_proxy", proxy), ""},
		{"IPv6 loopback never", "http://[::1]:8000", env("HTTP_PROXY", proxy), ""},
		{"a CIDR range", "http://10.1.2.3:8000", env("HTTP_PROXY", proxy, "NO_PROXY", "10.0.0.0/8"), ""},
		{"outside the range", "http://11.1.2.3:8000", env("HTTP_PROXY", proxy, "NO_PROXY", "10.0.0.0/8"), proxy},
		{"no list", "http://10.1.2.3:8000", env("HTTP_PROXY", proxy), proxy},
		{"the scheme's own variable", "https://h", env("HTTP_PROXY", proxy), ""},
		{"https", "https://h", env("HTTPS_PROXY", "proxy:3128"), proxy},
		{"all", "https://h", env("ALL_PROXY", proxy), proxy},
		{"a domain", "http://a.example.com", env("HTTP_PROXY", proxy, "no_proxy", "x, .example.com"), ""},
		{"not a domain's end by letters", "http://anexample.com", env("HTTP_PROXY", proxy, "no_proxy", "example.com"), proxy},
		{"a port that differs", "http://h:8000", env("HTTP_PROXY", proxy, "NO_PROXY", "h:9000"), proxy},
		{"a port that agrees", "http://h:8000", env("HTTP_PROXY", proxy, "NO_PROXY", "h:8000"), ""},
		{"everything", "http://h", env("HTTP_PROXY", proxy, "NO_PROXY", "*"), ""},
	} {
		if got, err := ProxyFor(tt.target, tt.env); err != nil || got != tt.want {
			t.Errorf("%s: ProxyFor(%s) = %q, %v; want %q", tt.why, tt.target, got, err, tt.want)
		}
	}

	// A proxy that is down is named; the environment alone changes nothing.
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	dead := "http://" + ln.Addr().String()
	_ = ln.Close()
	rec := ask(t, client(t, "http://10.1.2.3:8000", func(c *Config) { c.Proxy = dead }))
	if rec.Status != archive.StatusFailed || rec.Error.Kind != archive.FailConnect || !strings.Contains(rec.Error.Message, "proxy "+dead) {
		t.Errorf("%+v; want connect, with the proxy named", rec.Error)
	}
	t.Setenv("HTTP_PROXY", dead)
	s := serve(t, script{{0, text("direct") + done}}, (*httptest.Server).Start)
	if rec := ask(t, client(t, s.URL, nil)); rec.Text != "direct" {
		t.Errorf("with HTTP_PROXY set and no proxy asked for: %+v", rec.Error)
	}
}

func TestThroughAProxy(t *testing.T) {
	target := serve(t, script{{0, text("through") + done}}, (*httptest.Server).Start)
	var seen atomic.Int64
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen.Add(1)
		out, err := http.NewRequest(r.Method, target.URL+r.URL.Path, r.Body)
		if err != nil {
			t.Error(err)
			return
		}
		resp, err := http.DefaultTransport.RoundTrip(out)
		if err != nil {
			t.Error(err)
			return
		}
		defer resp.Body.Close()
		w.Header().Set("Content-Type", resp.Header.Get("Content-Type"))
		_, _ = io.Copy(w, resp.Body)
	}))
	defer proxy.Close()
	c := client(t, "http://model.internal:8000", func(cfg *Config) { cfg.Proxy = proxy.URL })
	if rec := ask(t, c); rec.Text != "through" || seen.Load() != 1 || c.Proxy() != proxy.URL {
		t.Errorf("%+v, %d requests seen by the proxy %s", rec.Error, seen.Load(), c.Proxy())
	}
}

func TestUnixSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	ln, err := net.Listen("unix", path)
	if err != nil {
		t.Skipf("no Unix sockets here: %v", err)
	}
	serve(t, script{{0, text("unix") + done}}, func(s *httptest.Server) {
		_ = s.Listener.Close()
		s.Listener = ln
		s.Start()
	})
	rec := ask(t, client(t, "http://engine", func(c *Config) { c.UnixSocket = path }))
	if rec.Status != archive.StatusOK || rec.Text != "unix" || rec.Conn.Stamp != "user" {
		t.Errorf("%+v %+v; want ok, with user stamps", rec.Error, rec.Conn)
	}
}

func stampHere() string {
	if runtime.GOOS == "linux" {
		return "kernel"
	}
	return "user"
}

// The kernel's stamps do not depend on when this process reads: a reader that is late by
// 200 ms still gets the times at which the bytes came.
func TestKernelStamps(t *testing.T) {
	if stampHere() != "kernel" {
		t.Skip("this system gives no receive stamps")
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	clock := archive.NewRunClock()
	c := client(t, "http://"+ln.Addr().String(), func(cfg *Config) { cfg.Clock = clock })
	conn, err := c.open(t.Context(), "tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	peer, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer peer.Close()
	buf := make([]byte, 16)
	// The kernel turns stamping on a moment after the first socket asks for it.
	for range 100 {
		if _, err := peer.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Read(buf); err != nil {
			t.Fatal(err)
		}
		if c.lag.count.Load() > 0 {
			break
		}
		<-time.After(10 * time.Millisecond)
	}
	warm := c.lag.count.Load()
	for i := range 3 {
		before := clock.Now()
		if _, err := peer.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
		after := clock.Now()
		<-time.After(50 * time.Millisecond)
		if n, err := conn.Read(buf); n != 1 || err != nil {
			t.Fatalf("read %d, %v", n, err)
		}
		a := conn.look(conn.cur).last
		if a.at < before-100_000 || a.at > after+10_000_000 || a.user.Sub(a.at) < 30*time.Millisecond {
			t.Errorf("read %d: written within %v…%v, stamped %v, read at %v; want the stamp by the write", i, before, after, a.at, a.user)
		}
	}
	if s := c.Stats(); s.StampClock != "kernel" || s.LagReads != warm+3 || s.LagMax.Or(0) < 30*time.Millisecond {
		t.Errorf("stats %+v; want three reads with the lag of the reader", s)
	}
}

func TestRecordOverTCP(t *testing.T) {
	s := serve(t, script{{5, role}, {20, text("a")}, {40, text("b")}, {50, finish("stop") + usage(3, 2) + done}}, (*httptest.Server).Start)
	for _, user := range []bool{false, true} {
		c := client(t, s.URL, func(cfg *Config) { cfg.UserStamps = user })
		rec := ask(t, c)
		if rec.Status != archive.StatusOK || rec.Text != "ab" || len(rec.Chunks.T) != 2 || rec.Conn.Protocol != "HTTP/1.1" || rec.Conn.Reused.Or(true) {
			t.Fatalf("%+v", rec)
		}
		if got := ms(rec, rec.T.First); got < 19 || got > 5000 {
			t.Errorf("TTFT %v ms; want about 20", got)
		}
		if gap := rec.Chunks.T[1].Sub(rec.Chunks.T[0]); gap < 5*time.Millisecond {
			t.Errorf("gap %v; want about 20 ms", gap)
		}
		if rec.Conn.Lag.Known() == user || (rec.Conn.Stamp == "user") != (user || stampHere() == "user") {
			t.Errorf("stamps by %s, lag %v, with user stamps %v", rec.Conn.Stamp, rec.Conn.Lag, user)
		}
	}
}

func TestLagHistogram(t *testing.T) {
	var h lagHistogram
	if _, ok := h.Quantile(0.5); ok {
		t.Error("an empty histogram has a quantile")
	}
	for i := range 10000 {
		h.Record(int64(i * 1000))
	}
	for q, exact := range map[float64]float64{0.5: 5e6, 0.9: 9e6, 0.99: 9.9e6, 1: 9.999e6} {
		got, ok := h.Quantile(q)
		if !ok || float64(got) < exact*0.99 || float64(got) > exact*1.13 {
			t.Errorf("quantile %v = %v; want %v or up to 12.5 %% more", q, got, exact)
		}
	}
	for _, v := range []uint64{0, 1, 7, 8, 9, 15, 16, 1000, 1 << 40, 1<<63 - 1} {
		i := bucketOf(v)
		if upper := upperOf(i); upper < v || i > 0 && upperOf(i-1) >= v {
			t.Errorf("%d lies in bucket %d, which ends at %d", v, i, upper)
		}
	}
}

// B71: a step of the wall clock does not move the instants of a run. A stamp that lies
// ahead of the present, or far behind it, has the offset measured anew.
func TestB71WallClockSteps(t *testing.T) {
	clock := archive.NewRunClock()
	w := newWallClock(clock)
	for _, step := range []time.Duration{3 * time.Second, -3 * time.Second, time.Hour, 2 * time.Millisecond} {
		steps := w.steps.Load()
		w.offset.Add(int64(step)) // as if the wall clock had stepped by -step since it was measured
		wall := time.Now().UnixNano()
		now := clock.Now()
		at := w.instant(wall, now)
		if far := now.Sub(at); far < 0 || far > 50*time.Millisecond {
			t.Errorf("after a step of %v a stamp of the present is %v old", -step, far)
		}
		if step > 0 && step < 100*time.Millisecond {
			continue // within what may be lag: mended at the next measurement, within a second
		}
		if got := w.steps.Load() - steps; got != 1 {
			t.Errorf("a step of %v was counted %d times", -step, got)
		}
	}
	now := clock.Now()
	if at := w.instant(time.Now().Add(time.Hour).UnixNano(), now); at != now {
		t.Errorf("a stamp of the future = %v; want the present, %v", at, now)
	}
}
