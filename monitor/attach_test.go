package monitor

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/engines"
	"github.com/inferencebench/inferencebench/monitor/gpu"
)

func codesOf(notes []archive.Annotation) (out []string) {
	for _, n := range notes {
		out = append(out, n.Code)
	}
	return out
}

func TestAttach(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/slots":
			fmt.Fprint(w, `[{"n_ctx":512,"is_processing":false}]`)
		case "/dcgm":
			fmt.Fprint(w, "DCGM_FI_DEV_GPU_UTIL{gpu=\"0\",UUID=\"GPU-a\"} 5\nDCGM_FI_DEV_GPU_UTIL{gpu=\"1\",UUID=\"GPU-b\"} 95\n")
		default:
			fmt.Fprint(w, "llamacpp:requests_processing 1\n")
		}
	}))
	defer s.Close()
	a, _ := engines.Lookup("llama_cpp")
	id := engines.Identity{Base: s.URL, Engine: a.Name, Adapter: a, MetricsURL: s.URL + "/metrics"}
	got, err := Attach(t.Context(), Wanted{Client: s.Client(), Server: id, GPUPage: s.URL + "/dcgm", GPUs: "1", Traces: "127.0.0.1:0", Log: "/no/such/log"})
	if err != nil {
		t.Fatal(err)
	}
	var targets []string
	for _, src := range got.Sources {
		targets = append(targets, src.Kind()+" "+strings.TrimPrefix(src.Target(), s.URL))
		if _, err := src.Read(t.Context()); err != nil {
			t.Errorf("%s %s: %v", src.Kind(), src.Target(), err)
		}
	}
	for _, want := range []string{"host ", "client ", "engine /metrics", "engine /slots", "gpu /dcgm"} {
		if !slices.Contains(targets, want) {
			t.Errorf("sources %q; want %q among them", targets, want)
		}
	}
	if len(got.GPUs) != 1 || got.GPUs[0].UUID != "GPU-b" || len(got.Watchers) != 2 {
		t.Errorf("GPUs %v, %d watchers; want the one GPU in use, and two watchers", got.GPUs, len(got.Watchers))
	}

	id.Simulated = true
	got, err = Attach(t.Context(), Wanted{Client: s.Client(), Server: id})
	if err != nil || len(got.GPUs) != 0 || slices.Contains(codesOf(got.Notes), "no_gpu") {
		t.Errorf("a simulated server: %+v, %v; want no GPUs and no word of them", got, err)
	}
	if _, err := Attach(t.Context(), Wanted{Client: s.Client(), Server: id, Log: "carrier-pigeon:x"}); err == nil {
		t.Error("a log of an unknown kind is no error")
	}
}

func TestKeyGoesToTheServerAlone(t *testing.T) {
	w := Wanted{Header: http.Header{"Authorization": {"Bearer k"}}, Server: engines.Identity{Base: "http://gpu-box:8000"}}
	for page, want := range map[string]bool{
		"http://gpu-box:8000/metrics": true, "http://GPU-box:8081/metrics": true, "http://gpu-box.evil:9400/metrics": false, "http://other:9400/metrics": false, "::": false,
	} {
		if got := headerFor(page, w) != nil; got != want {
			t.Errorf("headers go to %s: %v; want %v", page, got, want)
		}
	}
}

// held is a GPU with a process on it.
type held struct {
	scripted
	pids []int
}

func (h *held) Processes() ([]int, bool) { return h.pids, h.pids != nil }

func TestOccupied(t *testing.T) {
	rs := []gpu.Reading{{Index: 0}, {Index: 1}, {Index: 2}}
	sources := []Source{&held{pids: []int{7}}, &held{pids: []int{100, 8}}, &held{}}
	var a Attached
	if got := a.occupied(rs, sources, []int{99, 100}); len(got) != 1 || got[0].Index != 1 || len(a.Notes) != 1 {
		t.Errorf("occupied = %v, notes %v; want GPU 1 and a note", got, a.Notes)
	}
	if got := a.occupied(rs, sources, []int{5}); len(got) != 3 {
		t.Errorf("no process seen on any: %v; want all", got)
	}
}
