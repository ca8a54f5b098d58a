package engines

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/engines/expo"
)

const (
	probeFirst    = 10 * time.Second // for the model list
	probeRoute    = 3 * time.Second  // for any other route
	probeRoutes   = 10 * time.Second // for all of them
	probeParallel = 4
	probeBody     = 4 << 20 // bytes read of one answer
)

// Probe looks at a server: its models, health, version, metrics page and settings, and so
// which server it is. It sends GET requests to the routes that adapters know, and one POST
// with an empty object where the server lists no models; none of them makes it generate.
//
// header goes with every request and is where a key belongs. base is as NormalizeBase
// makes it. The error is a *ProbeError, or the context's.
//
// A route that a server lacks is a note, not an error: it is enough that the server
// answers like an inference server somewhere.
func Probe(ctx context.Context, client *http.Client, base string, header http.Header) (Identity, error) {
	p := &prober{client: client, base: base, header: header, answers: map[string]*answer{}}
	models := p.do(ctx, http.MethodGet, "/v1/models", "", probeFirst)
	if models.err != nil {
		if ctx.Err() != nil {
			return Identity{}, fmt.Errorf("looking at %s: %w", Redact(base), context.Cause(ctx))
		}
		return Identity{}, transportError(base, models.err)
	}
	if err := responseError(base+"/v1/models", models); err != nil {
		return Identity{}, err
	}
	p.answers["/v1/models"] = models
	p.getAll(ctx, probePaths())
	if ctx.Err() != nil {
		return Identity{}, fmt.Errorf("looking at %s: %w", Redact(base), context.Cause(ctx))
	}
	id := p.identify()
	if len(id.Models) == 0 {
		if err := p.speaksAPI(ctx); err != nil {
			return Identity{}, err
		}
		id.note("no_models", "no /v1/models (status %d)", models.status)
	}
	return id, nil
}

// probePaths lists every route that some adapter looks at, but for the models route.
func probePaths() []string {
	seen := map[string]bool{"/health": true, "/metrics": true}
	for _, a := range loaded() {
		for _, m := range a.Detect.Marks {
			seen[m.Path] = true
		}
		for _, s := range a.Settings {
			seen[s.Path] = true
		}
		for _, path := range a.Metrics.Paths {
			seen[path] = true
		}
		seen[a.Ready.Path] = true
	}
	delete(seen, "")
	delete(seen, "/v1/models")
	out := make([]string, 0, len(seen))
	for path := range seen {
		out = append(out, path)
	}
	slices.Sort(out)
	return out
}

type prober struct {
	client  *http.Client
	base    string
	header  http.Header
	answers map[string]*answer
}

// answer is the response of one route.
type answer struct {
	status int
	header http.Header
	body   []byte
	err    error

	parsed sync.Once
	json   any
	page   *expo.Page
}

func (a *answer) head() []byte { return a.body[:min(len(a.body), 4096)] }

func (a *answer) html() bool {
	if strings.Contains(strings.ToLower(a.header.Get("Content-Type")), "html") {
		return true
	}
	head := bytes.ToLower(bytes.TrimSpace(a.head()))
	return bytes.HasPrefix(head, []byte("<!doctype html")) || bytes.HasPrefix(head, []byte("<html"))
}

// parse decodes the body once, as JSON and as a metrics page.
func (a *answer) parse() {
	a.parsed.Do(func() {
		if a.err != nil || a.html() {
			return
		}
		if t := bytes.TrimSpace(a.head()); len(t) > 0 && (t[0] == '{' || t[0] == '[') {
			if json.Unmarshal(a.body, &a.json) != nil {
				a.json = nil
			}
		}
		if p := expo.Read(a.body); len(p.Samples) > p.Bad {
			a.page = p
		}
	})
}

func (p *prober) do(ctx context.Context, method, path, body string, limit time.Duration) *answer {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, p.base+path, strings.NewReader(body))
	if err != nil {
		return &answer{err: err}
	}
	if p.header != nil {
		req.Header = p.header.Clone()
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	} else {
		req.Header.Set("Accept", "application/json, text/plain;version=0.0.4, */*;q=0.1")
	}
	resp, err := p.client.Do(req)
	if err != nil {
		return &answer{err: err}
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(io.LimitReader(resp.Body, probeBody))
	return &answer{status: resp.StatusCode, header: resp.Header, body: b, err: err}
}

// getAll fetches the routes, a few at a time. What has not answered in the time for all of
// them counts as no answer.
func (p *prober) getAll(ctx context.Context, paths []string) {
	ctx, cancel := context.WithTimeout(ctx, probeRoutes)
	defer cancel()
	var (
		wg   sync.WaitGroup
		mu   sync.Mutex
		next = make(chan string)
	)
	for range probeParallel {
		wg.Go(func() {
			for path := range next {
				a := p.do(ctx, http.MethodGet, path, "", probeRoute)
				mu.Lock()
				p.answers[path] = a
				mu.Unlock()
			}
		})
	}
	for _, path := range paths {
		next <- path
	}
	close(next)
	wg.Wait()
}

