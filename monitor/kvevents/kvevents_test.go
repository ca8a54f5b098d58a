package kvevents

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"net"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/inferencebench/inferencebench/archive"
)

func str(s string) []byte { return append([]byte{0xa0 | byte(len(s))}, s...) }

func list(items ...[]byte) []byte {
	return append([]byte{0x90 | byte(len(items))}, bytes.Join(items, nil)...)
}

func pairs(items ...[]byte) []byte {
	return append([]byte{0x80 | byte(len(items)/2)}, bytes.Join(items, nil)...)
}

var (
	now   = []byte{0xcb, 0x41, 0xd9, 0, 0, 0, 0, 0, 0}
	hash  = []byte{0xcf, 1, 2, 3, 4, 5, 6, 7, 8}
	small = []byte{0x07}
	null  = []byte{0xc0}
)

// batch has three blocks stored, two removed and one clearing, in lists and in maps.
func batch() []byte {
	return list(now, list(
		list(str("BlockStored"), list(hash, hash, hash), null, list(small, small), small, null),
		pairs(str("type"), str("BlockRemoved"), str("block_hashes"), list(hash, hash), str("medium"), str("GPU")),
		list(str("AllBlocksCleared")),
		list(str("SomethingNew"), small),
	), small)
}

func TestDecode(t *testing.T) {
	got, err := Decode(batch())
	if d := cmp.Diff(Batch{Stored: 3, Removed: 2, Cleared: 1, Events: 4}, got); d != "" || err != nil {
		t.Errorf("Decode: %v (-want +got):\n%s", err, d)
	}
	wrapped := append([]byte{0xc4, 0}, list(str("BlockStored"), list(hash))...)
	wrapped[1] = byte(len(wrapped) - 2)
	if got, err := Decode(list(now, list(wrapped))); err != nil || got.Stored != 1 || got.Events != 1 {
		t.Errorf("a wrapped event: %+v, %v", got, err)
	}
	for why, b := range map[string][]byte{
		"nothing": nil, "no list": small, "no events": list(now), "cut off": batch()[:30], "an unused code": list(now, list([]byte{0xc1})),
		"a length beyond the end": list(now, []byte{0xdd, 0xff, 0xff, 0xff, 0xff}), "nested without end": bytes.Repeat([]byte{0x92}, 1000),
	} {
		if got, err := Decode(b); err == nil {
			t.Errorf("%s: Decode = %+v; want an error", why, got)
		}
	}
}

// publisher speaks the other side's part over a connection.
func publisher(t *testing.T, c net.Conn) *bufio.Reader {
	t.Helper()
	r := bufio.NewReader(c)
	hello := make([]byte, 64)
	hello[0], hello[9], hello[10], hello[11] = 0xff, 0x7f, 3, 1
	copy(hello[12:], "NULL")
	if _, err := c.Write(hello); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(r, make([]byte, 64)); err != nil {
		t.Fatal(err)
	}
	if err := writeFrame(c, frameCommand, append([]byte("\x05READY\x0bSocket-Type"), 0, 0, 0, 3, 'P', 'U', 'B')); err != nil {
		t.Fatal(err)
	}
	if flags, body, err := readFrame(r); err != nil || flags != frameCommand || !bytes.Contains(body, []byte("SUB")) {
		t.Fatalf("READY: %x %q %v", flags, body, err)
	}
	if flags, body, err := readFrame(r); err != nil || flags != 0 || !bytes.Equal(body, []byte{1}) {
		t.Fatalf("subscription: %x %q %v", flags, body, err)
	}
	return r
}

func publish(t *testing.T, c net.Conn, seq uint64, payload []byte) {
	t.Helper()
	_ = writeFrame(c, frameCommand, []byte("\x04PING")) // passed over
	_ = writeFrame(c, frameMore, []byte("kv@pod@m"))
	_ = writeFrame(c, frameMore, binary.BigEndian.AppendUint64(nil, seq))
	long := binary.BigEndian.AppendUint64([]byte{frameLong}, uint64(len(payload)))
	if _, err := c.Write(append(long, payload...)); err != nil {
		t.Fatal(err)
	}
}

// wait reads until the counts are as wanted.
func wait(t *testing.T, s *Source, batches float64) map[string]float64 {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		if v, err := s.Read(ctx); err == nil && v["kv_event_batches_total"] == batches {
			return v
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("never saw %v batches", batches)
		}
	}
}

func TestPublisherConnects(t *testing.T) {
	s, err := Open("listen:127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Read(t.Context()); err == nil {
		t.Error("counts are told before anyone is connected")
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- s.Watch(ctx, archive.NewRunClock(), nil) }()
	<-s.ready
	for i := range 2 { // the publisher goes away and comes back
		c, err := net.Dial("tcp", s.bound.String())
		if err != nil {
			t.Fatal(err)
		}
		publisher(t, c)
		publish(t, c, uint64(5*i), batch())
		publish(t, c, uint64(5*i+1), batch())
		v := wait(t, s, float64(2*i+2))
		if v["kv_blocks_stored_total"] != float64(6*(i+1)) || v["kv_blocks_removed_total"] != float64(4*(i+1)) || v["kv_cache_cleared_total"] != float64(2*(i+1)) || v["kv_event_batches_lost_total"] != float64(3*i) {
			t.Errorf("counts %v after round %d", v, i)
		}
		c.Close()
	}
	cancel()
	if err := <-done; err != nil {
		t.Errorf("Watch: %v", err)
	}
}

func TestWeConnect(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	s, err := Open("tcp://" + l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- s.Watch(ctx, archive.NewRunClock(), nil) }()
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	publisher(t, c)
	publish(t, c, 1, batch())
	wait(t, s, 1)
	cancel()
	if err := <-done; err != nil {
		t.Errorf("Watch: %v", err)
	}
	c.Close()
}

func TestOpen(t *testing.T) {
	for _, where := range []string{"", "127.0.0.1:5557", "tcp://", "tcp://h", "listen:"} {
		if _, err := Open(where); err == nil {
			t.Errorf("Open(%q) is no error", where)
		}
	}
}

func TestGreetRefuses(t *testing.T) {
	for why, hello := range map[string]string{
		"a web server": "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n" + string(make([]byte, 64)),
		"a mechanism":  "\xff\x00\x00\x00\x00\x00\x00\x00\x00\x7f\x03\x00CURVE" + string(make([]byte, 47)),
	} {
		a, b := net.Pipe()
		go func() {
			_, _ = io.CopyN(io.Discard, b, 64)
			_, _ = b.Write([]byte(hello))
			b.Close()
		}()
		if err := greet(a, bufio.NewReader(a)); err == nil {
			t.Errorf("%s is taken for a publisher", why)
		}
		a.Close()
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(batch())
	f.Add([]byte{0x92, 0xc0, 0xdc, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := Decode(b)
		if err == nil && (got.Stored > len(b) || got.Removed > len(b)) {
			t.Fatalf("%+v from %d bytes", got, len(b))
		}
	})
}
