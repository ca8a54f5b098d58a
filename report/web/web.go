package web

import (
	"errors"
	"html/template"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/inferencebench/inferencebench/archive"
)

// Config says what to serve.
type Config struct {
	// Root is the folder that holds run directories. Runs are its direct children.
	Root string
	// Analyze computes the analysis of a run that has none on disk, such as one that is
	// still going. Nil means such a run has no report yet.
	Analyze func(*archive.Run) (*archive.Analysis, error)
	// Token is asked of every request when it is not empty: as a bearer token, or once
	// as ?token=, which sets a cookie.
	Token string
	// Hosts are the names, beside loopback addresses, that requests may be addressed to.
	// With a token any host is accepted.
	Hosts []string
	// Interval is the time between two snapshots of the live view; one second when zero.
	Interval time.Duration
	// MaxStreams bounds the live views that are open at once; 32 when zero.
	MaxStreams int
}

// Server is an http.Handler over a folder of runs. It is safe for concurrent use.
type Server struct {
	cfg     Config
	mux     *http.ServeMux
	pages   *template.Template
	streams chan struct{}

	mu    sync.Mutex
	cache map[string]cached
}

// New returns a server. The error is one of a folder that cannot be read.
func New(cfg Config) (*Server, error) {
	info, err := os.Stat(cfg.Root)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, &os.PathError{Op: "serve", Path: cfg.Root, Err: errors.New("not a folder")}
	}
	if cfg.Interval <= 0 {
		cfg.Interval = time.Second
	}
	if cfg.MaxStreams <= 0 {
		cfg.MaxStreams = 32
	}
	s := &Server{cfg: cfg, mux: http.NewServeMux(), streams: make(chan struct{}, cfg.MaxStreams), cache: map[string]cached{}}
	if s.pages, err = parsePages(); err != nil {
		return nil, err
	}
	s.mux.HandleFunc("GET /{$}", s.index)
	s.mux.HandleFunc("GET /runs/{id}", s.run)
	s.mux.HandleFunc("GET /runs/{id}/live", s.live)
	s.mux.HandleFunc("GET /runs/{id}/stream", s.stream)
	s.mux.HandleFunc("GET /runs/{id}/files/{name}", s.file)
	s.mux.HandleFunc("GET /runs/{id}/export/{format}", s.export)
	s.mux.HandleFunc("GET /compare", s.compare)
	return s, nil
}

// policy lets pages run their own inline style and script and reach this server alone.
const policy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

// ServeHTTP checks host, token and method, then serves.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		h.Set("Allow", "GET, HEAD")
		s.fail(w, http.StatusMethodNotAllowed, "This server only shows things: it answers GET and HEAD.")
		return
	}
	if s.cfg.Token == "" && !s.hostAllowed(r.Host) {
		s.fail(w, http.StatusForbidden, "The request names a host that this server does not answer for. Open it as 127.0.0.1 or localhost.")
		return
	}
	if s.cfg.Token != "" && !s.authorized(w, r) {
		return
	}
	s.mux.ServeHTTP(w, r)
}

// hostAllowed guards against a page elsewhere whose name resolves to this machine.
func (s *Server) hostAllowed(hostport string) bool {
	host := hostport
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		host = h
	}
	host = strings.ToLower(strings.Trim(host, "[]"))
	if host == "localhost" {
		return true
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsLoopback() {
		return true
	}
	for _, h := range s.cfg.Hosts {
		if strings.EqualFold(h, host) {
			return true
		}
	}
	return false
}

// idPattern is what the name of a run directory may look like in a URL.
var idPattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._+-]{0,199}$`)

// open opens the run of a request. When it answers false it has written the error page.
func (s *Server) open(w http.ResponseWriter, id string) (*archive.Run, bool) {
	run, err := s.load(id)
	switch {
	case err == nil:
		return run, true
	case errors.Is(err, errNoRun):
		s.fail(w, http.StatusNotFound, "There is no run of that name in this folder.")
	default:
		s.fail(w, http.StatusInternalServerError, err.Error())
	}
	return nil, false
}

var errNoRun = errors.New("no such run")

// load opens a direct child of the root by name. A link is followed only inside the root.
func (s *Server) load(id string) (*archive.Run, error) {
	if !idPattern.MatchString(id) {
		return nil, errNoRun
	}
	root, err := os.OpenRoot(s.cfg.Root)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if info, err := root.Stat(id); err != nil || !info.IsDir() {
		return nil, errNoRun
	}
	run, err := archive.Open(filepath.Join(s.cfg.Root, id))
	if errors.Is(err, archive.ErrNotARun) {
		return nil, errNoRun
	}
	return run, err
}

// analysis returns the stored analysis of a finished run, or computes one.
func (s *Server) analysis(run *archive.Run) (*archive.Analysis, error) {
	a, err := run.Analysis()
	if err == nil && run.Manifest.State != archive.StateRunning {
		return a, nil
	}
	if s.cfg.Analyze == nil {
		return nil, err
	}
	return s.cfg.Analyze(run)
}
