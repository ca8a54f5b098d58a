package campaign

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// maxFile bounds a campaign file. A campaign is a page of text.
const maxFile = 1 << 20

// File is a campaign file as read: the configuration, and where each field stands, so
// that a problem found later can still be shown at its line.
type File struct {
	Document
	Config *Config
}

// Document is a YAML file as read: where each of its fields stands.
type Document struct {
	Path string
	ast  *ast.File
}

// Load reads a campaign file over the defaults of base. A list in the file replaces the
// list of base. Errors are of type *FileError.
func Load(path string, base *Config) (*File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("campaign file: %w", err)
	}
	if info.Size() > maxFile {
		return nil, fmt.Errorf("campaign file %s: larger than %d KiB; is it a campaign file?", path, maxFile>>10)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("campaign file: %w", err)
	}
	return Parse(path, b, base)
}

// Parse is Load for bytes that are already read; path is for messages.
func Parse(path string, b []byte, base *Config) (*File, error) {
	c := *base
	d, err := Decode("campaign", path, b, &c)
	if err != nil {
		return nil, err
	}
	return &File{Document: *d, Config: &c}, nil
}

// Decode reads a YAML file strictly into v, a pointer to a struct with yaml tags, and leaves
// what the file does not mention as it is. kind names the file in messages, such as
// "campaign". Errors are of type *FileError.
func Decode(kind, path string, b []byte, v any) (*Document, error) {
	b = bytes.TrimPrefix(b, []byte("\xef\xbb\xbf"))
	var tree *ast.File
	if err := guard(func() (err error) { tree, err = parser.ParseBytes(b, 0); return err }); err != nil {
		return nil, fileError(kind, path, err, v)
	}
	if len(tree.Docs) == 0 || tree.Docs[0].Body == nil {
		return nil, &FileError{Path: path, Line: 1, Message: "the file is empty; " + initHint(kind)}
	}
	if len(tree.Docs) > 1 {
		return nil, &FileError{Path: path, Line: tree.Docs[1].GetToken().Position.Line, Message: "a second document: a " + kind + " file holds one"}
	}
	if err := guard(func() error { return yaml.NodeToValue(tree.Docs[0].Body, v, yaml.Strict()) }); err != nil {
		return nil, fileError(kind, path, err, v)
	}
	return &Document{Path: path, ast: tree}, nil
}

// initHint says how to get a file of a kind with every field.
func initHint(kind string) string {
	if kind == "campaign" {
		return "`inferencebench init` writes one with every field"
	}
	return "`inferencebench init --" + kind + "` writes one with every field"
}

// errYAML is what a document answers with on which the YAML library panics. Such
// documents exist: a tag (!name) before a scalar where a list belongs is one.
var errYAML = errors.New("not YAML that can be read; look for a tag (!), an anchor (&) or an alias (*), which no file here needs")

// guard calls f, which calls the YAML library, and turns its panic into errYAML.
func guard(f func() error) (err error) {
	defer func() {
		if recover() != nil {
			err = errYAML
		}
	}()
	return f()
}

// FileError is a problem at a line of a campaign file.
type FileError struct {
	Path         string
	Line, Column int
	Message      string
}

// Error has the form path:line:column: message.
func (e *FileError) Error() string {
	if e.Column > 0 {
		return fmt.Sprintf("%s:%d:%d: %s", e.Path, e.Line, e.Column, e.Message)
	}
	return fmt.Sprintf("%s:%d: %s", e.Path, e.Line, e.Message)
}

