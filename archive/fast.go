package archive

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"

	"github.com/valyala/fastjson"
)

// decoder decodes request records. It is several times as fast as encoding/json on the
// records that [Writer] writes, and hands every other line to encoding/json, so that both
// agree on every input. It is not safe for concurrent use.
type decoder struct {
	p fastjson.Parser
	// ok is cleared by a getter that meets something it does not know.
	ok bool
}

// decode fills r from a line.
func (d *decoder) decode(line []byte, r *Request) error {
	if d.fast(line, r) {
		return nil
	}
	*r = Request{}
	return json.Unmarshal(line, r)
}

// fast reports whether it could decode the line by itself. Lines with invalid UTF-8,
// surrogate escapes, control characters, unknown or repeated keys or unexpected types are
// not for it.
func (d *decoder) fast(line []byte, r *Request) bool {
	for _, c := range line {
		if c < 0x20 {
			return false
		}
	}
	if !utf8.Valid(line) || bytes.Contains(line, []byte(`\ud`)) || bytes.Contains(line, []byte(`\uD`)) || fastjson.ValidateBytes(line) != nil {
		return false
	}
	v, err := d.p.ParseBytes(line)
	if err != nil {
		return false
	}
	d.ok = true
	d.object(v, func(key []byte, v *fastjson.Value) int { return d.request(key, v, r) })
	return d.ok
}

// object calls field for every member. field returns the number of the key among those it
// knows, below 64, or a negative number for a key that it does not know.
func (d *decoder) object(v *fastjson.Value, field func(key []byte, v *fastjson.Value) int) {
	o, err := v.Object()
	if err != nil {
		d.ok = false
		return
	}
	var seen uint64
	o.Visit(func(k []byte, v *fastjson.Value) {
		if !d.ok {
			return
		}
		i := field(k, v)
		if i < 0 || seen&(1<<i) != 0 {
			d.ok = false
			return
		}
		seen |= 1 << i
	})
}

func (d *decoder) text(v *fastjson.Value) string {
	b, err := v.StringBytes()
	if err != nil {
		d.ok = d.ok && v.Type() == fastjson.TypeNull
		return ""
	}
	return string(b)
}

func (d *decoder) integer(v *fastjson.Value) int64 {
	if v.Type() == fastjson.TypeNull {
		return 0
	}
	n, err := v.Int64()
	if err != nil || v.Type() != fastjson.TypeNumber {
		d.ok = false
	}
	return n
}

func (d *decoder) instant(v *fastjson.Value) Instant {
	if v.Type() == fastjson.TypeNull {
		return 0
	}
	n := d.integer(v)
	if n <= 0 {
		d.ok = false // encoding/json says why
	}
	return Instant(n)
}

func (d *decoder) count(v *fastjson.Value) Opt[int] {
	if v.Type() == fastjson.TypeNull {
		return Opt[int]{}
	}
	return Some(int(d.integer(v)))
}

func (d *decoder) nanos(v *fastjson.Value) Opt[int64] {
	if v.Type() == fastjson.TypeNull {
		return Opt[int64]{}
	}
	return Some(d.integer(v))
}

// other decodes a rare member with encoding/json.
func (d *decoder) other(v *fastjson.Value, into any) {
	if json.Unmarshal(v.MarshalTo(nil), into) != nil {
		d.ok = false
	}
}

func (d *decoder) request(key []byte, v *fastjson.Value, r *Request) int {
	i := -1
	switch string(key) {
	case "id":
		i = 0
		r.ID = d.text(v)
	case "session":
		i = 1
		r.Session = d.text(v)
	case "turn":
		i = 2
		r.Turn = int(d.integer(v))
	case "phase":
		i = 3
		r.Phase = d.text(v)
	case "task":
		i = 4
		r.Task = d.text(v)
	case "kind":
		i = 5
		r.Kind = Kind(d.text(v))
	case "status":
		i = 6
		r.Status = Status(d.text(v))
	case "finish":
		i = 7
		r.Finish = d.text(v)
	case "text":
		i = 8
		r.Text = d.text(v)
	case "text_sha256":
		i = 9
		r.TextSHA256 = d.text(v)
	case "body_sha256":
		i = 10
		r.BodySHA256 = d.text(v)
	case "t":
		i = 11
		d.object(v, func(k []byte, v *fastjson.Value) int { return d.times(k, v, &r.T) })
	case "chunks":
		i = 12
		d.object(v, func(k []byte, v *fastjson.Value) int { return d.chunks(k, v, &r.Chunks) })
	case "usage":
		i = 13
		d.object(v, func(k []byte, v *fastjson.Value) int { return d.usage(k, v, &r.Usage) })
	case "asked":
		i = 14
		d.object(v, func(k []byte, v *fastjson.Value) int { return d.asked(k, v, &r.Asked) })
	case "conn":
		i = 15
		d.object(v, func(k []byte, v *fastjson.Value) int { return d.conn(k, v, &r.Conn) })
	case "tenant":
		i = 30
		r.Tenant = d.text(v)
	case "class":
		i = 31
		r.Class = d.text(v)
	case "in_flight":
		i = 32
		r.InFlight = d.count(v)
	case "reasoning":
		i = 33
		r.Reasoning = d.text(v)
	case "tool_calls":
		i = 34
		r.ToolCalls = d.text(v)
	case "item":
		i = 35
		r.Item = d.text(v)
	case "error":
		i = 16
		if v.Type() != fastjson.TypeNull {
			d.other(v, &r.Error)
		}
	case "annotations":
		i = 17
		if v.Type() != fastjson.TypeNull {
			d.other(v, &r.Annotations)
		}
	default:
		return -1
	}
	return i
}

