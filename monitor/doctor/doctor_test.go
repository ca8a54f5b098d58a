package doctor

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/inferencebench/inferencebench/archive"
)

func server(t *testing.T, routes map[string]string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, ok := routes[r.URL.Path]
		if !ok {
			http.Error(w, `{"error":{}}`, http.StatusNotFound)
			return
		}
		fmt.Fprint(w, body)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func examine(t *testing.T, base string) *Report {
	t.Helper()
	r, err := Examine(t.Context(), Options{Client: &http.Client{}, Base: base})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *Report) check(id string) Check {
	for _, c := range r.Checks {
		if c.ID == id {
			return c
		}
	}
	return Check{}
}

func (r *Report) signal(name string) Signal {
	for _, s := range r.Signals {
		if s.Name == name {
			return s
		}
	}
	return Signal{}
}

func TestMetricsSwitchedOff(t *testing.T) {
	r := examine(t, server(t, map[string]string{
		"/v1/models": `{"data":[{"id":"q","owned_by":"sglang"}]}`, "/model_info": `{"model_path":"q"}`, "/health": "",
	}))
	if c := r.check("metrics"); c.State != Warn || !strings.Contains(c.Fix, "--enable-metrics") {
		t.Errorf("metrics: %+v; want a warning that names the flag", c)
	}
	if s := r.signal("requests_running"); s.State != Off || !strings.Contains(s.Fix, "--enable-metrics") {
		t.Errorf("requests_running: %+v; want off, with the flag", s)
	}
	if s := r.signal("decode_time"); s.State != Absent {
		t.Errorf("decode_time: %+v; want absent: this server does not have it", s)
	}
	if r.Worst() != Warn || len(r.Annotations()) == 0 {
		t.Errorf("worst %s, annotations %v", r.Worst(), r.Annotations())
	}
}

func TestSignalsSeen(t *testing.T) {
	r := examine(t, server(t, map[string]string{
		"/v1/models": `{"data":[{"id":"m","owned_by":"vllm","max_model_len":4096}]}`, "/version": `{"version":"0.30.0"}`, "/health": "",
		"/metrics": "vllm:num_requests_running{engine=\"0\"} 0\nvllm:kv_cache_usage_perc{engine=\"0\"} 0\nvllm:cache_config_info{engine=\"0\",block_size=\"16\"} 1\n",
	}))
	if s := r.signal("requests_running"); s.State != Seen || s.From != "vllm:num_requests_running" {
		t.Errorf("requests_running: %+v; want seen", s)
	}
	if s := r.signal("estimated_flops"); s.State != Off || !strings.Contains(s.Fix, "--enable-mfu-metrics") {
		t.Errorf("estimated_flops: %+v; want off, with its flag", s)
	}
	if r.Server.Settings["block_size"] != "16" || r.Server.Engine != "vllm" {
		t.Errorf("server %+v", r.Server)
	}
	var out bytes.Buffer
	if err := r.Write(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"vllm 0.30.0", "4096 tokens", "block_size = 16", "seen", "--enable-mfu-metrics", "Worth knowing", "open"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the report lacks %q:\n%s", want, out.String())
		}
	}
	if _, err := json.Marshal(r); err != nil {
		t.Error(err)
	}
}

func TestSlotsTellCacheUse(t *testing.T) {
	r := examine(t, server(t, map[string]string{
		"/v1/models": `{"data":[{"id":"m","owned_by":"llamacpp"}]}`, "/props": `{"total_slots":1,"build_info":"b"}`, "/health": "",
		"/metrics": "llamacpp:requests_processing 0\n", "/slots": `[{"n_ctx":512,"is_processing":false}]`,
	}))
	if s := r.signal("kv_cache_usage"); s.State != Seen || !strings.HasSuffix(s.From, "/slots") || s.Fix != "" {
		t.Errorf("kv_cache_usage: %+v; want seen through the slots", s)
	}
}

func TestServerThatCannotBeUsed(t *testing.T) {
	r := examine(t, server(t, map[string]string{"/v1/models": "<!doctype html>"}))
	if c := r.check("server"); c.State != Fail || c.Fix == "" || r.Worst() != Fail {
		t.Errorf("server: %+v; want a failure with a way out", c)
	}
	if r.check("memory").ID == "" {
		t.Error("the machine was not looked at")
	}
}

func TestMachineFiles(t *testing.T) {
	d := t.TempDir()
	for path, text := range map[string]string{
		"sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "powersave\n",
		"proc/sys/net/ipv4/ip_local_port_range":                "60000\t61000\n",
		"sys/fs/cgroup/cpu.max":                                "150000 100000\n",
	} {
		p := filepath.Join(d, path)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r := &Report{Host: archive.Host{Cores: 8}}
	r.linux(filepath.Join(d, "proc"), filepath.Join(d, "sys"))
	for id, words := range map[string]string{"governor": "powersave", "ports": "1001", "cpu_quota": "1.50 of 8"} {
		if c := r.check(id); c.State != Warn || !strings.Contains(c.Found, words) || c.Fix == "" {
			t.Errorf("%s: %+v; want a warning with %q and a way out", id, c, words)
		}
	}
	r = &Report{}
	r.linux(d, d)
	if len(r.Checks) != 0 {
		t.Errorf("checks %v of files that are not there", r.Checks)
	}
}

func TestMoreStreamsNeedMoreFiles(t *testing.T) {
	r := &Report{}
	r.machine(1 << 40)
	if c := r.check("open_files"); c.State == OK {
		t.Errorf("open files: %+v; want no OK for a trillion streams", c)
	}
}

// What a server calls its models cannot steer the terminal.
func TestReportIsPlainText(t *testing.T) {
	var b strings.Builder
	r := Report{Server: archive.Server{URL: "http://h"}, Models: []string{"\x1b[31mred\x1b]0;title\a\u202e\xff"}}
	if err := r.Write(&b); err != nil {
		t.Fatal(err)
	}
	if got := b.String(); strings.ContainsAny(got, "\x1b\a\u202e") || !strings.Contains(got, "red") || !strings.Contains(got, "\n") {
		t.Errorf("the report is %q; want the name without control characters", got)
	}
}