// ok is the answer of a route when it is 200; nil otherwise.
func (p *prober) ok(path string) *answer {
	a := p.answers[path]
	if a == nil || a.err != nil || a.status != http.StatusOK {
		return nil
	}
	a.parse()
	return a
}

// identify makes an identity of the answers.
func (p *prober) identify() Identity {
	id := Identity{Base: p.base, Settings: map[string]string{}}
	a, sure := p.recognise()
	id.Adapter, id.Engine = a, a.Name
	id.Simulated = a.Simulated
	if !sure {
		id.Engine = Unknown
	}
	p.metrics(&id)
	if a.Name == Generic {
		id.Engine = Unknown
	}
	if h := a.Ready.Path; h != "" && p.ok(h) == nil {
		id.note("no_health", "no %s (%s)", h, p.answers[h].outcome())
	}
	p.models(&id)
	p.settings(&id)
	return id
}

func (a *answer) outcome() string {
	switch {
	case a == nil:
		return "not asked for"
	case a.err != nil:
		return "no answer"
	}
	return fmt.Sprintf("status %d", a.status)
}

// metrics finds the metrics page and, when it speaks another adapter's names, that adapter.
func (p *prober) metrics(id *Identity) {
	paths := slices.Clone(id.Adapter.Metrics.Paths)
	if id.Engine == Unknown || id.Adapter.Simulated {
		for _, a := range loaded() {
			for _, path := range a.Metrics.Paths {
				if !slices.Contains(paths, path) {
					paths = append(paths, path)
				}
			}
		}
	}
	for _, path := range paths {
		a := p.ok(path)
		if a == nil || a.page == nil {
			continue
		}
		matched := len(id.Adapter.Read(a.page).Matched) > 0
		if a.json != nil && !matched {
			continue // a JSON document of another kind
		}
		id.MetricsURL = p.base + path
		if matched {
			return
		}
		// A server may print another's names; a router and a simulator do.
		for _, other := range loaded() {
			if !other.Simulated && len(other.Read(a.page).Matched) >= 3 {
				id.note("borrowed_metrics", "the metrics page uses the names of %s, which the server was not recognised as", other.Title)
				id.Adapter = other
				return
			}
		}
		return
	}
	if id.Adapter.Metrics.Format == "none" {
		return
	}
	text := "no metrics page"
	if id.Adapter.Metrics.Switch != "" {
		text += "; start the server with " + id.Adapter.Metrics.Switch
	}
	first := ""
	if len(paths) > 0 {
		first = paths[0]
	}
	id.note("no_metrics", "%s (%s: %s)", text, first, p.answers[first].outcome())
}

// models reads the model list.
func (p *prober) models(id *Identity) {
	a := p.ok("/v1/models")
	if a == nil {
		return
	}
	list, _ := field(a.json, "data")
	if list == nil {
		list = a.json
	}
	rows, _ := list.([]any)
	const most = 1000
	for _, row := range rows[:min(len(rows), most)] {
		m, _ := row.(map[string]any)
		name, _ := m["id"].(string)
		if name == "" || len(name) > 512 || slices.Contains(id.Models, name) {
			continue
		}
		out := Model{ID: name}
		out.OwnedBy, _ = m["owned_by"].(string)
		for _, key := range []string{"max_model_len", "max_context_length", "context_length", "context_window", "meta.n_ctx"} {
			if v, ok := field(m, key); ok {
				if n, ok := v.(float64); ok && n >= 1 && n < 1e9 {
					out.MaxModelLen = archive.Some(int(n))
					break
				}
			}
		}
		id.Models = append(id.Models, name)
		id.Details = append(id.Details, out)
	}
	if len(id.Details) > 0 {
		id.MaxModelLen = id.Details[0].MaxModelLen
		for _, m := range id.Details[1:] {
			if !m.MaxModelLen.Equal(id.MaxModelLen) {
				id.MaxModelLen = archive.Opt[int]{}
			}
		}
	}
}

// speaksAPI decides, where no models are listed, whether the server answers the API at all:
// it refuses an empty object as a server does that knows the route.
func (p *prober) speaksAPI(ctx context.Context) error {
	var last *answer
	for _, path := range []string{"/v1/chat/completions", "/v1/completions"} {
		a := p.do(ctx, http.MethodPost, path, "{}", probeFirst)
		if ctx.Err() != nil {
			return fmt.Errorf("looking at %s: %w", Redact(p.base), context.Cause(ctx))
		}
		if a.err != nil {
			return transportError(p.base, a.err)
		}
		if e := responseError(p.base+path, a); e != nil {
			return e
		}
		if !a.html() && a.status != http.StatusNotFound && a.status != http.StatusMethodNotAllowed && a.status != http.StatusNotImplemented {
			return nil
		}
		last = a
	}
	return &ProbeError{
		Kind: NotLLM, URL: Redact(p.base), Status: last.status,
		Message: fmt.Sprintf("neither /v1/models nor /v1/chat/completions is there (status %d)", last.status),
		Hint:    "check that the address is that of an OpenAI-compatible API",
	}
}
