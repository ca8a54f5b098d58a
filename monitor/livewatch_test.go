package monitor_test

import (
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/engines"
	"github.com/inferencebench/inferencebench/monitor"
)

// TestLiveWatch only watches a running server for the time in INFERENCEBENCH_LIVE_WATCH and
// logs the events, for trying what is seen of a server that is stopped and started again.
func TestLiveWatch(t *testing.T) {
	d, err := time.ParseDuration(os.Getenv("INFERENCEBENCH_LIVE_WATCH"))
	if err != nil {
		t.Skip("set INFERENCEBENCH_LIVE_WATCH to a duration, and " + liveEnv + " to a server's address")
	}
	base, err := engines.NormalizeBase(os.Getenv(liveEnv))
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{}
	id, err := engines.Probe(t.Context(), client, base, nil)
	if err != nil {
		t.Fatal(err)
	}
	m := monitor.Start(t.Context(), monitor.Config{
		Clock: archive.NewRunClock(), Interval: 500 * time.Millisecond,
		Sources: []monitor.Source{monitor.NewEngine(client, id.MetricsURL, nil, id.Adapter)},
		Sample:  func(archive.Sample) {},
		Event:   func(e archive.Event) { t.Logf("%v %s: %s", time.Duration(e.T), e.Kind, e.Message) },
	})
	<-time.After(d)
	m.Stop()
}
