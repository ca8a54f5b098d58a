package campaign

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"
)

// RoundTrip is the median of n requests for the server's /health page over an open
// connection: what the path and the front end cost without the engine. Any answer counts,
// because a server without that page answers as fast that there is none.
func (t Target) RoundTrip(ctx context.Context, n int, getenv func(string) string) (time.Duration, error) {
	w, err := t.reach(t.URL, getenv)
	if err != nil {
		return 0, err
	}
	defer w.side.CloseIdleConnections()
	var took []time.Duration
	for i := range n + 1 {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, w.base+"/health", nil)
		if err != nil {
			return 0, fmt.Errorf("round trip: %w", err)
		}
		req.Header = w.sideHeader.Clone()
		start := time.Now()
		resp, err := w.side.Do(req)
		if err != nil {
			return 0, fmt.Errorf("round trip: %w", err)
		}
		_, err = io.Copy(io.Discard, io.LimitReader(resp.Body, 1<<20))
		_ = resp.Body.Close()
		if err != nil {
			return 0, fmt.Errorf("round trip: %w", err)
		}
		if i > 0 { // the first one connects
			took = append(took, time.Since(start))
		}
	}
	slices.Sort(took)
	return took[len(took)/2], nil
}
