package gpu

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPage(t *testing.T) {
	page := `DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-a"} 0
DCGM_FI_DEV_GPU_UTIL{gpu="1",UUID="GPU-b",modelName="H100"} 96
`
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/metrics" {
			fmt.Fprint(w, page)
			return
		}
		fmt.Fprint(w, "up 1\n")
	}))
	defer s.Close()
	src := Page(s.Client(), s.URL+"/metrics", nil, "1")
	each, err := src.ReadEach(t.Context())
	if d := cmp.Diff(map[string]map[string]float64{"GPU-b": {"util_percent": 96}}, each); d != "" || err != nil {
		t.Errorf("ReadEach: %v (-want +got):\n%s", err, d)
	}
	gpus, err := src.Describe(t.Context())
	if err != nil || len(gpus) != 1 || gpus[0].Name != "H100" {
		t.Errorf("Describe = %v, %v", gpus, err)
	}
	if _, err := Page(s.Client(), s.URL+"/other", nil, "").ReadEach(t.Context()); err == nil {
		t.Error("a page without GPUs is no error")
	}
	if _, err := Page(s.Client(), s.URL+"/metrics", nil, "7").ReadEach(t.Context()); err == nil || !strings.Contains(err.Error(), "none of 2") {
		t.Errorf("no GPU in use: %v; want an error that says so", err)
	}
}

func TestCommand(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the fake command is a shell script")
	}
	tool := filepath.Join(t.TempDir(), "fake-smi")
	script := "#!/bin/sh\necho 'index, uuid, utilization.gpu [%], power.draw [W]'\necho '0, GPU-a, 55, [N/A]'\n"
	if err := os.WriteFile(tool, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	each, err := Command([]string{tool}, "").ReadEach(t.Context())
	if d := cmp.Diff(map[string]map[string]float64{"GPU-a": {"util_percent": 55}}, each); d != "" || err != nil {
		t.Errorf("ReadEach: %v (-want +got):\n%s", err, d)
	}
	if _, err := Command([]string{tool + "-not-there"}, "").ReadEach(t.Context()); err == nil {
		t.Error("a command that is not there is no error")
	}
}

func TestStaleExporter(t *testing.T) {
	power := 300.0
	src := &Source{fetch: func(context.Context) ([]Reading, error) {
		return []Reading{{UUID: "GPU-a", Values: map[string]float64{"power_watts": power}}}, nil
	}}
	read := func() int {
		if _, err := src.ReadEach(t.Context()); err != nil {
			t.Fatal(err)
		}
		return len(src.Annotations())
	}
	for i := range staleAfter {
		if n := read(); n != 0 {
			t.Errorf("reading %d: %d annotations; want none yet", i, n)
		}
	}
	if n := read(); n != 1 {
		t.Errorf("%d annotations after %d equal readings; want one", n, staleAfter+1)
	}
	power = 301
	if n := read(); n != 0 {
		t.Errorf("%d annotations after a change; want none", n)
	}
}
