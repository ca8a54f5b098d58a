package learn

import (
	"encoding/json"
	"strings"
	"time"
)

// Helpers for JSON whose shape is not known.

func object(v any) map[string]any { m, _ := v.(map[string]any); return m }
func array(v any) []any           { a, _ := v.([]any); return a }

func text(v any) string {
	switch x := v.(type) {
	case string:
		return x
	case json.Number:
		return x.String()
	}
	return ""
}

// find looks a key up in several objects.
func find(keys []string, in ...map[string]any) any {
	for _, o := range in {
		for k, v := range o {
			l := strings.ToLower(k)
			for _, want := range keys {
				if l == want && v != nil {
					return v
				}
			}
		}
	}
	return nil
}

func tokens(v any) int {
	n, ok := v.(json.Number)
	if !ok {
		return -1
	}
	x, err := n.Float64()
	if err != nil || !(x >= 0 && x < 1e9) {
		return -1
	}
	return int(x)
}

// chatRecord reads one object in the shape of the OpenAI API or of LiteLLM, with request
// and response beside each other or flat. ok is false for an object that is no request.
func chatRecord(o map[string]any) (rec Record, ok bool, err error) {
	rec = fresh()
	req, resp := object(o["request"]), object(o["response"])
	if b := object(req["body"]); b != nil {
		req = b
	}
	if b := object(o["body"]); b != nil && req == nil {
		req = b
	}
	if b := object(resp["body"]); b != nil {
		resp = b
	}
	meta := object(o["metadata"])
	usage := object(find([]string{"usage"}, o, resp))
	rec.In = tokens(find(inKeys, usage, o))
	rec.Out = tokens(find(outKeys, usage, o))
	if d := object(find([]string{"prompt_tokens_details", "input_tokens_details"}, usage)); d != nil {
		rec.Cached = tokens(d["cached_tokens"])
	}
	messages := array(find([]string{"messages"}, o, req))
	if messages == nil {
		rec.Prompt = text(find([]string{"prompt", "input"}, o, req))
	}
	rec.chat(messages)
	if rec.In < 0 && rec.Prompt == "" {
		return rec, false, nil
	}
	rec.Model = text(find([]string{"model"}, o, req))
	rec.Session = text(find(sessionKeys, o, meta, req))
	rec.User = text(find(userKeys, o, req, meta))
	if s := text(find(timeKeys, o, req)); s != "" {
		if rec.At, err = when(s); err != nil {
			return rec, false, err
		}
	}
	if s := text(find([]string{"endtime", "end_time"}, o)); s != "" && !rec.At.IsZero() {
		if end, err := when(s); err == nil && !end.Before(rec.At) {
			rec.Latency = end.Sub(rec.At)
		}
	} else if ms := tokens(find(latencyKeys, o)); ms >= 0 {
		rec.Latency = time.Duration(ms) * time.Millisecond
	}
	if s := text(find([]string{"status", "http_status", "status_code"}, o)); s != "" {
		rec.Failed = s != "success" && s != "ok" && s != "200"
	}
	if o["error"] != nil {
		rec.Failed = true
	}
	return rec, true, nil
}

// chat splits a conversation into its system message, its history and its last user
// message.
func (r *Record) chat(messages []any) {
	var history strings.Builder
	last := -1
	for i, m := range messages {
		if text(object(m)["role"]) == "user" {
			last = i
		}
	}
	for i, m := range messages {
		o := object(m)
		body := content(o["content"])
		switch {
		case text(o["role"]) == "system" || text(o["role"]) == "developer":
			r.System += body
		case i == last:
			r.Prompt = body
		case i < last:
			history.WriteString(text(o["role"]))
			history.WriteByte('\n')
			history.WriteString(body)
			history.WriteByte('\x00')
		}
	}
	r.History = history.String()
}

// content is the text of a message, which may be split into parts.
func content(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	var b strings.Builder
	for _, p := range array(v) {
		b.WriteString(text(object(p)["text"]))
	}
	return b.String()
}

// otlpSpans are the spans of an OTLP export.
func otlpSpans(v any) []map[string]any {
	var out []map[string]any
	for _, r := range array(v) {
		scopes := array(object(r)["scopeSpans"])
		for _, s := range scopes {
			for _, span := range array(object(s)["spans"]) {
				out = append(out, object(span))
			}
		}
	}
	return out
}

// otlpRecord reads a span with the generative-AI attributes of OpenTelemetry.
func otlpRecord(span map[string]any) (Record, bool) {
	rec := fresh()
	attr := map[string]any{}
	for _, a := range array(span["attributes"]) {
		for _, v := range object(object(a)["value"]) {
			attr[text(object(a)["key"])] = v
		}
	}
	number := func(keys ...string) int {
		for _, k := range keys {
			if n := tokens(json.Number(text(attr[k]))); text(attr[k]) != "" && n >= 0 {
				return n
			}
		}
		return -1
	}
	rec.In = number("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens")
	rec.Out = number("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens")
	if rec.In < 0 && rec.Out < 0 {
		return rec, false
	}
	rec.Model = text(attr["gen_ai.request.model"])
	rec.Session = text(attr["gen_ai.conversation.id"])
	rec.Prompt = text(attr["gen_ai.prompt"])
	start, err1 := when(text(span["startTimeUnixNano"]))
	end, err2 := when(text(span["endTimeUnixNano"]))
	if err1 == nil {
		rec.At = start
		if err2 == nil && !end.Before(start) {
			rec.Latency = end.Sub(start)
		}
	}
	return rec, true
}