// fileError gives an error of the YAML library its place and our words.
func fileError(kind, path string, err error, into any) error {
	ye, ok := errors.AsType[yaml.Error](err)
	if !ok || ye.GetToken() == nil {
		return fmt.Errorf("%s file %s: %w", kind, path, err)
	}
	tok := ye.GetToken()
	fe := &FileError{Path: path, Line: tok.Position.Line, Column: tok.Position.Column, Message: ye.GetMessage()}
	if _, ok := errors.AsType[*yaml.UnknownFieldError](err); ok {
		fe.Message = fmt.Sprintf("unknown field %q", tok.Value)
		if in := groupsOf(tok.Value, reflect.TypeOf(into)); len(in) > 0 {
			fe.Message = fmt.Sprintf("%q does not belong here; it is a field of %s", tok.Value, strings.Join(in, ", "))
		} else if near := nearest(tok.Value, fieldNames(reflect.TypeOf(into))); near != "" {
			fe.Message += fmt.Sprintf("; did you mean %q?", near)
		} else {
			fe.Message += "; " + initHint(kind)
		}
	}
	if ne, ok := errors.AsType[*yaml.UnexpectedNodeTypeError](err); ok {
		fe.Message = fmt.Sprintf("%q stands where a %s is expected: a list has lines that start with -, a group has fields below it", tok.Value, strings.ToLower(ne.Expected.String()))
	}
	if oe, ok := errors.AsType[*yaml.OverflowError](err); ok {
		fe.Message = fmt.Sprintf("%s is not %s", oe.SrcNum, kindName(oe.DstType))
	}
	if _, ok := errors.AsType[*yaml.SyntaxError](err); ok && fe.Message == "value is not allowed in this context" {
		fe.Message += ": check the indentation, and the colon and space between a field and its value"
	}
	if te, ok := errors.AsType[*yaml.TypeError](err); ok {
		fe.Message = fmt.Sprintf("%q is not %s", tok.Value, kindName(te.DstType))
	}
	return fe
}

func kindName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int64:
		return "a whole number"
	case reflect.Uint64:
		return "a whole number of 0 or more"
	case reflect.Float64:
		return "a number"
	case reflect.Slice:
		return "a list (lines that start with -)"
	case reflect.Map, reflect.Struct:
		return "a group of fields"
	default:
		return "text"
	}
}

// scalar returns the text of a scalar node as the user wrote it, without quotes.
func scalar(n ast.Node) string {
	if n == nil || n.GetToken() == nil {
		return ""
	}
	return n.GetToken().Value
}

// at makes an error that carries the node's place.
func at(n ast.Node, msg string) error { return &yaml.SyntaxError{Message: msg, Token: n.GetToken()} }

// fieldNames lists every yaml name below a struct type.
func fieldNames(t reflect.Type) []string {
	var names []string
	var walk func(reflect.Type)
	walk = func(t reflect.Type) {
		for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
			t = t.Elem()
		}
		if t.Kind() != reflect.Struct {
			return
		}
		for f := range t.Fields() {
			if tag := f.Tag.Get("yaml"); tag != "" {
				names = append(names, tag)
				walk(f.Type)
			}
		}
	}
	walk(t)
	return names
}

// groupsOf returns where a field of this name may stand: the dotted paths of the groups that
// have it, and "the top level".
func groupsOf(name string, t reflect.Type) []string {
	var out []string
	var walk func(t reflect.Type, path string)
	walk = func(t reflect.Type, path string) {
		for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
			t = t.Elem()
		}
		if t.Kind() != reflect.Struct {
			return
		}
		for f := range t.Fields() {
			tag := f.Tag.Get("yaml")
			if tag == "" {
				continue
			}
			if tag == name {
				group := path
				if group == "" {
					group = "the top level"
				}
				out = append(out, group)
			}
			walk(f.Type, strings.TrimPrefix(path+"."+tag, "."))
		}
	}
	walk(t, "")
	return out
}

// nearest returns the known name that is at most two edits away from s, or "".
func nearest(s string, known []string) string {
	best, at := 3, ""
	for _, k := range known {
		if d := distance(strings.ReplaceAll(s, "-", "_"), k); d < best {
			best, at = d, k
		}
	}
	return at
}

// distance is the Levenshtein distance.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		prev := slices.Clone(row)
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(prev[j+1]+1, row[j]+1, prev[j]+cost)
		}
	}
	return row[len(b)]
}

// line returns the line of a field path such as "phases[0].request_rate", or of its
// nearest parent that the file has; 0 when there is none.
func (d *Document) line(path string) int {
	for path != "" {
		if p, err := yaml.PathString("$." + path); err == nil {
			if n, err := p.FilterFile(d.ast); err == nil && n != nil && n.GetToken() != nil {
				return n.GetToken().Position.Line
			}
		}
		i := strings.LastIndexAny(path, ".[")
		path = path[:max(i, 0)]
	}
	return 0
}

// Locate adds the file's lines to the problems of a configuration that came from it.
func (d *Document) Locate(err error) error {
	ps, ok := errors.AsType[Problems](err)
	if !ok {
		return err
	}
	out := make(Problems, len(ps))
	for i, p := range ps {
		if p.Flag == "" {
			p.File, p.Line = d.Path, d.line(p.Field)
		}
		out[i] = p
	}
	return out
}
