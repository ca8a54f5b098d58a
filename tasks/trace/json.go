package trace

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"time"
)

// detectJSON tells a JSONL format by the keys of its first object.
func detectJSON(text []byte, session *int, file string) (Format, decoder, error) {
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(text, &keys); err != nil {
		return "", nil, jsonError(err)
	}
	has := func(names ...string) bool {
		for _, n := range names {
			if _, ok := keys[n]; !ok {
				return false
			}
		}
		return true
	}
	switch {
	case has("chat_id", "input_length", "output_length"):
		return Bailian, blocks(16), nil
	case has("timestamp", "input_length", "output_length"):
		return Mooncake, blocks(512), nil
	case has("turns"):
		return GHCP, sessions(session, file), nil
	case has("input_tokens", "output_tokens"):
		return Native, native, nil
	}
	return "", nil, errors.New("the keys of the first object are of no known trace; known are timestamp, input_length, output_length (Mooncake, Bailian), turns (coding agents) and t_ms, input_tokens, output_tokens (native)")
}

func jsonError(err error) error {
	var se *json.SyntaxError
	var te *json.UnmarshalTypeError
	switch {
	case errors.As(err, &se):
		return fmt.Errorf("not a JSON object: byte %d: %w", se.Offset, err)
	case errors.As(err, &te):
		return fmt.Errorf("key %s: %s is not a %s", te.Field, te.Value, te.Type)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("not a JSON object: it ends early")
	}
	return err
}

// decode reads exactly one object.
func decode(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	if err := d.Decode(into); err != nil {
		return jsonError(err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("more than one JSON value on the line")
	}
	return nil
}

// num is a JSON number that must be there.
type num struct {
	v  float64
	ok bool
}

func (n *num) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		return nil
	}
	v, err := strconv.ParseFloat(string(b), 64)
	if err != nil || math.IsInf(v, 0) {
		return fmt.Errorf("%.40s is not a number", b)
	}
	n.v, n.ok = v, true
	return nil
}

func (n num) tokens(key string) (int, error) {
	switch {
	case !n.ok:
		return 0, fmt.Errorf("%s is missing", key)
	case n.v != math.Trunc(n.v) || n.v < 0 || n.v > maxTokens:
		return 0, fmt.Errorf("%s is %g; it is not a number of tokens", key, n.v)
	}
	return int(n.v), nil
}

func (n num) millis(key string) (time.Duration, error) {
	if !n.ok {
		return 0, fmt.Errorf("%s is missing", key)
	}
	if math.Abs(n.v) > float64(maxAt/time.Millisecond) {
		return 0, fmt.Errorf("%s is %g ms; it is out of range", key, n.v)
	}
	return time.Duration(n.v * float64(time.Millisecond)), nil
}

// blocks reads Mooncake's format and Bailian's extension of it.
func blocks(size int) decoder {
	return func(text []byte, yield func(Row) bool) error {
		var o struct {
			Timestamp num             `json:"timestamp"`
			In        num             `json:"input_length"`
			Out       num             `json:"output_length"`
			Blocks    []uint64        `json:"hash_ids"`
			Chat      json.RawMessage `json:"chat_id"`
			Turn      int             `json:"turn"`
			Type      string          `json:"type"`
		}
		if err := decode(text, &o); err != nil {
			return err
		}
		row := Row{Timed: true, Cached: -1, Blocks: o.Blocks, Block: size, Type: o.Type, Session: string(bytes.Trim(o.Chat, `"`)), Turn: max(o.Turn-1, 0)}
		var err error
		if row.In, err = o.In.tokens("input_length"); err != nil {
			return err
		}
		if row.Out, err = o.Out.tokens("output_length"); err != nil {
			return err
		}
		if size == 16 { // Bailian counts seconds
			if !o.Timestamp.ok || math.Abs(o.Timestamp.v) > maxAt.Seconds() {
				return errors.New("timestamp is missing or out of range")
			}
			row.At = time.Duration(o.Timestamp.v * float64(time.Second))
		} else if row.At, err = o.Timestamp.millis("timestamp"); err != nil {
			return err
		}
		yield(row)
		return nil
	}
}