func (d *decoder) times(key []byte, v *fastjson.Value, t *Times) int {
	i := -1
	switch string(key) {
	case "int":
		i = 0
		t.Intended = d.instant(v)
	case "send":
		i = 1
		t.Send = d.instant(v)
	case "headers":
		i = 2
		t.Headers = d.instant(v)
	case "first":
		i = 3
		t.First = d.instant(v)
	case "answer":
		i = 4
		t.Answer = d.instant(v)
	case "last":
		i = 5
		t.Last = d.instant(v)
	case "done":
		i = 6
		t.Done = d.instant(v)
	default:
		return -1
	}
	return i
}

func (d *decoder) chunks(key []byte, v *fastjson.Value, c *Chunks) int {
	i := -1
	switch string(key) {
	case "t":
		i = 0
		if v.Type() == fastjson.TypeNull {
			return i
		}
		list, err := v.Array()
		if err != nil {
			return -1
		}
		c.T = make([]Instant, len(list))
		for j, x := range list {
			c.T[j] = d.instant(x)
		}
	case "tokens":
		i = 1
		if v.Type() == fastjson.TypeNull {
			return i
		}
		list, err := v.Array()
		if err != nil {
			return -1
		}
		c.Tokens = make([]int32, len(list))
		for j, x := range list {
			n := d.integer(x)
			if n != int64(int32(n)) || x.Type() != fastjson.TypeNumber {
				return -1
			}
			c.Tokens[j] = int32(n)
		}
	case "coalesced":
		i = 2
		c.Coalesced = int(d.integer(v))
	default:
		return -1
	}
	return i
}

func (d *decoder) usage(key []byte, v *fastjson.Value, u *Usage) int {
	i := -1
	switch string(key) {
	case "prompt":
		i = 0
		u.Prompt = d.count(v)
	case "completion":
		i = 1
		u.Completion = d.count(v)
	case "reasoning":
		i = 2
		u.Reasoning = d.count(v)
	case "cached":
		i = 3
		u.Cached = d.count(v)
	case "source":
		i = 4
		u.Source = UsageSource(d.text(v))
	default:
		return -1
	}
	return i
}

func (d *decoder) asked(key []byte, v *fastjson.Value, a *Asked) int {
	i := -1
	switch string(key) {
	case "prompt_tokens":
		i = 0
		a.PromptTokens = d.count(v)
	case "max_tokens":
		i = 1
		a.MaxTokens = d.count(v)
	case "shared_prefix":
		i = 2
		a.SharedPrefix = d.count(v)
	default:
		return -1
	}
	return i
}

func (d *decoder) conn(key []byte, v *fastjson.Value, c *Conn) int {
	i := -1
	switch string(key) {
	case "reused":
		i = 0
		switch v.Type() {
		case fastjson.TypeTrue, fastjson.TypeFalse:
			c.Reused = Some(v.Type() == fastjson.TypeTrue)
		case fastjson.TypeNull:
		default:
			return -1
		}
	case "protocol":
		i = 1
		c.Protocol = d.text(v)
	case "stamp":
		i = 2
		c.Stamp = d.text(v)
	case "dial_ns":
		i = 3
		c.Dial = d.nanos(v)
	case "tls_ns":
		i = 4
		c.TLS = d.nanos(v)
	case "wait_ns":
		i = 5
		c.Wait = d.nanos(v)
	case "lag_ns":
		i = 6
		c.Lag = d.nanos(v)
	default:
		return -1
	}
	return i
}
