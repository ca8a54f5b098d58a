package server

import (
	"encoding/json"
	"io"
	"net/http"

	"github.com/inferencebench/inferencebench/sim/dialect"
)

func (s *Server) models(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]any{"object": "list", "data": []any{map[string]any{
		"id": s.model, "object": "model", "created": s.drv.base.Unix(), "owned_by": Owner, "root": s.model, "parent": nil,
		"max_model_len": s.drv.eng.Config().MaxModelLen,
	}}})
}

func (s *Server) version(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]any{"version": Version})
}

func (s *Server) metrics(w http.ResponseWriter, _ *http.Request) {
	s.drv.mu.Lock()
	snap := s.drv.eng.Snapshot(s.drv.simNow())
	s.drv.mu.Unlock()
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, _ = w.Write(dialect.VLLM([]dialect.Source{{Model: s.model, State: snap}})) // the scraper is gone: nothing to tell it
}

func (s *Server) reset(w http.ResponseWriter, _ *http.Request) {
	s.drv.mu.Lock()
	s.drv.eng.ResetPrefixCache()
	s.drv.mu.Unlock()
	w.WriteHeader(http.StatusOK)
}

// tokenize counts the tokens of a prompt or of messages, the template's included.
func (s *Server) tokenize(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		writeError(w, badRequest("", "the body could not be read: %v", err))
		return
	}
	var req request
	if err := json.Unmarshal(body, &req); err != nil {
		writeError(w, badRequest("", "the body is not valid JSON: %v", err))
		return
	}
	var tokens []uint64
	var aerr *apiError
	if len(req.Messages) > 0 {
		tokens, _, aerr = chatPrompt(req.Messages)
	} else {
		tokens, _, aerr = plainPrompt(req.Prompt)
	}
	if aerr != nil {
		writeError(w, aerr)
		return
	}
	ids := make([]uint64, len(tokens))
	for i, t := range tokens {
		ids[i] = t % uint64(s.drv.eng.Config().Model.Vocab)
	}
	writeJSON(w, http.StatusOK, map[string]any{"count": len(ids), "max_model_len": s.drv.eng.Config().MaxModelLen, "tokens": ids})
}
