package delta

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"github.com/inferencebench/inferencebench/archive"
)

// errorBody is a failure in any of the shapes that servers use.
type errorBody struct {
	Object    string          `json:"object"`
	Type      string          `json:"type"`
	Error     json.RawMessage `json:"error"`
	ErrorType string          `json:"error_type"` // TGI
	Message   json.RawMessage `json:"message"`
	Detail    json.RawMessage `json:"detail"` // FastAPI
	Code      json.RawMessage `json:"code"`
	Status    json.RawMessage `json:"status"`
	Param     string          `json:"param"`
}

// ParseError reads the body of an HTTP error, or the data of an event that reports one.
// It returns nil when the body holds no failure in a known shape.
func ParseError(body []byte) *Error {
	if isObject(body) != nil {
		return nil
	}
	return eventError([]byte("error"), body)
}

// eventError reads a failure out of an event without choices. An event of type error is
// one whatever it holds.
func eventError(event, data []byte) *Error {
	var b errorBody
	if unmarshal(data, &b) != nil {
		return nil
	}
	if e := parseError(b.Error); e != nil {
		if e.Type == "" {
			e.Type = b.ErrorType
		}
		return e
	}
	if string(event) != "error" && b.Object != "error" && b.Type != "error" && text(b.Detail) == "" {
		return nil
	}
	e := &Error{Type: b.Type, Param: b.Param, Code: code(b.Code), Message: text(b.Message)}
	if !e.Code.Known() {
		e.Code = code(b.Status)
	}
	if e.Message == "" {
		e.Message = text(b.Detail)
	}
	if e.Message == "" && len(b.Detail) > 0 && string(b.Detail) != "null" {
		e.Message = string(b.Detail)
	}
	if e.Message == "" {
		e.Message = string(data)
	}
	return e
}

// topError reads a failure that stands beside choices.
func topError(data []byte) *Error {
	if !bytes.Contains(data, []byte(`"error"`)) {
		return nil
	}
	var b struct {
		Error json.RawMessage `json:"error"`
	}
	if unmarshal(data, &b) != nil {
		return nil
	}
	return parseError(b.Error)
}

// parseError reads the value of an error field: an object or a text.
func parseError(raw json.RawMessage) *Error {
	if len(raw) == 0 {
		return nil
	}
	switch raw[0] {
	case '"':
		s := text(raw)
		if s == "" {
			return nil
		}
		return &Error{Message: s}
	case '{':
		var b errorBody
		if unmarshal(raw, &b) != nil {
			return nil
		}
		e := &Error{Type: b.Type, Param: b.Param, Code: code(b.Code), Message: text(b.Message)}
		if e.Type == "" && !e.Code.Known() {
			e.Type = text(b.Code)
		}
		if !e.Code.Known() {
			e.Code = code(b.Status)
		}
		if e.Message == "" {
			e.Message = string(raw)
		}
		return e
	}
	return nil
}

// code reads an HTTP status code that is a number or a text.
func code(raw json.RawMessage) archive.Opt[int] {
	n, err := strconv.Atoi(strings.Trim(string(raw), `"`))
	if err != nil || n < 100 || n > 599 {
		return archive.Opt[int]{}
	}
	return archive.Some(n)
}

var errObject = errors.New("the first byte is not a brace")

func isObject(data []byte) error {
	if b := bytes.TrimLeft(data, " \t\r\n"); len(b) == 0 || b[0] != '{' {
		return errObject
	}
	return nil
}
