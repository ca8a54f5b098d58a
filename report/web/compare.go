package web

import (
	"bytes"
	"fmt"
	"net/http"
	"path/filepath"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/report"
)

// compare shows the runs that the query names as run=ID, the first as the reference.
func (s *Server) compare(w http.ResponseWriter, r *http.Request) {
	ids := r.URL.Query()["run"]
	if len(ids) < 2 || len(ids) > 6 {
		s.fail(w, http.StatusBadRequest, fmt.Sprintf("A comparison takes two to six runs; %d were chosen.", len(ids)))
		return
	}
	var runs []report.Compared
	for _, id := range ids {
		run, ok := s.open(w, id)
		if !ok {
			return
		}
		a, err := s.analysis(run)
		if err != nil {
			s.fail(w, http.StatusNotFound, id+" has no analysis: "+err.Error())
			return
		}
		runs = append(runs, report.Compared{Run: run, Analysis: a})
	}
	differences, err := report.Tested(runs)
	if err != nil {
		s.fail(w, http.StatusInternalServerError, err.Error())
		return
	}
	var b bytes.Buffer
	err = report.CompareHTML(&b, runs, differences, report.PageOptions{Home: "/", Link: func(run *archive.Run) string { return "/runs/" + filepath.Base(run.Dir) }})
	if err != nil {
		s.fail(w, http.StatusInternalServerError, err.Error())
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(b.Bytes()) // the reader has gone
}