// native reads this project's own format.
func native(text []byte, yield func(Row) bool) error {
	var o struct {
		T       num      `json:"t_ms"`
		Session string   `json:"session_id"`
		Turn    int      `json:"turn"`
		In      num      `json:"input_tokens"`
		Out     num      `json:"output_tokens"`
		Cached  num      `json:"cached_prefix_tokens"`
		Blocks  []uint64 `json:"hash_ids"`
		Block   int      `json:"block_tokens"`
		Type    string   `json:"type"`
		Think   num      `json:"think_ms"`
	}
	if err := decode(text, &o); err != nil {
		return err
	}
	row := Row{Session: o.Session, Turn: o.Turn, Cached: -1, Blocks: o.Blocks, Type: o.Type, Block: o.Block}
	if len(row.Blocks) > 0 && row.Block == 0 {
		row.Block = 512
	}
	if row.Block < 0 || row.Block > 1<<16 {
		return fmt.Errorf("block_tokens is %d; it is between 1 and %d", row.Block, 1<<16)
	}
	var err error
	if row.In, err = o.In.tokens("input_tokens"); err != nil {
		return err
	}
	if row.Out, err = o.Out.tokens("output_tokens"); err != nil {
		return err
	}
	if o.T.ok {
		row.Timed = true
		if row.At, err = o.T.millis("t_ms"); err != nil {
			return err
		}
	}
	if o.Cached.ok {
		if row.Cached, err = o.Cached.tokens("cached_prefix_tokens"); err != nil {
			return err
		}
	}
	if o.Think.ok {
		if row.Think, err = o.Think.millis("think_ms"); err != nil {
			return err
		}
	}
	yield(row)
	return nil
}

// sessions reads coding-agent sessions: one object a line with all its model calls.
func sessions(count *int, file string) decoder {
	return func(text []byte, yield func(Row) bool) error {
		var o struct {
			Turns []struct {
				Calls []struct {
					Timestamp json.RawMessage `json:"timestamp"`
					Model     string          `json:"model"`
					Tokens    struct {
						Prompt     num `json:"prompt"`
						Completion num `json:"completion"`
						Cached     num `json:"cached"`
					} `json:"tokens"`
				} `json:"llm_calls"`
			} `json:"turns"`
		}
		if err := decode(text, &o); err != nil {
			return err
		}
		*count++
		id := fmt.Sprintf("%s#%d", file, *count)
		n := 0
		for i, turn := range o.Turns {
			for k, call := range turn.Calls {
				at, err := moment(call.Timestamp)
				if err != nil {
					return fmt.Errorf("turn %d, call %d: %w", i+1, k+1, err)
				}
				row := Row{At: at.Sub(time.Unix(0, 0)), Timed: true, Session: id, Turn: n, Type: call.Model, Cached: -1}
				if row.In, err = call.Tokens.Prompt.tokens("tokens.prompt"); err != nil {
					return fmt.Errorf("turn %d, call %d: %w", i+1, k+1, err)
				}
				if row.Out, err = call.Tokens.Completion.tokens("tokens.completion"); err != nil {
					return fmt.Errorf("turn %d, call %d: %w", i+1, k+1, err)
				}
				if call.Tokens.Cached.ok {
					if row.Cached, err = call.Tokens.Cached.tokens("tokens.cached"); err != nil {
						return fmt.Errorf("turn %d, call %d: %w", i+1, k+1, err)
					}
				}
				n++
				if !yield(row) {
					return nil
				}
			}
		}
		return nil
	}
}

// moment reads a time: RFC 3339 text, or a number of seconds or milliseconds since 1970.
func moment(raw json.RawMessage) (time.Time, error) {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return stamp(s)
	}
	x, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || x < 0 || x > 1e14 {
		return time.Time{}, fmt.Errorf("timestamp %.40s is not a time", raw)
	}
	if x < 1e11 {
		return time.UnixMicro(int64(x * 1e6)), nil
	}
	return time.UnixMicro(int64(x * 1e3)), nil
}
