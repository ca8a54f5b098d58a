package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/inferencebench/inferencebench/sim"
	"github.com/inferencebench/inferencebench/sim/dialect"
)

// Header is set to "true" on every response.
const Header = "X-InferenceBench-Simulated"

// Version is the version string of the simulated engine.
const Version = "1.0.0+inferencebench.simulated"

// Owner is the owned_by of the model.
const Owner = "inferencebench-sim"

// Config is one simulated server.
type Config struct {
	Sim       sim.Config
	ModelName string // as served; "" for the model's own name
	// Speed is simulated seconds a second; 0 means 1.
	Speed float64
	// Answers knows the right answers of checkpoint items by the text of the user message;
	// nil knows none. It must be safe for concurrent use.
	Answers func(prompt string) (string, bool)
	// Accuracy is the share of known items that the replies get right, decided by prompt and
	// seed alone.
	Accuracy float64
	// Frontend is the CPU time of tokeniser, API server and detokeniser.
	Frontend sim.FrontendCost
	// Key, when not empty, is the bearer key that every request under /v1 must carry.
	Key string

	// Dialect names the engine whose metrics page and info pages are shown; "" is vLLM.
	Dialect string
	// StartUp is the simulated time until the server is ready; until then every request gets
	// 503. [sim.Config.StartUp] estimates what the real engine takes.
	StartUp time.Duration
	// Replicas is the number of engines behind the server; 0 means 1. Conversations stay with
	// the engine that holds their beginning, unless RoundRobin deals requests in turn.
	Replicas   int
	RoundRobin bool

	// RTT and Jitter are a network between client and server; Hold is how long a proxy keeps
	// streamed events back. All are simulated time.
	RTT, Jitter, Hold time.Duration
	// FrontendSlow multiplies the frontend's cost at an instant; nil means 1.
	FrontendSlow func(at time.Duration) float64
	// Faults spoil answers.
	Faults ReplyFaults
	// Numerics is the share of greedy replies that part from their usual course at some token,
	// because rounding depends on the batch; formats of 8 bits and less then part some more.
	// 0: every greedy reply is exact.
	Numerics float64
	// Attack makes the server cheat; "" is an honest one. Upstream is the base URL that
	// AttackProxy passes requests on to, over UpstreamTransport; nil is the network.
	Attack            Attack
	Upstream          string
	UpstreamTransport http.RoundTripper
}

// Server is a running simulated server. Its methods are safe for concurrent use.
type Server struct {
	cfg     Config
	model   string
	speech  dialect.Dialect
	drv     *driver   // the first engine
	engines []*driver // all of them
	mux     *http.ServeMux
	http    *http.Server
	serial  atomic.Uint64
	memory  memory
}

// New starts the engine; nothing listens yet. The error says why the engine would not
// start. Close must be called in every case where New succeeded.
func New(cfg Config) (*Server, error) {
	if cfg.Speed == 0 {
		cfg.Speed = 1
	}
	if cfg.Speed < 0 || cfg.Accuracy < 0 || cfg.Accuracy > 1 || cfg.Numerics < 0 || cfg.Numerics > 1 {
		return nil, fmt.Errorf("simulated server: speed %g must be positive, accuracy %g and numerics %g between 0 and 1", cfg.Speed, cfg.Accuracy, cfg.Numerics)
	}
	if cfg.Frontend == (sim.FrontendCost{}) {
		cfg.Frontend = sim.DefaultFrontend
	}
	cfg, err := cfg.Attack.apply(cfg)
	if err != nil {
		return nil, err
	}
	speech, err := dialect.Lookup(cfg.Dialect)
	if err != nil {
		return nil, fmt.Errorf("simulated server: %w", err)
	}
	s := &Server{cfg: cfg, model: cfg.ModelName, speech: speech}
	for i := range max(cfg.Replicas, 1) {
		c := cfg.Sim
		c.Seed += uint64(i) * 0x9e3779b9
		eng, err := sim.New(c)
		if err != nil {
			return nil, err
		}
		s.engines = append(s.engines, newDriver(eng, cfg, i))
	}
	s.drv = s.engines[0]
	if s.model == "" {
		s.model = s.drv.eng.Config().Model.Name
	}
	s.routes()
	for _, d := range s.engines {
		go d.loop()
	}
	return s, nil
}

