package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// shape is what the client has learned about the server's body format.
type shape struct {
	maxTokens string // the field that carries the output limit
	usage     bool   // ask for usage in the stream
}

// field is one member of the request body.
type field struct {
	name  string
	value any
}

// render writes the request body of a call.
func (c *Client) render(call *Call, s shape) ([]byte, error) {
	return object(c.api.fields(c, call, s), call.Extra)
}

// object writes fields in order, then extra by name. A field that extra names takes its
// value from there, or is left out when that is nil.
func object(fields []field, extra map[string]any) ([]byte, error) {
	for i := range fields {
		if v, ok := extra[fields[i].name]; ok {
			fields[i].value = v
		}
	}
	known := len(fields)
	for name, v := range extra {
		if !slices.ContainsFunc(fields[:known], func(f field) bool { return f.name == name }) {
			fields = append(fields, field{name, v})
		}
	}
	slices.SortFunc(fields[known:], func(a, b field) int { return strings.Compare(a.name, b.name) })

	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	sep := byte('{')
	for _, f := range fields {
		if f.value == nil {
			continue
		}
		b.WriteByte(sep)
		sep = ','
		for i, v := range []any{f.name, f.value} {
			if i == 1 {
				b.WriteByte(':')
			}
			if err := enc.Encode(v); err != nil {
				return nil, fmt.Errorf("request field %q: %w", f.name, err)
			}
			b.Truncate(b.Len() - 1) // the encoder's line end
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}
