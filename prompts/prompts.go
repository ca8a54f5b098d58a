// Package prompts holds the prompts that the agents send, with the JSON Schema of the
// answer that each expects. They are embedded in the program and versioned: a transcript
// names the version, and a changed prompt is a new version.
//
// A prompt is two files: NAME.vN.txt, a text template whose part before the line "---" is
// the system message, and NAME.vN.json, the schema. Text that came from outside the
// program is put into a template only through the field Data, which [Prompt.Render]
// fences off.
package prompts

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"text/template"

	"github.com/google/jsonschema-go/jsonschema"
)

//go:embed *.txt *.json
var files embed.FS

// Prompt is one version of one prompt.
type Prompt struct {
	Name    string // such as "turn"
	Version string // such as "v1"
	SHA256  string // of the template and the schema, hex
	// Schema is the schema of the answer as sent to the model.
	Schema json.RawMessage
	tmpl   *template.Template
	check  *jsonschema.Resolved
}

// Turn is the prompt for the next user message of a conversation.
func Turn() (*Prompt, error) { return load("turn", "v1") }

// Steer is the prompt for the next phase of a search for what hurts a server.
func Steer() (*Prompt, error) { return load("steer", "v1") }

// Propose is the prompt for configurations that a tuning study should measure.
func Propose() (*Prompt, error) { return load("propose", "v1") }

func load(name, version string) (*Prompt, error) {
	text, err := files.ReadFile(name + "." + version + ".txt")
	if err != nil {
		return nil, fmt.Errorf("prompt %s: %w", name, err)
	}
	schema, err := files.ReadFile(name + "." + version + ".json")
	if err != nil {
		return nil, fmt.Errorf("prompt %s: %w", name, err)
	}
	p := &Prompt{Name: name, Version: version, Schema: schema}
	sum := sha256.New()
	for _, b := range [][]byte{text, {0}, schema} {
		_, _ = sum.Write(b) // a hash's Write returns no error
	}
	p.SHA256 = hex.EncodeToString(sum.Sum(nil))
	if p.tmpl, err = template.New(name).Option("missingkey=error").Parse(string(text)); err != nil {
		return nil, fmt.Errorf("prompt %s: %w", name, err)
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(schema, &s); err != nil {
		return nil, fmt.Errorf("prompt %s: schema: %w", name, err)
	}
	if p.check, err = s.Resolve(nil); err != nil {
		return nil, fmt.Errorf("prompt %s: schema: %w", name, err)
	}
	return p, nil
}

// Data is text from outside: replies of the server under test, logs. Rendered, it stands
// between two fences that it cannot contain.
type Data struct {
	Label string
	Text  string
	Max   int // bytes kept, from the start; 0 is 4,000
}

// String is the fenced text.
func (d Data) String() string {
	limit := d.Max
	if limit <= 0 {
		limit = 4000
	}
	text := strings.ToValidUTF8(d.Text, "�")
	if len(text) > limit {
		text = strings.ToValidUTF8(text[:limit], "") + " […]"
	}
	// The fence depends on the text, so that no text can hold its own fence.
	sum := sha256.Sum256([]byte(text))
	mark := "DATA-" + hex.EncodeToString(sum[:6])
	return fmt.Sprintf("<<%s %s\n%s\n%s>>", mark, d.Label, text, mark)
}

// Render fills the template. Text from outside goes in as a [Data] value.
func (p *Prompt) Render(values map[string]any) (system, user string, err error) {
	var b bytes.Buffer
	if err := p.tmpl.Execute(&b, values); err != nil {
		return "", "", fmt.Errorf("prompt %s: %w", p.Name, err)
	}
	system, user, ok := strings.Cut(b.String(), "\n---\n")
	if !ok {
		return "", "", fmt.Errorf("prompt %s: no line --- between system and user", p.Name)
	}
	return strings.TrimSpace(system), strings.TrimSpace(user), nil
}

// Validate reports how an answer breaks the schema.
func (p *Prompt) Validate(answer json.RawMessage) error {
	var v any
	if err := json.Unmarshal(answer, &v); err != nil {
		return fmt.Errorf("not JSON: %w", err)
	}
	return p.check.Validate(v)
}
