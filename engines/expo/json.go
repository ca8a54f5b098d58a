package expo

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// maxDepth bounds how deep a JSON document is walked.
const maxDepth = 8

// Read reads a page of either kind: text, or JSON when it starts as JSON does. Like Parse
// it never fails.
func Read(b []byte) *Page {
	if t := bytes.TrimLeft(b, " \t\r\n"); len(t) > 0 && (t[0] == '[' || t[0] == '{' && !bytes.HasPrefix(t, []byte(`{"`)) || isObject(t)) {
		return FromJSON(b)
	}
	return Parse(b)
}

// isObject tells a JSON object from a line of the text format that starts with a quoted
// name in braces: in JSON a colon follows the first string.
func isObject(t []byte) bool {
	if !bytes.HasPrefix(t, []byte(`{"`)) {
		return false
	}
	_, rest, ok := bytes.Cut(t[2:], []byte(`"`))
	return ok && bytes.HasPrefix(bytes.TrimLeft(rest, " \t\r\n"), []byte(":"))
}

// FromJSON reads the numbers of a JSON document as samples, named by their keys joined with
// dots; of an array that is the whole document, the last element is read, which in a list
// of engine steps is the newest. Other arrays, texts and nulls are left out.
func FromJSON(b []byte) *Page {
	p := &Page{Types: map[string]Type{}, byName: map[string][]int{}}
	if len(b) > MaxPage {
		p.Truncated = fmt.Sprintf("page over %d bytes", MaxPage)
		return p
	}
	var v any
	if err := json.Unmarshal(b, &v); err != nil {
		p.bad(string(bytes.TrimSpace(b[:min(len(b), MaxLine)])))
		return p
	}
	if rows, ok := v.([]any); ok {
		if len(rows) == 0 {
			return p
		}
		v = rows[len(rows)-1]
	}
	p.walk("", v, 0)
	return p
}

func (p *Page) walk(name string, v any, depth int) {
	switch x := v.(type) {
	case float64:
		if name != "" && len(p.Samples) < MaxSamples {
			p.byName[name] = append(p.byName[name], len(p.Samples))
			p.Samples = append(p.Samples, Sample{Name: name, Value: x})
		}
	case map[string]any:
		if depth == maxDepth {
			return
		}
		for _, k := range slices.Sorted(maps.Keys(x)) {
			if name != "" {
				p.walk(name+"."+k, x[k], depth+1)
			} else {
				p.walk(k, x[k], depth+1)
			}
		}
	}
}
