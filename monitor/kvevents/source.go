package kvevents

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/inferencebench/inferencebench/archive"
)

// retry is the time between tries to connect.
const retry = time.Second

// Source counts the events of one publisher. As a telemetry source its Read tells the
// counts; its Watch keeps the connection. It is safe for concurrent use.
type Source struct {
	where  string
	addr   string
	listen bool

	mu     sync.Mutex
	counts Batch
	n      int
	lost   uint64
	seq    map[string]uint64 // the last number of each topic
	open   bool
	err    error
	ready  chan struct{} // closed when an address listens; tests wait for it
	bound  net.Addr
}

// Open says where the events come from: "tcp://HOST:PORT" to connect to the server, or
// "listen:ADDRESS" for a server that connects to us. Nothing is opened yet.
func Open(where string) (*Source, error) {
	s := &Source{where: where, seq: map[string]uint64{}, ready: make(chan struct{}), err: errors.New("not connected yet")}
	if addr, ok := strings.CutPrefix(where, "listen:"); ok {
		s.addr, s.listen = addr, true
	} else if addr, ok := strings.CutPrefix(where, "tcp://"); ok {
		s.addr = addr
	} else {
		return nil, fmt.Errorf("KV events at %q: give tcp://HOST:PORT or listen:ADDRESS", where)
	}
	if _, port, err := net.SplitHostPort(s.addr); err != nil || port == "" {
		return nil, fmt.Errorf("KV events at %q: the address needs a host and a port", where)
	}
	return s, nil
}

// Kind is archive.SourceEngine.
func (s *Source) Kind() string { return archive.SourceEngine }

// Target is where the events come from.
func (s *Source) Target() string { return "kv_events " + s.where }

// Read tells the counts so far. It fails while no publisher is connected.
func (s *Source) Read(context.Context) (map[string]float64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.open {
		return nil, fmt.Errorf("KV events: %w", s.err)
	}
	return map[string]float64{
		"kv_blocks_stored_total": float64(s.counts.Stored), "kv_blocks_removed_total": float64(s.counts.Removed), "kv_cache_cleared_total": float64(s.counts.Cleared),
		"kv_event_batches_total": float64(s.n), "kv_event_batches_lost_total": float64(s.lost),
	}, nil
}

// Watch keeps connected until ctx is done. A publisher that goes away is waited for.
func (s *Source) Watch(ctx context.Context, _ archive.Clock, _ func(archive.Event)) error {
	if s.listen {
		return s.accept(ctx)
	}
	var d net.Dialer
	for ctx.Err() == nil {
		c, err := d.DialContext(ctx, "tcp", s.addr)
		if err == nil {
			err = s.serve(ctx, c)
		}
		s.closed(err)
		select {
		case <-ctx.Done():
		case <-time.After(retry):
		}
	}
	return nil
}

func (s *Source) accept(ctx context.Context) error {
	l, err := net.Listen("tcp", s.addr)
	if err != nil {
		return fmt.Errorf("KV events: %w", err)
	}
	s.bound = l.Addr()
	close(s.ready)
	stop := context.AfterFunc(ctx, func() { _ = l.Close() })
	defer stop()
	for {
		c, err := l.Accept()
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return fmt.Errorf("KV events: %w", err)
		}
		s.closed(s.serve(ctx, c))
	}
}

func (s *Source) closed(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open = false
	if s.err = err; err == nil {
		s.err = errors.New("the publisher went away")
	}
}

// serve takes messages from one connection until it ends.
func (s *Source) serve(ctx context.Context, c net.Conn) error {
	defer c.Close()
	stop := context.AfterFunc(ctx, func() { _ = c.Close() })
	defer stop()
	r := bufio.NewReader(c)
	if err := greet(c, r); err != nil {
		return err
	}
	s.mu.Lock()
	s.open = true
	s.mu.Unlock()
	for {
		parts, err := readMessage(r)
		if err != nil {
			return err
		}
		if err := s.take(parts); err != nil {
			return err
		}
	}
}

// maxTopics bounds the numbering that is kept.
const maxTopics = 1024

// take counts one message: a topic, a number, and the batch.
func (s *Source) take(parts [][]byte) error {
	if len(parts) < 3 || len(parts[1]) != 8 {
		return errShape
	}
	b, err := Decode(parts[2])
	if err != nil {
		return err
	}
	topic, seq := string(parts[0]), binary.BigEndian.Uint64(parts[1])
	s.mu.Lock()
	defer s.mu.Unlock()
	if last, ok := s.seq[topic]; ok && seq > last+1 {
		s.lost += seq - last - 1
	}
	if _, ok := s.seq[topic]; ok || len(s.seq) < maxTopics {
		s.seq[topic] = seq
	}
	s.n++
	s.counts.Stored += b.Stored
	s.counts.Removed += b.Removed
	s.counts.Cleared += b.Cleared
	s.counts.Events += b.Events
	return nil
}
