package campaign

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/inferencebench/inferencebench/monitor/live"
)

// servePage serves the run's live metrics until the returned function is called. An
// address that other machines can reach must be asked for by name: an empty host is this
// machine alone.
func servePage(ctx context.Context, addr string, page *live.Page) (url string, stop func(), err error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return "", nil, fmt.Errorf("%q is not an address such as 127.0.0.1:9464", addr)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", net.JoinHostPort(host, port))
	if err != nil {
		return "", nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", page)
	srv := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = srv.Serve(l) // ends by Close
	}()
	return "http://" + l.Addr().String() + "/metrics", func() {
		_ = srv.Close()
		<-done
	}, nil
}
