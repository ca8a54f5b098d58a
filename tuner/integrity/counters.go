package integrity

import (
	"context"
	"io"
	"net/http"

	"github.com/inferencebench/inferencebench/engines"
)

const maxPage = 8 << 20 // bytes of a metrics page

// counters reads the server's metrics page, or nil where it shows none.
func counters(ctx context.Context, s Subject, id engines.Identity) map[string]float64 {
	if id.MetricsURL == "" {
		return nil
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, id.MetricsURL, nil)
	if err != nil {
		return nil
	}
	for k, v := range s.Header {
		req.Header[k] = v
	}
	resp, err := s.HTTP.Do(req)
	if err != nil {
		return nil
	}
	defer resp.Body.Close()
	page, err := io.ReadAll(io.LimitReader(resp.Body, maxPage))
	if err != nil || resp.StatusCode != http.StatusOK {
		return nil
	}
	v, _, err := id.Adapter.Signals(page)
	if err != nil {
		return nil
	}
	return v
}

// rise is by how much a counter rose, or -1 where that is not known.
func rise(before, after map[string]float64, name string) float64 {
	a, ok := before[name]
	b, ok2 := after[name]
	if !ok || !ok2 || b < a {
		return -1
	}
	return b - a
}
