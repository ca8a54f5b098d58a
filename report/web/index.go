package web

import (
	"bytes"
	"html/template"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/report"
	"github.com/inferencebench/inferencebench/report/quantity"
)

// entry is one run in the list.
type entry struct {
	ID, Name, Model, Engine, When string
	State                         archive.State
	Simulated                     bool
	Verdict, Headline             string
	TTFT, Output, Failed          string
	Invalid                       bool // a validity check refuses its figures
	start                         time.Time
}

// cached is an entry with the times of the files it was made from.
type cached struct {
	manifest, analysis time.Time
	entry              entry
}

func (s *Server) index(w http.ResponseWriter, r *http.Request) {
	entries, odd, err := s.list()
	if err != nil {
		s.fail(w, http.StatusInternalServerError, err.Error())
		return
	}
	q := strings.ToLower(strings.TrimSpace(r.URL.Query().Get("q")))
	total := len(entries)
	if q != "" {
		entries = slices.DeleteFunc(entries, func(e entry) bool {
			return !strings.Contains(strings.ToLower(strings.Join([]string{e.ID, e.Name, e.Model, e.Engine, e.Verdict, string(e.State)}, " ")), q)
		})
	}
	s.render(w, http.StatusOK, "index.gohtml", map[string]any{"Title": "Runs", "Runs": entries, "Query": q, "Total": total, "Odd": odd, "Root": filepath.Base(s.cfg.Root)})
}

// list reads the folder, newest run first. odd counts folders that could not be opened.
func (s *Server) list() (out []entry, odd int, err error) {
	dirs, err := os.ReadDir(s.cfg.Root)
	if err != nil {
		return nil, 0, err
	}
	for _, d := range dirs {
		if !d.IsDir() || !idPattern.MatchString(d.Name()) {
			continue
		}
		e, err := s.entry(d.Name())
		switch {
		case err == nil:
			out = append(out, e)
		case err != errNoRun: //nolint:errorlint // load returns it bare
			odd++
		}
	}
	slices.SortStableFunc(out, func(a, b entry) int { return b.start.Compare(a.start) })
	return out, odd, nil
}

func modified(path string) time.Time {
	info, err := os.Stat(path)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// entry makes the list entry of a run, from the cache when its files have not changed.
func (s *Server) entry(id string) (entry, error) {
	dir := filepath.Join(s.cfg.Root, id)
	mt, at := modified(filepath.Join(dir, archive.ManifestFile)), modified(filepath.Join(dir, archive.AnalysisFile))
	s.mu.Lock()
	c, ok := s.cache[id]
	s.mu.Unlock()
	if ok && c.manifest.Equal(mt) && c.analysis.Equal(at) && c.entry.State != archive.StateRunning {
		return c.entry, nil
	}
	run, err := s.load(id)
	if err != nil {
		return entry{}, err
	}
	m := run.Manifest
	e := entry{
		ID: id, Name: report.OneLine(m.Name), Model: report.OneLine(m.Server.Model), Engine: report.OneLine(strings.TrimSpace(m.Server.Engine + " " + m.Server.Version)),
		State: m.State, Simulated: m.Simulated, start: m.Epoch.Add(time.Duration(m.Started)),
	}
	if !m.Epoch.IsZero() {
		e.When = e.start.UTC().Format("2006-01-02 15:04")
	}
	if a, err := run.Analysis(); err == nil {
		e.Verdict, e.Headline = a.Verdict.State, report.OneLine(a.Verdict.Headline)
		e.Invalid = a.Verdict.State == archive.VerdictInvalid
		e.TTFT = best(a, "ttft", "p99", "p95", "p90", "p50")
		e.Output = best(a, "output_rate", "value")
		if a.Counts.Failed > 0 {
			e.Failed = quantity.Int(a.Counts.Failed)
		}
	}
	s.mu.Lock()
	s.cache[id] = cached{mt, at, e}
	s.mu.Unlock()
	return e, nil
}

// best is the first known statistic of a metric, with its name when it is a percentile.
func best(a *archive.Analysis, id string, stats ...string) string {
	for i := range a.Metrics {
		m := &a.Metrics[i]
		if m.ID != id || m.Scope != "all" {
			continue
		}
		for _, st := range stats {
			if v, ok := m.Stats[st].Value.Get(); ok {
				s := quantity.Format(v, m.Unit)
				if st != "value" {
					s += " " + strings.ToUpper(st)
				}
				return s
			}
		}
	}
	return ""
}

// render writes a page; a template that fails leaves no half page.
func (s *Server) render(w http.ResponseWriter, code int, name string, data map[string]any) {
	data["CSS"], data["JS"] = template.CSS(report.Stylesheet()+webCSS), template.JS(report.Script()) //nolint:gosec // our own files
	var b bytes.Buffer
	if err := s.pages.ExecuteTemplate(&b, name, data); err != nil {
		http.Error(w, "the page could not be made: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(code)
	_, _ = w.Write(b.Bytes()) // the reader has gone
}

// fail writes an error page.
func (s *Server) fail(w http.ResponseWriter, code int, text string) {
	s.render(w, code, "error.gohtml", map[string]any{"Title": http.StatusText(code), "Text": report.OneLine(text)})
}
