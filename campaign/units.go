package campaign

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/goccy/go-yaml/ast"
)

// Warmup is a number of requests or a time; the zero Warmup is none.
type Warmup struct {
	Requests int
	Duration time.Duration
}

// Duration is a time.Duration that is written as "30s" in YAML and JSON.
type Duration time.Duration

// UnmarshalYAML reads "30s", "1m30s" and the like. A bare number has no unit, so it is
// refused.
func (d *Duration) UnmarshalYAML(n ast.Node) error {
	s := scalar(n)
	v, err := time.ParseDuration(s)
	if err != nil {
		return at(n, fmt.Sprintf("%q is not a duration: write a number with a unit, such as 30s, 2m or 500ms", s))
	}
	*d = Duration(v)
	return nil
}

// MarshalYAML writes the Go notation.
func (d Duration) MarshalYAML() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// MarshalJSON writes the Go notation.
func (d Duration) MarshalJSON() ([]byte, error) { return json.Marshal(time.Duration(d).String()) }

// UnmarshalJSON reads the Go notation.
func (d *Duration) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	v, err := time.ParseDuration(s)
	*d = Duration(v)
	return err
}

// ParseWarmup reads a count such as "20" or a time such as "10s".
func ParseWarmup(s string) (Warmup, error) {
	if n, err := strconv.Atoi(s); err == nil {
		return Warmup{Requests: n}, nil
	}
	d, err := time.ParseDuration(s)
	if err != nil {
		return Warmup{}, fmt.Errorf("%q is neither a number of requests nor a time such as 10s", s)
	}
	return Warmup{Duration: d}, nil
}

// UnmarshalYAML reads what ParseWarmup reads.
func (w *Warmup) UnmarshalYAML(n ast.Node) error {
	v, err := ParseWarmup(scalar(n))
	if err != nil {
		return at(n, err.Error())
	}
	*w = v
	return nil
}

// String writes what ParseWarmup reads.
func (w Warmup) String() string {
	if w.Duration > 0 {
		return w.Duration.String()
	}
	return fmt.Sprint(w.Requests)
}

// MarshalYAML writes what UnmarshalYAML reads.
func (w Warmup) MarshalYAML() ([]byte, error) { return []byte(w.String()), nil }

// MarshalJSON writes what ParseWarmup reads.
func (w Warmup) MarshalJSON() ([]byte, error) { return json.Marshal(w.String()) }

// UnmarshalJSON reads what ParseWarmup reads.
func (w *Warmup) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	v, err := ParseWarmup(s)
	*w = v
	return err
}
