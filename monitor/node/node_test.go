package node

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const first = `node_cpu_seconds_total{cpu="0",mode="idle"} 100
node_cpu_seconds_total{cpu="0",mode="user"} 10
node_cpu_seconds_total{cpu="1",mode="idle"} 100
node_cpu_seconds_total{cpu="1",mode="steal"} 0
node_load1 1.5
node_memory_MemTotal_bytes 1000
node_memory_MemAvailable_bytes 400
node_network_receive_bytes_total{device="eth0"} 5
node_network_receive_bytes_total{device="lo"} 7
node_pressure_cpu_waiting_seconds_total 2.5
node_vmstat_oom_kill NaN
`

const second = `node_cpu_seconds_total{cpu="0",mode="idle"} 105
node_cpu_seconds_total{cpu="0",mode="user"} 15
node_cpu_seconds_total{cpu="1",mode="idle"} 108
node_cpu_seconds_total{cpu="1",mode="steal"} 2
`

func TestRead(t *testing.T) {
	pages := []string{first, second, "up 1\n"}
	n := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, pages[n])
		n++
	}))
	defer s.Close()
	src := New(s.Client(), s.URL, nil)
	for i, want := range []map[string]float64{
		{"load1": 1.5, "memory_available_bytes": 400, "memory_used_bytes": 600, "net_rx_bytes_total": 12, "pressure_cpu_seconds_total": 2.5},
		{"cpu_percent": 35, "steal_percent": 10, "iowait_percent": 0},
	} {
		got, err := src.Read(t.Context())
		if d := cmp.Diff(want, got); d != "" || err != nil {
			t.Errorf("reading %d: %v (-want +got):\n%s", i, err, d)
		}
	}
	if v, err := src.Read(t.Context()); err == nil {
		t.Errorf("a page of something else: %v; want an error", v)
	}
}
