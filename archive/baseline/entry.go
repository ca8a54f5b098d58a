package baseline

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/inferencebench/inferencebench/archive"
)

// Entry is the summary of one run.
type Entry struct {
	Run       string    // the run's id
	Dir       string    // its directory when it was added
	Recorded  time.Time // when the run started
	Series    Series
	Version   string // of the engine
	Simulated bool
	Verdict   string // state of the verdict
	Headline  string
	Requests  int // successful load requests
	// Metrics are the statistics that the run supports, such as ttft_p99 and output_rate.
	Metrics map[string]float64
}

// Series names the runs that can be held against one another: what changes from run to run
// of a series is the server's version and settings, which are what a history is about.
type Series struct {
	Machine string // processor, cores and GPUs, or a name that the user gave
	Config  string // hash of the campaign without names, addresses and objectives
	Engine  string
	Model   string
}

// statistics are what an entry keeps of an analysis.
func statistics() []struct{ metric, stat string } {
	return []struct{ metric, stat string }{
		{"ttft", "mean"}, {"ttft", "p50"}, {"ttft", "p95"}, {"ttft", "p99"}, {"tpot", "mean"}, {"tpot", "p50"}, {"tpot", "p95"},
		{"e2e", "mean"}, {"e2e", "p50"}, {"e2e", "p95"}, {"output_rate", "value"}, {"request_rate", "value"}, {"error_rate", "value"}, {"energy_per_token", "value"},
	}
}

// Names returns the names of the statistics that entries keep, in order.
func Names() []string {
	var out []string
	for _, s := range statistics() {
		out = append(out, name(s.metric, s.stat))
	}
	return out
}

func name(metric, stat string) string { return strings.TrimSuffix(metric+"_"+stat, "_value") }

// Summarize makes the entry of a run from its manifest and analysis. machine names the
// machine; "" takes processor, cores and GPUs from the manifest.
func Summarize(run *archive.Run, a *archive.Analysis, machine string) Entry {
	m := run.Manifest
	if machine == "" {
		machine = machineOf(m)
	}
	e := Entry{
		Run: m.ID, Dir: run.Dir, Recorded: m.Epoch.UTC(), Version: m.Server.Version, Simulated: m.Simulated,
		Series:  Series{Machine: machine, Config: configOf(m), Engine: m.Server.Engine, Model: m.Server.Model},
		Verdict: a.Verdict.State, Headline: a.Verdict.Headline, Requests: a.Counts.Of[archive.KindLoad].OK, Metrics: map[string]float64{},
	}
	for _, s := range statistics() {
		for i := range a.Metrics {
			if x := &a.Metrics[i]; x.ID == s.metric && x.Scope == "all" {
				if v, ok := x.Stats[s.stat].Value.Get(); ok {
					e.Metrics[name(s.metric, s.stat)] = v
				}
			}
		}
	}
	return e
}

func machineOf(m archive.Manifest) string {
	parts := []string{fmt.Sprintf("%s, %d cores", m.Host.CPU, m.Host.Cores)}
	gpus := map[string]int{}
	for _, g := range m.GPUs {
		gpus[g.Name]++
	}
	var names []string
	for n, k := range gpus {
		names = append(names, fmt.Sprintf("%d x %s", k, n))
	}
	slices.Sort(names)
	return strings.Join(append(parts, names...), ", ")
}

// configOf hashes what was asked of the server: the campaign without what names a run,
// where the server is, and what is demanded of the result.
func configOf(m archive.Manifest) string {
	var cfg map[string]any
	if json.Unmarshal(m.Config, &cfg) != nil {
		return "unknown"
	}
	for _, k := range []string{"name", "out", "slo", "metrics_addr"} {
		delete(cfg, k)
	}
	if t, ok := cfg["target"].(map[string]any); ok {
		for _, k := range []string{"url", "metrics_url", "price", "key_env", "headers"} {
			delete(t, k)
		}
	}
	b, err := json.Marshal(cfg) // of decoded JSON: keys come sorted
	if err != nil {
		return "unknown"
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:6])
}
