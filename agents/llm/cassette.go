package llm

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
)

// ErrNotOnCassette is in the chain of the error for a request that was never recorded.
var ErrNotOnCassette = errors.New("the request is not on the cassette")

// exchange is one line of a cassette: a request and its response, without any header, so
// that no key can be in it.
type exchange struct {
	Key    string `json:"key"` // SHA-256 of method, path and body
	Method string `json:"method"`
	Path   string `json:"path"`
	Body   string `json:"body"`
	Status int    `json:"status"`
	Reply  string `json:"reply"`
}

// Limits of one recorded body and of one line of a cassette, in bytes.
const (
	maxBody         = 8 << 20
	maxCassetteLine = 64 << 20
)

// Cassette is an http.RoundTripper that records exchanges, or plays recorded ones back
// and never dials. Requests are told apart by method, path and body; the same request
// made again gets the next of its recorded answers, and the last one from then on, so a
// playback does not depend on how concurrent calls interleave. It is safe for concurrent
// use.
type Cassette struct {
	next http.RoundTripper // nil plays back

	mu     sync.Mutex
	w      io.Writer
	byKey  map[string][]exchange
	played map[string]int
	missed int
}

// RecordTo makes a cassette that passes requests on to next and writes every exchange to w.
func RecordTo(next http.RoundTripper, w io.Writer) *Cassette { return &Cassette{next: next, w: w} }

// Play reads a cassette.
func Play(r io.Reader) (*Cassette, error) {
	c := &Cassette{byKey: map[string][]exchange{}, played: map[string]int{}}
	sc := bufio.NewScanner(r)
	sc.Buffer(make([]byte, 0, 64<<10), maxCassetteLine)
	for n := 1; sc.Scan(); n++ {
		line := bytes.TrimSpace(bytes.TrimPrefix(sc.Bytes(), []byte("\xef\xbb\xbf")))
		if len(line) == 0 {
			continue
		}
		var e exchange
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, fmt.Errorf("cassette line %d: %w", n, err)
		}
		if e.Key != keyOf(e.Method, e.Path, []byte(e.Body)) {
			return nil, fmt.Errorf("cassette line %d: the key is not that of the request", n)
		}
		c.byKey[e.Key] = append(c.byKey[e.Key], e)
	}
	if err := sc.Err(); err != nil {
		return nil, fmt.Errorf("cassette: %w", err)
	}
	return c, nil
}

// Open plays the cassette in a file.
func Open(path string) (*Cassette, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("cassette: %w", err)
	}
	defer f.Close()
	return Play(f)
}

// Missed is how many requests were not on the cassette.
func (c *Cassette) Missed() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.missed
}

func keyOf(method, path string, body []byte) string {
	h := sha256.New()
	for _, b := range [][]byte{[]byte(method), {0}, []byte(path), {0}, body} {
		_, _ = h.Write(b) // a hash's Write returns no error
	}
	return hex.EncodeToString(h.Sum(nil))
}

// RoundTrip implements http.RoundTripper.
func (c *Cassette) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		b, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
		_ = r.Body.Close() // it was read to its end
		if err != nil {
			return nil, err
		}
		if len(b) > maxBody {
			return nil, fmt.Errorf("cassette: a request body of more than %d bytes", maxBody)
		}
		body = b
	}
	e := exchange{Key: keyOf(r.Method, r.URL.Path, body), Method: r.Method, Path: r.URL.Path, Body: string(body)}
	if c.next == nil {
		return c.play(r, e)
	}
	return c.record(r, e)
}

func (c *Cassette) play(r *http.Request, e exchange) (*http.Response, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := c.byKey[e.Key]
	if len(list) == 0 {
		c.missed++
		return nil, fmt.Errorf("%w: %s %s, key %.12s…", ErrNotOnCassette, e.Method, e.Path, e.Key)
	}
	n := min(c.played[e.Key], len(list)-1)
	c.played[e.Key]++
	return response(r, list[n]), nil
}

func (c *Cassette) record(r *http.Request, e exchange) (*http.Response, error) {
	out := r.Clone(r.Context())
	out.Body = io.NopCloser(bytes.NewReader([]byte(e.Body)))
	resp, err := c.next.RoundTrip(out)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	reply, err := io.ReadAll(io.LimitReader(resp.Body, maxBody))
	if err != nil {
		return nil, err
	}
	e.Status, e.Reply = resp.StatusCode, string(reply)
	line, err := json.Marshal(e)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	_, err = c.w.Write(append(line, '\n'))
	c.mu.Unlock()
	if err != nil {
		return nil, fmt.Errorf("cassette: %w", err)
	}
	back := response(r, e)
	back.Header = resp.Header
	return back, nil
}

func response(r *http.Request, e exchange) *http.Response {
	return &http.Response{
		StatusCode: e.Status, Status: fmt.Sprintf("%d %s", e.Status, http.StatusText(e.Status)), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader([]byte(e.Reply))), ContentLength: int64(len(e.Reply)), Request: r,
	}
}
