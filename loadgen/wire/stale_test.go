package wire

import (
	"bufio"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/tasks"
)

// TestStaleConnection: a server that closes idle connections, as they all do after some
// seconds, makes no failed requests: the request goes out again on a new connection.
func TestStaleConnection(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	var served atomic.Int64
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() { // one exchange, promising more, then closed
				defer conn.Close()
				req, err := http.ReadRequest(bufio.NewReader(conn))
				if err != nil {
					return
				}
				_, _ = req.Body.Read(make([]byte, 1<<16))
				served.Add(1)
				body := "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"
				_, _ = conn.Write([]byte("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n" + body))
			}()
		}
	}()
	c, err := New(Config{BaseURL: "http://" + l.Addr().String(), Model: "m", Clock: archive.NewRunClock()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	for i := range 20 {
		rec := &archive.Request{}
		c.Do(t.Context(), &Call{Messages: []tasks.Message{{Role: "user", Content: "hi"}}}, rec)
		if rec.Status != archive.StatusOK {
			t.Fatalf("request %d: %s, %+v; want ok on a new connection", i, rec.Status, rec.Error)
		}
		if len(rec.Attempts) != 0 {
			t.Fatalf("request %d: attempts = %v; the server never saw the lost one", i, rec.Attempts)
		}
	}
	if n := served.Load(); n != 20 {
		t.Errorf("the server served %d requests; want each once", n)
	}
}
