package otlp

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"math"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"
)

// Span is what is kept of one span.
type Span struct {
	Trace, ID, Parent string // hex
	Name              string
	Start, End        uint64 // nanoseconds since 1970
	// Numbers and Texts are the attributes, a bounded number of them.
	Numbers map[string]float64
	Texts   map[string]string
}

const (
	maxSpans = 10_000 // of one request
	maxAttrs = 64     // of one span
	maxText  = 256    // bytes of one attribute's text
)

var errBroken = errors.New("not a valid export request")

// Decode reads an export request in protobuf: spans only, and of them only what Span has.
func Decode(b []byte) ([]Span, error) {
	var out []Span
	// resource_spans = 1 → scope_spans = 2 → spans = 2
	err := each(b, 1, func(rs []byte) error {
		return each(rs, 2, func(ss []byte) error {
			return each(ss, 2, func(sp []byte) error {
				if len(out) == maxSpans {
					return nil
				}
				s, err := decodeSpan(sp)
				if err == nil {
					out = append(out, s)
				}
				return err
			})
		})
	})
	return out, err
}

// each calls f for every length-delimited field of this number and passes over the others.
func each(b []byte, number protowire.Number, f func([]byte) error) error {
	return fields(b, func(n protowire.Number, t protowire.Type, v []byte, _ uint64) error {
		if n == number && t == protowire.BytesType {
			return f(v)
		}
		return nil
	})
}

// fields calls f for every field; v is set for bytes, x for numbers.
func fields(b []byte, f func(n protowire.Number, t protowire.Type, v []byte, x uint64) error) error {
	for len(b) > 0 {
		n, t, k := protowire.ConsumeTag(b)
		if k < 0 {
			return errBroken
		}
		b = b[k:]
		var v []byte
		var x uint64
		switch t {
		case protowire.BytesType:
			v, k = protowire.ConsumeBytes(b)
		case protowire.VarintType:
			x, k = protowire.ConsumeVarint(b)
		case protowire.Fixed64Type:
			x, k = protowire.ConsumeFixed64(b)
		case protowire.Fixed32Type:
			var y uint32
			y, k = protowire.ConsumeFixed32(b)
			x = uint64(y)
		default:
			k = protowire.ConsumeFieldValue(n, t, b)
		}
		if k < 0 {
			return errBroken
		}
		b = b[k:]
		if err := f(n, t, v, x); err != nil {
			return err
		}
	}
	return nil
}

func decodeSpan(b []byte) (Span, error) {
	s := Span{Numbers: map[string]float64{}, Texts: map[string]string{}}
	err := fields(b, func(n protowire.Number, t protowire.Type, v []byte, x uint64) error {
		switch {
		case n == 1 && t == protowire.BytesType:
			s.Trace = hexID(v)
		case n == 2 && t == protowire.BytesType:
			s.ID = hexID(v)
		case n == 4 && t == protowire.BytesType:
			s.Parent = hexID(v)
		case n == 5 && t == protowire.BytesType:
			s.Name = cut(string(v))
		case n == 7 && t == protowire.Fixed64Type:
			s.Start = x
		case n == 8 && t == protowire.Fixed64Type:
			s.End = x
		case n == 9 && t == protowire.BytesType:
			return s.attribute(v)
		}
		return nil
	})
	return s, err
}

func hexID(v []byte) string {
	if len(v) > 16 {
		v = v[:16]
	}
	return hex.EncodeToString(v)
}

func (s *Span) attribute(b []byte) error {
	key := ""
	return fields(b, func(n protowire.Number, t protowire.Type, v []byte, _ uint64) error {
		switch {
		case n == 1 && t == protowire.BytesType:
			key = cut(string(v))
		case n == 2 && t == protowire.BytesType:
			return fields(v, func(n protowire.Number, t protowire.Type, v []byte, x uint64) error {
				switch {
				case n == 1 && t == protowire.BytesType:
					s.text(key, string(v))
				case n == 3 && t == protowire.VarintType:
					s.number(key, float64(int64(x)))
				case n == 4 && t == protowire.Fixed64Type:
					s.number(key, math.Float64frombits(x))
				}
				return nil
			})
		}
		return nil
	})
}

func (s *Span) text(key, v string) {
	if key != "" && len(s.Texts) < maxAttrs {
		s.Texts[key] = cut(v)
	}
}

func (s *Span) number(key string, v float64) {
	if key != "" && len(s.Numbers) < maxAttrs && !math.IsNaN(v) && !math.IsInf(v, 0) {
		s.Numbers[key] = v
	}
}

func cut(s string) string { return s[:min(len(s), maxText)] }

// DecodeJSON reads an export request in JSON.
func DecodeJSON(b []byte) ([]Span, error) {
	var req struct {
		ResourceSpans []struct {
			ScopeSpans []struct {
				Spans []struct {
					TraceID      string `json:"traceId"`
					SpanID       string `json:"spanId"`
					ParentSpanID string `json:"parentSpanId"`
					Name         string `json:"name"`
					Start        nanos  `json:"startTimeUnixNano"`
					End          nanos  `json:"endTimeUnixNano"`
					Attributes   []struct {
						Key   string `json:"key"`
						Value struct {
							String *string  `json:"stringValue"`
							Int    *nanos   `json:"intValue"`
							Double *float64 `json:"doubleValue"`
						} `json:"value"`
					} `json:"attributes"`
				} `json:"spans"`
			} `json:"scopeSpans"`
		} `json:"resourceSpans"`
	}
	if err := json.Unmarshal(b, &req); err != nil {
		return nil, errBroken
	}
	var out []Span
	for _, rs := range req.ResourceSpans {
		for _, ss := range rs.ScopeSpans {
			for _, sp := range ss.Spans {
				if len(out) == maxSpans {
					return out, nil
				}
				s := Span{
					Trace: cut(sp.TraceID), ID: cut(sp.SpanID), Parent: cut(sp.ParentSpanID), Name: cut(sp.Name),
					Start: uint64(sp.Start), End: uint64(sp.End), Numbers: map[string]float64{}, Texts: map[string]string{},
				}
				for _, a := range sp.Attributes {
					switch {
					case a.Value.String != nil:
						s.text(cut(a.Key), *a.Value.String)
					case a.Value.Int != nil:
						s.number(cut(a.Key), float64(*a.Value.Int))
					case a.Value.Double != nil:
						s.number(cut(a.Key), *a.Value.Double)
					}
				}
				out = append(out, s)
			}
		}
	}
	return out, nil
}

// nanos is a whole number that JSON may carry as text.
type nanos int64

// UnmarshalJSON takes 5 and "5".
func (n *nanos) UnmarshalJSON(b []byte) error {
	if len(b) > 1 && b[0] == '"' {
		b = b[1 : len(b)-1]
	}
	v, err := strconv.ParseInt(string(b), 10, 64)
	*n = nanos(v)
	return err
}
