package director

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/tasks"
	"github.com/inferencebench/inferencebench/tasks/workload"
)

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// Arrivals are the due times of n sessions at the rate and burstiness of a load: gaps from
// a gamma distribution of the given coefficient of variation.
func (l *Load) Arrivals(n int, seed uint64) []time.Duration {
	r := rand.New(rand.NewPCG(seed, 0x61727269))
	out := make([]time.Duration, n)
	at := 0.0
	for i := range out {
		out[i] = time.Duration(at * float64(time.Second))
		at += gap(r, l.CV) / l.Rate
	}
	return out
}

// gap draws from a gamma distribution with mean 1 and the given coefficient of variation,
// by Marsaglia and Tsang's method of 2000.
func gap(r *rand.Rand, cv float64) float64 {
	shape := 1 / (cv * cv)
	mean, boost := shape, 1.0
	if shape < 1 {
		boost = math.Pow(1-r.Float64(), 1/shape)
		shape++
	}
	d := shape - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		x := r.NormFloat64()
		v := 1 + c*x
		if v <= 0 {
			continue
		}
		v = v * v * v
		if u := 1 - r.Float64(); math.Log(u) < 0.5*x*x+d-d*v+d*math.Log(v) {
			return boost * d * v / mean
		}
	}
}

// Freeze writes n sessions of a load as a workload that reproduces it: every session with
// its arrival, and every turn as it is without a reply to build on. It returns the
// content hash.
func (l *Load) Freeze(path string, h workload.Header, n int, seed uint64) (contentSHA256 string, err error) {
	w, err := workload.Create(path, h)
	if err != nil {
		return "", err
	}
	for i, at := range l.Arrivals(n, seed) {
		s := l.Source.Session(uint64(i))
		var messages []tasks.Message
		for k := 0; ; k++ {
			t, ok := s.Next("")
			if !ok {
				break
			}
			if t.System != "" {
				messages = append(messages, tasks.Message{Role: "system", Content: t.System})
			}
			if k > 0 {
				messages = append(messages, tasks.Message{Role: "assistant", Content: "(no answer)"})
			}
			messages = append(messages, tasks.Message{Role: "user", Content: t.User})
			at += t.Think
			w.Add(workload.Entry{
				Session: fmt.Sprint(i), Turn: k, Phase: "weakness", Kind: t.Kind, Task: t.Task, At: archive.Instant(time.Second + at), Think: t.Think,
				Messages: slices.Clone(messages), MaxTokens: t.MaxTokens, IgnoreEOS: t.IgnoreEOS, Temperature: t.Temperature, PromptTokens: t.PromptTokens, SharedPrefix: t.SharedPrefix,
			})
		}
	}
	return w.Close()
}
