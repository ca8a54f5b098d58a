package export

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/report/reporttest"
)

var update = flag.Bool("update", false, "rewrite the golden files and the schemas")

// kinds are the record types that have a schema, and the file of a run that holds them.
var kinds = []struct {
	name, file string
	typ        reflect.Type
}{
	{"analysis", archive.AnalysisFile, reflect.TypeFor[archive.Analysis]()},
	{"manifest", archive.ManifestFile, reflect.TypeFor[archive.Manifest]()},
	{"request", archive.RequestsFile, reflect.TypeFor[archive.Request]()},
	{"sample", archive.SeriesFile, reflect.TypeFor[archive.Sample]()},
	{"event", archive.EventsFile, reflect.TypeFor[archive.Event]()},
	{"checkpoint", archive.CheckpointsFile, reflect.TypeFor[archive.Checkpoint]()},
}

func nullable(typ string) *jsonschema.Schema { return &jsonschema.Schema{Types: []string{typ, "null"}} }

// generate makes the schema of a type, with the doc comments of package archive.
func generate(t *testing.T, name string, typ reflect.Type, docs map[string]string) []byte {
	t.Helper()
	one := 1.0
	s, err := jsonschema.ForType(typ, &jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[archive.Instant]():      {Types: []string{"integer", "null"}, Minimum: &one},
		reflect.TypeFor[archive.Opt[float64]](): nullable("number"),
		reflect.TypeFor[archive.Opt[int]]():     nullable("integer"),
		reflect.TypeFor[archive.Opt[int64]]():   nullable("integer"),
		reflect.TypeFor[archive.Opt[bool]]():    nullable("boolean"),
		reflect.TypeFor[archive.Opt[string]]():  nullable("string"),
		reflect.TypeFor[json.RawMessage]():      {},
		reflect.TypeFor[map[archive.Kind]int](): {Types: []string{"object", "null"}, AdditionalProperties: &jsonschema.Schema{Type: "integer"}},
		reflect.TypeFor[map[string]any]():       {Type: "object"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	describe(s, typ, docs, map[reflect.Type]bool{})
	s.Schema = "https://json-schema.org/draft/2020-12/schema"
	s.Title = "InferenceBench " + name
	b, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return append(b, '\n')
}

// describe adds comments, and lets objects have properties that are not known yet.
func describe(s *jsonschema.Schema, typ reflect.Type, docs map[string]string, seen map[reflect.Type]bool) {
	for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice || typ.Kind() == reflect.Map && s.AdditionalProperties != nil {
		if typ.Kind() == reflect.Map {
			s = s.AdditionalProperties
		}
		if typ.Kind() == reflect.Slice {
			if s.Items == nil {
				return
			}
			s = s.Items
		}
		typ = typ.Elem()
	}
	if typ.Kind() != reflect.Struct || len(s.Properties) == 0 {
		return
	}
	s.AdditionalProperties = nil
	s.Description = docs[typ.Name()]
	for i := range typ.NumField() {
		f := typ.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		p := s.Properties[name]
		if p == nil {
			continue
		}
		describe(p, f.Type, docs, seen)
		if d := docs[typ.Name()+"."+f.Name]; d != "" {
			p.Description = d
		}
	}
}

// comments reads the doc comments of the types of package archive and their fields.
func comments(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	files, err := filepath.Glob("../../archive/*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("no source of package archive: %v", err)
	}
	text := func(gs ...*ast.CommentGroup) string {
		for _, g := range gs {
			if g != nil {
				return strings.Join(strings.Fields(g.Text()), " ")
			}
		}
		return ""
	}
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			d, ok := n.(*ast.GenDecl)
			if !ok {
				return true
			}
			for _, sp := range d.Specs {
				ts, ok := sp.(*ast.TypeSpec)
				if !ok {
					continue
				}
				out[ts.Name.Name] = text(ts.Doc, d.Doc)
				st, ok := ts.Type.(*ast.StructType)
				if !ok {
					continue
				}
				for _, fl := range st.Fields.List {
					for _, id := range fl.Names {
						out[ts.Name.Name+"."+id.Name] = text(fl.Doc, fl.Comment)
					}
				}
			}
			return true
		})
	}
	return out
}

func TestSchemasAreCurrent(t *testing.T) {
	docs := comments(t)
	for _, k := range kinds {
		want := generate(t, k.name, k.typ, docs)
		file := k.name + ".schema.json"
		if *update {
			if err := os.WriteFile(filepath.Join("schema", file), want, 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		got, err := fs.ReadFile(Schemas(), file)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(string(want), string(got)); d != "" {
			t.Errorf("%s is not what the types say; run with -update:\n%s", file, d)
		}
	}
}

func TestRunsFollowTheSchemas(t *testing.T) {
	for _, kind := range reporttest.Kinds() {
		run, _ := reporttest.Build(t, kind)
		for _, k := range kinds {
			validate := resolver(t, k.name)
			data, err := os.ReadFile(filepath.Join(run.Dir, k.file))
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasSuffix(k.file, ".jsonl") {
				validate(data)
				continue
			}
			lines := bufio.NewScanner(bytes.NewReader(data))
			lines.Buffer(nil, 1<<24)
			for n := 0; lines.Scan() && n < 60; n++ {
				validate(lines.Bytes())
			}
		}
	}
}

// resolver returns a function that validates one JSON text.
func resolver(t *testing.T, name string) func([]byte) {
	t.Helper()
	raw, err := fs.ReadFile(Schemas(), name+".schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(raw, &s); err != nil {
		t.Fatal(err)
	}
	r, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return func(data []byte) {
		t.Helper()
		var v any
		if err := json.Unmarshal(data, &v); err != nil {
			t.Fatal(err)
		}
		if err := r.Validate(v); err != nil {
			t.Errorf("%s: %v\n%.300s", name, err, data)
		}
	}
}

func TestSchemaRefusesAWrongRecord(t *testing.T) {
	raw, err := fs.ReadFile(Schemas(), "request.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(raw, &s); err != nil {
		t.Fatal(err)
	}
	r, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	if r.Validate(map[string]any{"id": 7}) == nil {
		t.Error("a request whose id is a number passed")
	}
}
