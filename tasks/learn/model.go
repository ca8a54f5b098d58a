package learn

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/inferencebench/inferencebench/tasks"
)

// Format is what a model file's format field says.
const Format = "inferencebench-private-workload/1"

// Model is a private workload model: what the traffic of a log is like.
type Model struct {
	Format string `json:"format"`
	Rows   int    `json:"rows"`
	Failed int    `json:"failed"`
	// Skipped counts lines that should hold a request and could not be read.
	Skipped int `json:"skipped"`

	Span   float64     `json:"span_s"`
	Rate   float64     `json:"sessions_per_s"` // 0 when the log has no times
	CV     float64     `json:"arrival_cv"`     // of the gaps between session starts; 0 when not known
	Hourly [24]float64 `json:"hourly"`         // factor by hour of day, mean 1; all 0 when less than a day was seen

	In  Table `json:"prompt_tokens"` // of first turns
	Out Table `json:"answer_tokens"`
	// FollowUp is how much each later turn adds to the prompt beyond the reply before it.
	FollowUp Table `json:"follow_up_tokens"`
	// Correlation is Spearman's, of the lengths of first prompts and answers.
	Correlation float64 `json:"correlation"`

	Sessions  int     `json:"sessions"`
	MeanTurns float64 `json:"mean_turns"`
	Turns     Table   `json:"turns"`
	// ThinkMedian, in seconds, and ThinkSigma describe the pause between a reply and the
	// next turn; 0 when there is none to be seen.
	ThinkMedian float64 `json:"think_median_s"`
	ThinkSigma  float64 `json:"think_sigma"`

	Mix []tasks.Share `json:"mix"` // by rules over the prompts; empty when the log has no texts
	// SharedPrefix is the share of prompt tokens in system messages that ten sessions or
	// more begin with, and SharedTokens the length of the commonest of them. Cached is
	// the share that the server says came from a cache; −1 when it does not say.
	SharedPrefix float64 `json:"shared_prefix"`
	SharedTokens int     `json:"shared_tokens"`
	Cached       float64 `json:"cached"`

	// Examples are cleaned prompts by task kind; nil when no text is kept.
	Examples map[string][]string `json:"examples,omitempty"`
	// Removed counts the personal items that were replaced, by kind.
	Removed map[string]int `json:"removed,omitempty"`
	Notes   []string       `json:"notes,omitempty"`
}

// Table is a distribution by its quantiles. A Table without values is not known.
type Table struct {
	N    int       `json:"n"`
	Mean float64   `json:"mean"`
	P    []float64 `json:"p"`
	X    []float64 `json:"x"`
}

// Length is the table as a length to draw from.
func (t Table) Length(name string) tasks.Length {
	if len(t.X) == 0 {
		return tasks.Length{}
	}
	return tasks.Table(&tasks.Quantiles{Name: name, P: t.P, X: t.X, Source: "learned from an access log"})
}

// Options are the model as a generator. Rate and burstiness are for the arrival process.
func (m *Model) Options(seed uint64) tasks.Options {
	o := tasks.Options{
		Seed: seed, Mix: m.Mix, ISL: m.In.Length("learned.in"), OSL: m.Out.Length("learned.out"), Turns: m.Turns.Length("learned.turns"),
		FollowUp: m.FollowUp.Length("learned.follow_up"), Correlation: 2 * math.Sin(math.Pi/6*m.Correlation),
		SharedPrefixTokens: int(m.SharedPrefix * m.In.Mean),
	}
	if m.ThinkMedian > 0 {
		o.Think = tasks.Pause{Median: time.Duration(m.ThinkMedian * float64(time.Second)), Sigma: m.ThinkSigma}
	}
	return o
}

// Write writes the model as JSON.
func (m *Model) Write(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(m)
}

// maxModel bounds a model file, in bytes.
const maxModel = 64 << 20

// Read reads a model and checks that it can be drawn from.
func Read(r io.Reader) (*Model, error) {
	var m Model
	if err := json.NewDecoder(io.LimitReader(r, maxModel)).Decode(&m); err != nil {
		return nil, fmt.Errorf("workload model: %w", err)
	}
	if m.Format != Format {
		return nil, fmt.Errorf("workload model: format %.60q; want %q", m.Format, Format)
	}
	o := m.Options(0)
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("workload model: %w", err)
	}
	return &m, nil
}
