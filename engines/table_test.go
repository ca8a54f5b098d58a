package engines

import (
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
)

func TestTable(t *testing.T) {
	all, err := load(data, "data")
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 5 || all[len(all)-1].Name != Generic {
		t.Errorf("%d adapters, last %q; want at least 5, the generic one last", len(all), all[len(all)-1].Name)
	}
	if _, ok := Lookup("no such engine"); ok {
		t.Error("Lookup finds an engine that is not there")
	}
	sim := adapter(t, "inferencebench_sim")
	if len(sim.Sources) == 0 || !sim.Simulated {
		t.Error("the simulated engine does not read vLLM's names, or does not say that it is one")
	}
}

func TestLogPatterns(t *testing.T) {
	common := CommonLogs()
	if len(common) < 10 {
		t.Errorf("%d common patterns; want them all", len(common))
	}
	for _, l := range common {
		if err := l.check(); err != nil {
			t.Error(err)
		}
	}
	lines := map[string]string{
		"vllm":      "INFO 11-30 GPU KV cache size: 64,000 tokens",
		"sglang":    "[2026-11-30] KV cache pool is full. Retract requests. #retracted_reqs: 3, #new_token_ratio: 0.5 -> 0.7",
		"tgi":       "RuntimeError: Not enough memory to handle 4096 prefill tokens. You need to decrease",
		"llama_cpp": "update_slots: failed to find free space in the KV cache, retrying",
		"lmdeploy":  "Avg thr (in/out): 120.0 / 300.5 tokens/s, API server",
		"ollama":    "llama runner process has terminated: exit status 2",
	}
	for name, line := range lines {
		hit := false
		for _, l := range adapter(t, name).Logs {
			hit = hit || regexp.MustCompile(l.Regex).MatchString(line)
		}
		if !hit {
			t.Errorf("%s: no pattern matches %q", name, line)
		}
	}
}

func TestBadData(t *testing.T) {
	const ok = "name: x\ntitle: X\nabout: test\ntier: full\nmetrics: {format: none}\n"
	for why, tt := range map[string]struct{ yaml, words string }{
		"an unknown key":                  {ok + "colour: red\n", "unknown field"},
		"a name that is not the file's":   {strings.Replace(ok, "name: x", "name: y", 1), "file's name"},
		"a signal that is not canonical":  {ok + "signals: {speed: [{metric: a, type: gauge}]}\n", "not canonical"},
		"a candidate of an unknown type":  {ok + "signals: {ttft: [{metric: a, type: thing}]}\n", "thing"},
		"a signal both there and absent":  {ok + "signals: {ttft: [{metric: a, type: histogram}]}\nabsent: [ttft]\n", "both"},
		"a knob for an unknown cause":     {ok + "knobs: [{name: --a, type: int, effect: e, relieves: [bad_luck]}]\n", "bad_luck"},
		"a knob searched outside an enum": {ok + "knobs: [{name: --a, type: enum, values: [p], search: [q], effect: e}]\n", "not allowed"},
		"a knob searched below its bound": {ok + "knobs: [{name: --a, type: int, min: 1, search: ['0'], effect: e}]\n", "below 1"},
		"a knob searched with no number":  {ok + "knobs: [{name: --a, type: int, search: [many], effect: e}]\n", "no int"},
		"a knob that excludes nothing":    {ok + "knobs: [{name: --a, type: int, excludes: [--b], effect: e}]\n", "excludes"},
		"a log pattern that is no regexp": {ok + "logs: [{id: a, severity: info, regex: '('}]\n", "log pattern a"},
		"a setting with half an address":  {ok + "settings: [{name: a, path: /x}]\n", "setting"},
		"a likeness to nothing":           {ok + "like: z\n", "like"},
	} {
		_, err := load(fstest.MapFS{"d/x.yaml": {Data: []byte(tt.yaml)}}, "d")
		if err == nil || !strings.Contains(err.Error(), tt.words) {
			t.Errorf("%s: load: %v; want an error with %q", why, err, tt.words)
		}
	}
}

func TestAllows(t *testing.T) {
	lo, hi := 0.05, 1.0
	float := Knob{Name: "--share", Type: "float", Min: &lo, Max: &hi}
	tests := []struct {
		knob  Knob
		value string
		ok    bool
	}{
		{float, "0.9", true}, {float, "1", true}, {float, "1.01", false}, {float, "NaN", false}, {float, "x", false},
		{Knob{Type: "int"}, "12", true}, {Knob{Type: "int"}, "1.5", false},
		{Knob{Type: "bool"}, "true", true}, {Knob{Type: "bool"}, "yes", false},
		{Knob{Type: "enum", Values: []string{"a"}}, "a", true}, {Knob{Type: "enum", Values: []string{"a"}}, "b", false},
		{Knob{Type: "enum"}, "anything", true}, {Knob{Type: "json"}, "{}", true},
	}
	for _, tt := range tests {
		if err := tt.knob.Allows(tt.value); (err == nil) != tt.ok {
			t.Errorf("%s knob: Allows(%q) = %v; want ok %v", tt.knob.Type, tt.value, err, tt.ok)
		}
	}
}
