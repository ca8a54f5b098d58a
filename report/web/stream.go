package web

import (
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"time"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/report"
)

// live shows the page that follows a run.
func (s *Server) live(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	run, ok := s.open(w, id)
	if !ok {
		return
	}
	s.render(w, http.StatusOK, "live.gohtml", map[string]any{
		"Title": report.OneLine(run.Manifest.Name), "ID": id, "Run": run.Manifest, "LiveJS": template.JS(liveJS), //nolint:gosec // our own file
	})
}

// stream sends updates as server-sent events until the run is over or the reader goes.
func (s *Server) stream(w http.ResponseWriter, r *http.Request) {
	select {
	case s.streams <- struct{}{}:
		defer func() { <-s.streams }()
	default:
		s.fail(w, http.StatusServiceUnavailable, "Too many live views are open. Close one and reload.")
		return
	}
	run, ok := s.open(w, r.PathValue("id"))
	if !ok {
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	follow := watch(run)
	tick := time.NewTicker(s.cfg.Interval)
	defer tick.Stop()
	for n := 1; ; n++ {
		u, err := follow.next()
		if err != nil {
			_, _ = fmt.Fprintf(w, "event: trouble\ndata: %s\n\n", quoted(err.Error()))
			return
		}
		b, err := json.Marshal(u)
		if err != nil {
			return
		}
		if _, err := fmt.Fprintf(w, "id: %d\ndata: %s\n\n", n, b); err != nil {
			return
		}
		if u.State != archive.StateRunning {
			_, _ = fmt.Fprint(w, "event: end\ndata: {}\n\n")
			_ = out.Flush()
			return
		}
		if out.Flush() != nil {
			return
		}
		select {
		case <-tick.C:
		case <-r.Context().Done():
			return
		}
	}
}

func quoted(s string) []byte {
	b, err := json.Marshal(report.OneLine(s))
	if err != nil {
		return []byte(`""`)
	}
	return b
}
