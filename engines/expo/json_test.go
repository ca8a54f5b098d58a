package expo

import "testing"

func TestRead(t *testing.T) {
	tests := []struct {
		why, in string
		want    map[string]float64
		bad     int
	}{
		{"the newest of a list of steps, nested numbers by their path", `[{"n":1},{"n":2,"kv":{"used":3},"s":"x","a":[1],"z":null}]`, map[string]float64{"n": 2, "kv.used": 3}, 0},
		{"an object", ` {"n": 1.5}`, map[string]float64{"n": 1.5}, 0},
		{"an empty list", `[]`, nil, 0},
		{"an empty object", `{}`, nil, 0},
		{"broken JSON is one bad line", `[{"n":`, nil, 1},
		{"a quoted metric name is text, not JSON", `{"n"} 4`, map[string]float64{"n": 4}, 0},
		{"text", "n 1\n", map[string]float64{"n": 1}, 0},
		{"nothing", "", nil, 0},
	}
	for _, tt := range tests {
		p := Read([]byte(tt.in))
		if len(p.Samples) != len(tt.want) || p.Bad != tt.bad {
			t.Errorf("%s: %d samples, %d bad; want %d, %d", tt.why, len(p.Samples), p.Bad, len(tt.want), tt.bad)
		}
		for name, v := range tt.want {
			if got := p.Get(name); len(got) != 1 || got[0].Value != v {
				t.Errorf("%s: %s = %v; want %v", tt.why, name, got, v)
			}
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`[{"a":{"b":1}}]`))
	f.Add([]byte(`{"a"} 1`))
	f.Fuzz(func(t *testing.T, b []byte) {
		p := Read(b)
		for i := range p.Samples {
			if !p.Has(p.Samples[i].Name) {
				t.Fatalf("%q is not in the index", p.Samples[i].Name)
			}
		}
	})
}
