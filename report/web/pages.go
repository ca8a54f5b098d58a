package web

import (
	"bytes"
	"embed"
	"html/template"
	"io"
	"mime"
	"net/http"
	"os"
	"path/filepath"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/report"
	"github.com/inferencebench/inferencebench/report/export"
)

//go:embed templates/*.gohtml
var templateFiles embed.FS

//go:embed assets/web.css
var webCSS string

//go:embed assets/live.js
var liveJS string

func parsePages() (*template.Template, error) {
	return template.New("web").Funcs(template.FuncMap{"oneline": report.OneLine}).ParseFS(templateFiles, "templates/*.gohtml")
}

// run shows the report of a run, or sends to the live view while it is going.
func (s *Server) run(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	run, ok := s.open(w, id)
	if !ok {
		return
	}
	if run.Manifest.State == archive.StateRunning && r.URL.Query().Get("now") == "" {
		http.Redirect(w, r, "/runs/"+id+"/live", http.StatusSeeOther)
		return
	}
	a, err := s.analysis(run)
	if err != nil {
		s.fail(w, http.StatusNotFound, "This run has no analysis yet: "+err.Error())
		return
	}
	var b bytes.Buffer
	o := report.PageOptions{Home: "/"}
	for _, f := range export.Formats() {
		o.Downloads = append(o.Downloads, report.Link{Label: f.File, URL: "/runs/" + id + "/export/" + f.Name, Title: f.Text})
	}
	for _, name := range []string{archive.AnalysisFile, archive.RequestsFile, archive.SeriesFile} {
		o.Downloads = append(o.Downloads, report.Link{Label: name, URL: "/runs/" + id + "/files/" + name, Title: "raw records"})
	}
	if err := report.Page(&b, run, a, o); err != nil {
		s.fail(w, http.StatusInternalServerError, err.Error())
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(b.Bytes()) // the reader has gone
}

// downloads are the files of a run directory that may be fetched.
var downloads = map[string]bool{
	archive.ManifestFile: true, archive.RequestsFile: true, archive.SeriesFile: true, archive.EventsFile: true,
	archive.CheckpointsFile: true, archive.AnalysisFile: true, archive.ReportFile: true,
	archive.AgentsFile: true, "workload.jsonl.zst": true,
}

// file sends one file as a download, never as a page.
func (s *Server) file(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	if !downloads[name] {
		s.fail(w, http.StatusNotFound, "A run has no file of that name.")
		return
	}
	run, ok := s.open(w, r.PathValue("id"))
	if !ok {
		return
	}
	root, err := os.OpenRoot(run.Dir)
	if err != nil {
		s.fail(w, http.StatusInternalServerError, err.Error())
		return
	}
	defer root.Close()
	f, err := root.Open(name)
	if err != nil {
		s.fail(w, http.StatusNotFound, "This run has no "+name+" yet.")
		return
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		s.fail(w, http.StatusNotFound, "This run has no "+name+" yet.")
		return
	}
	attach(w, r.PathValue("id")+"-"+name)
	http.ServeContent(w, r, "", info.ModTime(), f)
}

func attach(w http.ResponseWriter, name string) {
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": name}))
}

// export sends a run in one of the formats of package export.
func (s *Server) export(w http.ResponseWriter, r *http.Request) {
	f, err := export.Lookup(r.PathValue("format"))
	if err != nil {
		s.fail(w, http.StatusNotFound, err.Error())
		return
	}
	run, ok := s.open(w, r.PathValue("id"))
	if !ok {
		return
	}
	a, err := s.analysis(run)
	if err != nil {
		s.fail(w, http.StatusNotFound, "This run has no analysis yet: "+err.Error())
		return
	}
	tmp, err := os.CreateTemp("", "inferencebench-export-*")
	if err != nil {
		s.fail(w, http.StatusInternalServerError, err.Error())
		return
	}
	defer os.Remove(tmp.Name())
	defer tmp.Close()
	if err := f.Write(tmp, run, a); err != nil {
		s.fail(w, http.StatusInternalServerError, err.Error())
		return
	}
	if _, err := tmp.Seek(0, io.SeekStart); err != nil {
		s.fail(w, http.StatusInternalServerError, err.Error())
		return
	}
	attach(w, r.PathValue("id")+"-"+filepath.Base(f.File))
	_, _ = io.Copy(w, tmp) // the reader has gone
}
