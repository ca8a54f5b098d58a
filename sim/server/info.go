package server

import (
	"encoding/json"
	"io"
	"net/http"

	"github.com/inferencebench/inferencebench/sim"
	"github.com/inferencebench/inferencebench/sim/dialect"
)

func (s *Server) models(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]any{"object": "list", "data": []any{map[string]any{
		"id": s.model, "object": "model", "created": s.drv.base.Unix(), "owned_by": Owner, "root": s.model, "parent": nil,
		"max_model_len": s.drv.eng.Config().MaxModelLen,
	}}})
}

func (s *Server) metrics(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, _ = w.Write(s.speech.Page(s.sources())) // the scraper is gone: nothing to tell it
}

// sources copies the state of every engine.
func (s *Server) sources() []dialect.Source {
	out := make([]dialect.Source, len(s.engines))
	for i, d := range s.engines {
		d.mu.Lock()
		out[i] = dialect.Source{Model: s.model, Index: i, State: d.eng.Snapshot(d.simNow())}
		d.mu.Unlock()
		s.hide(&out[i])
	}
	return out
}

func (s *Server) reset(w http.ResponseWriter, _ *http.Request) {
	for _, d := range s.engines {
		d.mu.Lock()
		d.eng.ResetPrefixCache()
		d.mu.Unlock()
	}
	w.WriteHeader(http.StatusOK)
}

// infoRoutes adds the pages by which the dialect's engine is told from others. Each says
// that it is simulated.
func (s *Server) infoRoutes() {
	page := func(path string, v func() any) {
		s.mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, http.StatusOK, v()) })
	}
	cfg, mem := s.Engine()
	if s.cfg.Attack == AttackHiddenPrefix {
		cfg.EnablePrefixCaching = sim.Off
	}
	switch s.speech.Name {
	case "sglang":
		page("/model_info", func() any {
			return map[string]any{"model_path": s.model, "is_generation": true, "simulated": true}
		})
		page("/server_info", func() any {
			return map[string]any{
				"model_path": s.model, "version": Version, "simulated": true, "max_total_num_tokens": mem.Tokens, "tp_size": cfg.TensorParallel,
				"max_running_requests": cfg.MaxNumSeqs, "chunked_prefill_size": cfg.MaxNumBatchedTokens, "disable_radix_cache": !cfg.PrefixCaching(),
			}
		})
	case "tgi":
		page("/info", func() any {
			return map[string]any{
				"model_id": s.model, "version": Version, "simulated": true, "max_total_tokens": cfg.MaxModelLen, "max_batch_total_tokens": mem.Tokens,
				"max_concurrent_requests": 128, "max_input_tokens": cfg.MaxModelLen - 1,
			}
		})
	case "tensorrt_llm":
		page("/version", func() any { return map[string]any{"version": Version} })
		page("/metrics", func() any { return s.iterations() })
	case "llama_cpp":
		page("/props", func() any {
			return map[string]any{"total_slots": cfg.MaxNumSeqs, "build_info": Version, "model_path": s.model, "simulated": true,
				"default_generation_settings": map[string]any{"n_ctx": cfg.MaxModelLen}}
		})
		page("/slots", func() any { return s.slots(cfg.MaxNumSeqs, cfg.MaxModelLen) })
	default:
		page("/version", func() any { return map[string]any{"version": Version} })
		s.mux.HandleFunc("POST /start_profile", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
		s.mux.HandleFunc("POST /stop_profile", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	}
}

// iterations is the JSON statistics of trtllm-serve: one object an engine, as of now.
func (s *Server) iterations() []any {
	out := []any{}
	for _, e := range s.sources() {
		l := e.State.Load
		out = append(out, map[string]any{
			"iter": e.State.Counters.Steps, "numActiveRequests": l.Running, "numQueuedRequests": l.Waiting,
			"kvCacheStats": map[string]any{"maxNumBlocks": l.Blocks, "usedNumBlocks": int(l.KVUsage*float64(l.Blocks) + 0.5), "tokensPerBlock": e.State.Config.BlockSize},
		})
	}
	return out
}

// slots is the list of llama-server's slots; those in use come first.
func (s *Server) slots(n, ctx int) []any {
	busy := 0
	for _, e := range s.sources() {
		busy += e.State.Load.Running
	}
	out := make([]any, 0, min(n, 64))
	for i := range min(n, 64) {
		out = append(out, map[string]any{"id": i, "n_ctx": ctx, "is_processing": i < busy})
	}
	return out
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
