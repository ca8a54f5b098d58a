package imports

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/inferencebench/inferencebench/archive"
)

// maxRuns bounds the runs of one file.
const maxRuns = 1000

// object is a JSON object whose fields are read when they are asked for.
type object map[string]json.RawMessage

// parseJSON reads one or more JSON objects and tells the format by their fields. All
// objects of a file have the format of the first.
func parseJSON(name string, data []byte) ([]*Imported, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	var objs []object
	for {
		var o object
		err := d.Decode(&o)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			at := d.InputOffset()
			var syntax *json.SyntaxError
			if errors.As(err, &syntax) {
				at = syntax.Offset
			}
			return nil, fmt.Errorf("%s:%d: %w", name, line(data, at), err)
		}
		if o == nil {
			return nil, fmt.Errorf("%s:%d: null is no result", name, line(data, d.InputOffset()))
		}
		objs = append(objs, o)
		if len(objs) == 1 && o.has("metadata") && o.has("metrics") && !o.has("benchmarks") {
			return parseRecords(name, data) // one line a request: read as a stream
		}
		if len(objs) > maxRuns {
			return nil, fmt.Errorf("%s:%d: more than %d runs in one file", name, line(data, d.InputOffset()), maxRuns)
		}
	}
	var out []*Imported
	for i, o := range objs {
		var ims []*Imported
		var err error
		switch {
		case o.has("benchmarks"):
			ims, err = guidellm(o)
		case o.has("time_to_first_token") && o.has("request_latency") || o.has("input_config"):
			ims, err = aiperf(o)
		case o.has("completed") && (o.has("mean_e2e_latency_ms") || o.has("accept_length")):
			ims, err = serving("sglang", o)
		case o.has("completed") && (o.has("request_throughput") || o.has("mean_ttft_ms")):
			ims, err = serving("vllm", o)
		default:
			err = ErrUnknown
		}
		if err != nil {
			return nil, fmt.Errorf("%s, object %d: %w", name, i+1, err)
		}
		out = append(out, ims...)
	}
	return out, nil
}

// line is the line that an offset is in.
func line(data []byte, offset int64) int {
	return 1 + bytes.Count(data[:min(int(offset), len(data))], []byte("\n"))
}

func (o object) has(key string) bool {
	v, ok := o[key]
	return ok && string(v) != "null"
}

// number reads a number, also one written as a string.
func (o object) number(key string) (float64, bool) {
	v, ok := o[key]
	if !ok {
		return 0, false
	}
	var f float64
	if json.Unmarshal(v, &f) == nil && string(v) != "null" {
		return f, !math.IsNaN(f) && !math.IsInf(f, 0)
	}
	var s string
	if json.Unmarshal(v, &s) == nil {
		f, err := strconv.ParseFloat(s, 64)
		return f, err == nil && !math.IsNaN(f) && !math.IsInf(f, 0)
	}
	return 0, false
}

func (o object) opt(key string) archive.Opt[float64] {
	if v, ok := o.number(key); ok {
		return archive.Some(v)
	}
	return archive.Opt[float64]{}
}

func (o object) count(key string) int {
	v, _ := o.number(key)
	return int(math.Max(0, math.Min(v, 1e12)))
}

func (o object) text(keys ...string) string {
	for _, k := range keys {
		var s string
		if json.Unmarshal(o[k], &s) == nil && s != "" {
			return s[:min(len(s), 500)]
		}
	}
	return ""
}

// object reads a field that is an object; it is empty when the field is not.
func (o object) object(key string) object {
	var out object
	if json.Unmarshal(o[key], &out) != nil {
		return nil
	}
	return out
}

func list[T any](o object, key string) []T {
	var out []T
	if json.Unmarshal(o[key], &out) != nil {
		return nil
	}
	return out
}
