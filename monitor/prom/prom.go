// Package prom reads a server's metrics page over HTTP.
package prom

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/engines"
	"github.com/inferencebench/inferencebench/engines/expo"
)

// Source reads one metrics page. It is used by one goroutine at a time.
type Source struct {
	client  *http.Client
	url     string
	target  string
	header  http.Header
	adapter *engines.Adapter
	notes   []archive.Annotation
	conn    net.Conn // of the last reading
	mark    float64  // of the server's process, at the last reading; 0 when it gives none
}

// New reads the page at url with the adapter's names. header is sent with each request.
func New(client *http.Client, url string, header http.Header, a *engines.Adapter) *Source {
	return &Source{client: client, url: url, target: engines.Redact(url), header: header, adapter: a}
}

// Kind is archive.SourceEngine.
func (s *Source) Kind() string { return archive.SourceEngine }

// Target is the page's address without credentials.
func (s *Source) Target() string { return s.target }

// Annotations returns what was odd about the last page.
func (s *Source) Annotations() []archive.Annotation { return s.notes }

// Read fetches and reads the page once. Values have canonical names; see package engines.
// Beside them, on Linux, are scrape_tcp_rtt_seconds and scrape_tcp_retransmits: the round
// trip to the server as the kernel measured it on the connection that the page came over;
// and process_start_mark, from the header Process-Start-Time-Unix of llama.cpp: not a time
// that can be relied on, but another number after each start.
// The error never holds credentials.
func (s *Source) Read(ctx context.Context) (map[string]float64, error) {
	s.notes = nil
	b, err := s.fetch(ctx)
	if err != nil {
		return nil, err
	}
	values, notes, err := s.adapter.Signals(b)
	s.notes = notes
	if err == nil && s.mark != 0 {
		values["process_start_mark"] = s.mark
	}
	if err == nil && s.conn != nil {
		if p, ok := tcpInfo(s.conn); ok {
			values["scrape_tcp_rtt_seconds"] = p.rtt.Seconds()
			values["scrape_tcp_retransmits"] = float64(p.retransmits)
		}
	}
	return values, err
}

func (s *Source) fetch(ctx context.Context) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url, nil)
	if err != nil {
		return nil, errors.New("the metrics address is not a URL")
	}
	if s.header != nil {
		req.Header = s.header.Clone()
	}
	s.conn = nil
	req = req.WithContext(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(i httptrace.GotConnInfo) { s.conn = i.Conn }}))
	// The classic format: OpenMetrics pages are read too, but say nothing more.
	req.Header.Set("Accept", "text/plain;version=0.0.4;q=1,*/*;q=0.1")
	resp, err := s.client.Do(req)
	if err != nil {
		var ue *url.Error
		if errors.As(err, &ue) {
			err = ue.Err // the outer text repeats the address
		}
		return nil, fmt.Errorf("read metrics page: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		_, _ = io.CopyN(io.Discard, resp.Body, 4096) // so that the connection can be used again
		return nil, fmt.Errorf("read metrics page: status %d", resp.StatusCode)
	}
	s.mark = 0
	if m, err := strconv.ParseFloat(resp.Header.Get("Process-Start-Time-Unix"), 64); err == nil && m > 0 && m < 1e18 {
		s.mark = m
	}
	b, err := io.ReadAll(io.LimitReader(resp.Body, expo.MaxPage+1))
	if err != nil {
		return nil, fmt.Errorf("read metrics page: %w", err)
	}
	return b, nil
}
