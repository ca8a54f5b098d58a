package integrity

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/tuner"
)

func testObserver(t testing.TB) *Observer {
	t.Helper()
	o, err := NewObserver(Config{Entropy: bytes.NewReader(make([]byte, 32)), Now: func() time.Time { return time.Unix(0, 0) }})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a b\"},\"finish_reason\":null}]}\n\ndata: {\"choices\":[],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":-4}}\n\ndata: [DONE]\n\n"))
	f.Add([]byte(`{"choices":[{"message":{"content":"whole"},"finish_reason":"stop"}],"usage":{"completion_tokens":1}}`))
	f.Add([]byte("data: {\"error\":{\"message\":\"no\"}}\n\n"))
	o := testObserver(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		var r reply
		o.read(t.Context(), bytes.NewReader(b), time.Unix(0, 0), &r)
		p := o.secret.print(0, r)
		if r.err == "" && r.chunks == 0 && r.finish == "" {
			t.Errorf("read(%q) takes an empty reply for a whole one", b)
		}
		if _, err := json.Marshal(p); err != nil {
			t.Errorf("print of %q: %v", b, err)
		}
	})
}

// TestJudgeHostile wants a verdict, and none that fails, of sightings that say nothing.
func TestJudgeHostile(t *testing.T) {
	trial := func(raw string) []tuner.Trial {
		return []tuner.Trial{{Measurement: tuner.Measurement{Observed: map[string]json.RawMessage{Name: json.RawMessage(raw)}}}}
	}
	empty := `{"prints":[{}]}`
	for _, row := range []struct{ name, base, head string }{
		{"nothing was seen", `null`, `null`},
		{"the observer failed", empty, `{"error":"no route"}`},
		{"not what an observer writes", `[1]`, `{"prints":7}`},
		{"empty prints", empty, empty},
		{"every request failed", `{"prints":[{"error":"HTTP status 500"}],"errors":9}`, `{"prints":[{"error":"HTTP status 500"}],"errors":9}`},
		{"more prompts here than there", `{"prints":[{},{},{}],"again":[{},{},{},{},{}]}`, empty},
		{"negative counts", empty, `{"prints":[{}],"forced":[{"asked":-1,"counted":-5,"chars":-3}],"canary":{"asked":-4,"pairs":-1}}`},
	} {
		vs := NewCheck(CheckConfig{}).Judge(trial(row.base), trial(row.head))
		if len(vs) == 0 {
			t.Errorf("%s: no verdict", row.name)
		}
		if f := failures(vs); len(f) > 0 {
			t.Errorf("%s: %q", row.name, f)
		}
	}
	if vs := NewCheck(CheckConfig{}).Judge(nil, nil); len(failures(vs)) > 0 || len(vs) != 1 {
		t.Errorf("Judge(nil, nil) = %+v; want one unknown verdict", vs)
	}
}

// TestIdentity wants a server that is suddenly another to be noticed.
func TestIdentity(t *testing.T) {
	base := Face{Engine: "vllm", Version: "0.11", Header: "uvicorn"}
	for _, row := range []struct {
		name string
		head Face
		want bool
	}{
		{"the same", base, true},
		{"through a proxy", Face{"vllm", "0.11", "uvicorn", "1.1 cache"}, false},
		{"another version", Face{"vllm", "0.12", "uvicorn", ""}, false},
		{"another HTTP server", Face{"vllm", "0.11", "nginx", ""}, false},
	} {
		f := (*Check)(nil).identity(&sides{base: []Sighting{{Server: base}}, head: []Sighting{{Server: row.head}}})
		if f.passed.Or(!row.want) != row.want {
			t.Errorf("%s: %v (%s); want passed %v", row.name, f.passed, f.text, row.want)
		}
	}
}

// TestRuns wants a run whose own gate says that its speed is impossible to stop a
// challenger, and a device that idles as well.
func TestRuns(t *testing.T) {
	run := func(mbu bool, util float64) []tuner.Trial {
		a := &archive.Analysis{
			Gates:    []archive.Gate{{ID: "plausibility", Passed: archive.Some(mbu), Observed: "MFU 0.10, MBU 1.70"}},
			Evidence: []archive.Evidence{{Metric: "gpu_util", Value: archive.Some(util)}},
		}
		dir := t.TempDir()
		if err := archive.WriteAnalysis(dir, a); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "manifest.json"), []byte(`{"schema":1}`), 0o600); err != nil {
			t.Fatal(err)
		}
		return []tuner.Trial{{Measurement: tuner.Measurement{Run: dir}}}
	}
	for _, row := range []struct {
		name string
		head []tuner.Trial
		want string
	}{
		{"possible and at work", run(true, 90), ""},
		{"impossible", run(false, 90), "integrity/plausible"},
		{"idle", run(true, 0), "integrity/device"},
	} {
		got := failures(NewCheck(CheckConfig{}).Judge(run(true, 95), row.head))
		if row.want == "" && len(got) > 0 || row.want != "" && (len(got) != 1 || !strings.HasPrefix(got[0], row.want)) {
			t.Errorf("%s: alarms %q; want %q", row.name, got, row.want)
		}
	}
}

func TestSecret(t *testing.T) {
	path := filepath.Join(t.TempDir(), "secret")
	a, err := OpenSecret(path, bytes.NewReader(bytes.Repeat([]byte{7}, 32)))
	if err != nil {
		t.Fatal(err)
	}
	b, err := OpenSecret(path, bytes.NewReader(nil))
	if err != nil || a != b {
		t.Errorf("opened again: %v, equal %v; want the same secret", err, a == b)
	}
	if st, err := os.Stat(path); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v; want 0600", st.Mode(), err)
	}
	if err := os.WriteFile(path, []byte("no secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenSecret(path, bytes.NewReader(nil)); err == nil {
		t.Error("a file that holds no secret was taken for one")
	}
	rng, other := a.rng(), Secret{}.rng()
	if p, q := question(rng), question(other); p == q {
		t.Errorf("two secrets have the same first prompt %q", p)
	}
}
