package evals

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/evals/items"
)

const formatMaxTokens = 256

// Formats returns the project's own tasks about the form of an answer. The error names a
// task whose schema or pattern is malformed; the embedded ones have none, which a test
// ensures.
func Formats() (*Set, error) {
	s := &Set{Kind: KindFormat, Name: fmt.Sprintf("own-format/%d", items.FormatVersion)}
	for _, f := range items.Formats() {
		check, err := newFormatCheck(f)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.ID, err)
		}
		s.Items = append(s.Items, Item{
			ID: f.ID, Prompt: f.Prompt, Expected: "the demanded form, such as " + f.Good,
			Key: f.Good, Reply: f.Good, MaxTokens: formatMaxTokens, Check: check,
		})
	}
	return s, nil
}

// formatCheck holds one of a schema and a pattern.
type formatCheck struct {
	schema  *jsonschema.Resolved
	pattern *regexp.Regexp
}

func newFormatCheck(f items.Format) (formatCheck, error) {
	if f.Pattern != "" {
		re, err := regexp.Compile(`^(?:` + f.Pattern + `)$`)
		return formatCheck{pattern: re}, err
	}
	var schema jsonschema.Schema
	if err := json.Unmarshal([]byte(f.Schema), &schema); err != nil {
		return formatCheck{}, err
	}
	resolved, err := schema.Resolve(nil)
	return formatCheck{schema: resolved}, err
}

// Check tests the whole answer; white space around it does not count.
func (c formatCheck) Check(_ context.Context, a Answer) Verdict {
	text := strings.TrimSpace(a.Text)
	v := Verdict{Extracted: archive.Some(text)}
	if c.pattern != nil {
		v.Method = "pattern"
		if !c.pattern.MatchString(text) {
			v.Reason = "does not match " + c.pattern.String()
			return wrong(v)
		}
		return right(v)
	}
	v.Method = "schema"
	var value any
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		v.Reason = "not JSON: " + err.Error()
		return wrong(v)
	}
	if err := c.schema.Validate(value); err != nil {
		v.Reason = "JSON of another form: " + err.Error()
		return wrong(v)
	}
	return right(v)
}
