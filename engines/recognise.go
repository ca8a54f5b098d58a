package engines

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/inferencebench/inferencebench/archive"
)

// enough is the weight of marks that a server needs to be recognised: more than its metric
// names alone are worth.
const enough = 4

// recognise picks the adapter with the most marks, and reports whether they are enough.
func (p *prober) recognise() (*Adapter, bool) {
	var best *Adapter
	most := 0
	for _, a := range loaded() {
		weight := 0
		for i := range a.Detect.Marks {
			if m := &a.Detect.Marks[i]; m.seen(p.answers[m.Path]) {
				weight += m.Weight
			}
		}
		if weight > most {
			best, most = a, weight
		}
	}
	if most >= enough {
		return best, true
	}
	generic, _ := Lookup(Generic)
	return generic, false
}

// seen reports whether a route's answer shows the mark.
func (m *Mark) seen(a *answer) bool {
	want := m.Status
	if want == 0 {
		want = http.StatusOK
	}
	if a == nil || a.err != nil || a.status != want {
		return false
	}
	a.parse()
	for _, k := range m.Keys {
		if _, ok := field(a.json, k); !ok {
			return false
		}
	}
	if m.Key != "" {
		if v, ok := field(a.json, m.Key); !ok || text(v) != m.Value {
			return false
		}
	}
	if m.Text != "" && !strings.Contains(string(a.head()), m.Text) {
		return false
	}
	if m.Header != "" && !strings.Contains(a.header.Get(m.Header), m.HeaderText) {
		return false
	}
	if m.Prefix != "" {
		if a.page == nil || !a.page.HasPrefix(m.Prefix) {
			return false
		}
		if m.Label == "" {
			return true
		}
		for i := range a.page.Samples {
			s := &a.page.Samples[i]
			if _, ok := s.Label(m.Label); ok && strings.HasPrefix(s.Name, m.Prefix) {
				return true
			}
		}
		return false
	}
	return true
}

// field walks down a JSON value by dotted keys; an array stands for its first element.
func field(v any, path string) (any, bool) {
	for _, key := range strings.Split(path, ".") {
		if rows, ok := v.([]any); ok {
			if len(rows) == 0 {
				return nil, false
			}
			v = rows[0]
		}
		m, ok := v.(map[string]any)
		if !ok {
			return nil, false
		}
		if v, ok = m[key]; !ok {
			return nil, false
		}
	}
	return v, true
}

// text is a JSON scalar as text; "" for anything else.
func text(v any) string {
	switch x := v.(type) {
	case string:
		return x
	case bool:
		return strconv.FormatBool(x)
	case float64:
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	return ""
}

// settings reads what the adapter says that the server tells. The setting named "version"
// is the version, and "max_model_len" the context limit where the model list has none.
func (p *prober) settings(id *Identity) {
	page := p.page(id)
	for _, s := range id.Adapter.Settings {
		if _, done := id.Settings[s.Name]; done {
			continue
		}
		value := ""
		if s.Path != "" {
			if a := p.ok(s.Path); a != nil {
				if v, ok := field(a.json, s.Key); ok {
					value = text(v)
				}
			}
		} else if page != nil {
			for _, m := range page.page.Get(s.Metric) {
				if s.Value && usable(m.Value) {
					value = text(m.Value)
					break
				}
				if v, ok := m.Label(s.Label); ok {
					value = v
					break
				}
			}
		}
		if value == "" || len(value) > 1024 {
			continue
		}
		if s.Name == "version" {
			// A build without its sources' history calls itself so, as llama.cpp's "b0-unknown".
			if !strings.HasSuffix(value, "unknown") {
				id.Version = value
			}
			continue
		}
		id.Settings[s.Name] = value
		if n, err := strconv.Atoi(value); err == nil && s.Name == "max_model_len" && !id.MaxModelLen.Known() && n > 0 {
			id.MaxModelLen = archive.Some(n)
		}
	}
}

// page is the answer with the metrics page; nil when there is none.
func (p *prober) page(id *Identity) *answer {
	path, ok := strings.CutPrefix(id.MetricsURL, p.base)
	if !ok || path == "" {
		return nil
	}
	if a := p.ok(path); a != nil && a.page != nil {
		return a
	}
	return nil
}

// String is the adapter's title, for messages.
func (a *Adapter) String() string { return fmt.Sprintf("%s (%s)", a.Title, a.Name) }
