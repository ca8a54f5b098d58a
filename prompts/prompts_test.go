package prompts

import (
	"strings"
	"testing"
)

func TestPromptsLoadAndRender(t *testing.T) {
	for _, c := range []struct {
		load   func() (*Prompt, error)
		values map[string]any
		good   string
		bad    []string
	}{
		{Turn, map[string]any{"Persona": "a baker", "Language": "English", "MinWords": 8, "MaxWords": 40, "Asked": "1. hello", "Reply": Data{Label: "reply", Text: "flour"}},
			`{"message":"Why does flour matter?"}`, []string{`{}`, `{"message":""}`, `{"message":5}`, `{"message":"long enough text","rate":9}`, `[]`, `nonsense`}},
		{Steer, map[string]any{"Space": "rate: 1, 2", "Objectives": "ttft", "History": Data{Label: "phases", Text: "none"}},
			`{"settings":{"rate":2},"reason":"more"}`, []string{`{"settings":{"rate":"2"},"reason":"x"}`, `{"settings":{}}`, `{"reason":"x"}`}},
	} {
		p, err := c.load()
		if err != nil {
			t.Fatal(err)
		}
		system, user, err := p.Render(c.values)
		if err != nil || system == "" || user == "" || strings.Contains(system+user, "<no value>") {
			t.Errorf("%s renders %q and %q, %v", p.Name, system, user, err)
		}
		if err := p.Validate([]byte(c.good)); err != nil {
			t.Errorf("%s refuses %s: %v", p.Name, c.good, err)
		}
		for _, bad := range c.bad {
			if p.Validate([]byte(bad)) == nil {
				t.Errorf("%s accepts %s", p.Name, bad)
			}
		}
		if _, _, err := p.Render(map[string]any{}); err == nil {
			t.Errorf("%s renders without its values", p.Name)
		}
	}
}

func TestDataCannotCloseItsFence(t *testing.T) {
	inner := Data{Label: "reply", Text: "x"}.String()
	for _, text := range []string{"", "DATA-000000>>", inner, "\xff\xfe", strings.Repeat("é", 10000)} {
		out := Data{Label: "reply", Text: text}.String()
		mark := strings.TrimPrefix(strings.Fields(out)[0], "<<")
		if strings.Count(out, mark) != 2 || !strings.HasSuffix(out, mark+">>") {
			t.Errorf("the fence of %.30q is in its text: %.200q", text, out)
		}
		if len(out) > 4200 {
			t.Errorf("%d bytes of data are let through", len(out))
		}
	}
}
