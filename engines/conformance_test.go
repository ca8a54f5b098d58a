package engines

import (
	"bufio"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/inferencebench/inferencebench/engines/expo"
)

// TestConformance puts every adapter through the same test: a server as one release of it
// shows itself, written down route by route in testdata/conformance. The probe must
// recognise it and no other, and its metrics page must read to exactly the wanted values.
func TestConformance(t *testing.T) {
	files, err := filepath.Glob("testdata/conformance/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no servers to test with")
	}
	covered := map[string]bool{}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		t.Run(name, func(t *testing.T) {
			covered[conform(t, file)] = true
		})
	}
	for _, a := range Table() {
		if !covered[a.Name] && a.Name != "inferencebench_sim" {
			t.Errorf("adapter %s has no server in testdata/conformance", a.Name)
		}
	}
	if !covered["inferencebench_sim"] && !covered["sglang"] {
		t.Error("the simulated engine has no server in testdata/conformance")
	}
}

// conform tests one server and returns the adapter that read it.
func conform(t *testing.T, file string) string {
	ar, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	served, identity, want := routes{}, "", ""
	for _, f := range ar.Files {
		switch {
		case strings.HasPrefix(f.Name, "GET "):
			served[f.Name] = strings.TrimSuffix(string(f.Data), "\n")
		case f.Name == "identity":
			identity = string(f.Data)
		case f.Name == "want":
			want = string(f.Data)
		default:
			t.Fatalf("unknown part %q", f.Name)
		}
	}
	base := serve(t, served)
	id, err := Probe(t.Context(), &http.Client{}, base, nil)
	if err != nil {
		t.Fatal(err)
	}
	checkIdentity(t, &id, identity)
	for _, s := range id.Settings {
		if strings.Contains(s, "sk-never-read") {
			t.Errorf("settings hold a secret: %v", id.Settings)
		}
	}

	values := map[string]float64{}
	if id.MetricsURL != "" {
		u, err := url.Parse(id.MetricsURL)
		if err != nil {
			t.Fatal(err)
		}
		var odd any
		values, odd, err = signalsOf(id.Adapter, served["GET "+u.Path])
		if err != nil || odd != nil {
			t.Errorf("Signals: %v, annotations %v; want neither", err, odd)
		}
	}
	if d := cmp.Diff(wanted(t, want), values, cmpopts.EquateApprox(1e-9, 0)); d != "" {
		t.Errorf("values (-want +got):\n%s", d)
	}
	return id.Adapter.Name
}

func signalsOf(a *Adapter, page string) (map[string]float64, any, error) {
	v, notes, err := a.Signals([]byte(page))
	if len(notes) == 0 {
		return v, nil, err
	}
	return v, notes, err
}

func wanted(t *testing.T, text string) map[string]float64 {
	out := map[string]float64{}
	for sc := bufio.NewScanner(strings.NewReader(text)); sc.Scan(); {
		name, num, _ := strings.Cut(sc.Text(), " ")
		v, err := strconv.ParseFloat(num, 64)
		if err != nil {
			t.Fatalf("want line %q: %v", sc.Text(), err)
		}
		out[name] = v
	}
	return out
}

func checkIdentity(t *testing.T, id *Identity, text string) {
	t.Helper()
	simulated, adapter := false, ""
	for sc := bufio.NewScanner(strings.NewReader(text)); sc.Scan(); {
		key, value, _ := strings.Cut(sc.Text(), " ")
		got := ""
		switch key {
		case "engine":
			got = id.Engine
			if adapter == "" {
				adapter = value
			}
		case "adapter":
			got, adapter = id.Adapter.Name, value
		case "version":
			got = id.Version
		case "models":
			got = strings.Join(id.Models, ",")
		case "max_model_len":
			got = strconv.Itoa(id.MaxModelLen.Or(0))
		case "metrics":
			got = strings.TrimPrefix(id.MetricsURL, id.Base)
			if got == "" {
				got = "none"
			}
		case "simulated":
			simulated = true
		case "setting":
			name, v, _ := strings.Cut(value, " ")
			got, value = id.Settings[name], v
		default:
			t.Fatalf("unknown identity line %q", sc.Text())
		}
		if got != value {
			t.Errorf("%s = %q; want %q", key, got, value)
		}
	}
	if id.Simulated != simulated || id.Adapter.Name != adapter {
		t.Errorf("simulated %v, adapter %s; want %v, %s", id.Simulated, id.Adapter.Name, simulated, adapter)
	}
}

// TestEveryCandidateIsRead makes, for every candidate of every adapter, a page with that
// series alone, and checks that it is read, and read as nothing else.
func TestEveryCandidateIsRead(t *testing.T) {
	for _, a := range Table() {
		for signal, cands := range a.Sources {
			for _, c := range cands {
				got, notes, err := a.Signals([]byte(pageFor(&c)))
				if err != nil || len(notes) > 0 {
					t.Errorf("%s %s from %s: %v, %v", a.Name, signal, c.Metric, err, notes)
				}
				if !slices.ContainsFunc(readNames(signal), func(n string) bool { _, ok := got[n]; return ok }) {
					t.Errorf("%s: %s is not read from %s, page:\n%s\ngot %v", a.Name, signal, c.Metric, pageFor(&c), got)
				}
			}
		}
		for _, signal := range a.Absent {
			if len(a.Sources[signal]) > 0 {
				t.Errorf("%s: %s is absent and offered", a.Name, signal)
			}
		}
	}
}

func readNames(signal string) []string {
	return []string{signal, signal + "_total", signal + "_sum", signal + "_bucket:+Inf"}
}

// pageFor writes the smallest page that a candidate reads.
func pageFor(c *Candidate) string {
	labels := ""
	for k, v := range c.Where {
		labels += fmt.Sprintf("%s=%q,", k, v)
	}
	if c.By != "" {
		labels += fmt.Sprintf("%s=\"x\",", c.By)
	}
	for _, l := range c.Labels {
		labels += fmt.Sprintf("%s=\"2\",", l)
	}
	switch c.Type {
	case "histogram":
		return fmt.Sprintf("# TYPE %[1]s histogram\n%[1]s_bucket{%[2]sle=\"+Inf\"} 2\n%[1]s_sum{%[2]s} 1\n%[1]s_count{%[2]s} 2\n", c.Metric, labels)
	case "ratio", "product":
		if strings.Contains(c.Metric, ".") {
			group, x, _ := strings.Cut(c.Metric, ".")
			_, y, _ := strings.Cut(c.Over, ".")
			return fmt.Sprintf(`[{%q:{%q:1,%q:2}}]`, group, x, y)
		}
		return fmt.Sprintf("%s 1\n%s 2\n", c.Metric, c.Over)
	}
	return fmt.Sprintf("%s{%s} 1\n", c.Metric, labels)
}

// TestNoZeroFilling reads an empty and a foreign page with every adapter: nothing may come
// of either.
func TestNoZeroFilling(t *testing.T) {
	for _, a := range Table() {
		for _, page := range []string{"", "# nothing\n", "other_metric 1\n"} {
			if r := a.Read(expo.Read([]byte(page))); len(r.Values) > 0 {
				t.Errorf("%s reads %v from %q", a.Name, r.Values, page)
			}
		}
	}
}