func (s *Server) routes() {
	s.mux = http.NewServeMux()
	if s.cfg.Attack == AttackProxy {
		s.mux.Handle("POST /v1/chat/completions", s.proxy())
		s.mux.Handle("POST /v1/completions", s.proxy())
	} else {
		s.mux.HandleFunc("POST /v1/chat/completions", s.chat)
		s.mux.HandleFunc("POST /v1/completions", s.completions)
	}
	s.mux.HandleFunc("GET /v1/models", s.models)
	s.mux.HandleFunc("GET /health", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	s.mux.HandleFunc("GET /ping", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	s.mux.HandleFunc("GET "+s.speech.Path, s.metrics)
	s.infoRoutes()
	s.mux.HandleFunc("POST /tokenize", s.tokenize)
	s.mux.HandleFunc("POST /reset_prefix_cache", s.reset)
	s.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		writeError(w, &apiError{http.StatusNotFound, "NotFoundError", "", fmt.Sprintf("the simulated engine has no %s %s", r.Method, r.URL.Path)})
	})
}

// Handler serves the API; it lets the server run behind any listener.
func (s *Server) Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set(Header, "true")
		w.Header().Set("Server", Owner)
		if id := r.Header.Get("X-Request-Id"); id != "" && len(id) <= 200 {
			w.Header().Set("X-Request-Id", id)
		}
		if wait := s.drv.wall(s.cfg.StartUp); s.cfg.StartUp > 0 && wait > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(1+int(wait/time.Second)))
			writeError(w, &apiError{http.StatusServiceUnavailable, "ServiceUnavailableError", "", "the simulated engine is loading its model"})
			return
		}
		if s.cfg.Key != "" && len(r.URL.Path) > 3 && r.URL.Path[:4] == "/v1/" && r.Header.Get("Authorization") != "Bearer "+s.cfg.Key {
			writeError(w, &apiError{http.StatusUnauthorized, "AuthenticationError", "", "the API key is missing or wrong"})
			return
		}
		s.mux.ServeHTTP(w, r)
	})
}

// Start listens on addr, such as "127.0.0.1:0", and returns the base URL.
func (s *Server) Start(addr string) (url string, err error) {
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return "", fmt.Errorf("simulated server: %w", err)
	}
	s.http = &http.Server{Handler: s.Handler(), ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = s.http.Serve(ln) }() // ends with ErrServerClosed in Close
	return "http://" + ln.Addr().String(), nil
}

// Close stops listening, ends open requests and stops the engine.
func (s *Server) Close() error {
	for _, d := range s.engines {
		d.stop()
	}
	if s.http == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	err := s.http.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		return s.http.Close()
	}
	return err
}

// Telemetry returns what the first engine's device's driver would report now.
func (s *Server) Telemetry() sim.Telemetry { return s.Telemetries()[0] }

// Telemetries returns the same for every engine, in order. With tensor parallelism each
// stands for a group of devices that all show it.
func (s *Server) Telemetries() []sim.Telemetry {
	out := make([]sim.Telemetry, len(s.engines))
	for i, d := range s.engines {
		d.mu.Lock()
		out[i] = d.eng.GPU(d.simNow())
		d.mu.Unlock()
	}
	return out
}

// Engine returns the engine's configuration as resolved and how its memory is divided.
func (s *Server) Engine() (sim.Config, sim.Memory) { return s.drv.eng.Config(), s.drv.eng.Memory() }

// Behind returns how far the engine fell behind the wall clock in all, in simulated time:
// above zero, this machine was too slow for the load and the speed.
func (s *Server) Behind() time.Duration {
	s.drv.mu.Lock()
	defer s.drv.mu.Unlock()
	return s.drv.behind
}
