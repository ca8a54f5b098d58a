package propose

import (
	"sync"

	"github.com/inferencebench/inferencebench/analyst/attribute"
	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/engines"
	"github.com/inferencebench/inferencebench/tuner"
)

// Cause is something that a knob may relieve.
type Cause struct {
	Name  string  // as in engines.Causes
	Score float64 // how sure the analyst is, 0 to 1
	Title string  // the finding in words
}

// relieved maps what the analyst finds to what knobs relieve. Causes outside the server,
// such as the network, have no knob.
var relieved = map[string][]string{
	attribute.Prefix:        {"prefix_reuse"},
	attribute.KV:            {"kv_capacity"},
	attribute.Cap:           {"batch_cap"},
	attribute.Frontend:      {"host_bound", "streaming"},
	attribute.Host:          {"host_bound", "launch_bound"},
	attribute.Communication: {"comm_bound"},
	attribute.Imbalance:     {"comm_bound"},
	attribute.Speculation:   {"spec_decode"},
	attribute.Interference:  {"interference"},
	attribute.Prefill:       {"prefill_bound", "token_budget"},
	attribute.Decode:        {"decode_bound"},
	attribute.Queueing:      {"batch_cap", "overload"},
}

// least is the score below which a finding is no reason to try anything.
const least = 0.3

// Causes turns findings into what knobs can relieve, the surest first, each once.
// Refuted findings and those that no knob helps against are left out.
func Causes(findings []archive.Finding) []Cause {
	var out []Cause
	seen := map[string]bool{}
	words := engines.Causes()
	for pass := range 2 { // the primary finding leads whatever the scores are
		for _, f := range findings {
			if (f.Role == "primary") != (pass == 0) || f.Tested == "refuted" || f.Score < least {
				continue
			}
			for _, c := range relieved[f.Cause] {
				if !seen[c] {
					seen[c] = true
					out = append(out, Cause{c, f.Score, words[c]})
				}
			}
		}
	}
	return out
}

// Findings says what limits the server, given the trials so far.
type Findings func(history []tuner.Trial) []archive.Finding

// FromRuns returns Findings that read the analysis of the run of the best configuration so
// far, or else of the default. Trials without a run have none. It is safe for concurrent use.
func FromRuns(goal tuner.Goal) Findings {
	var mu sync.Mutex
	read := map[string][]archive.Finding{}
	return func(history []tuner.Trial) []archive.Finding {
		best, _ := incumbent(goal, history)
		var dir string
		for _, t := range history {
			if t.Run != "" && t.Outcome == tuner.OK && (t.Config.Key() == best.Key() || dir == "" && t.Role == tuner.RoleDefault) {
				dir = t.Run
			}
		}
		if dir == "" {
			return nil
		}
		mu.Lock()
		defer mu.Unlock()
		if f, ok := read[dir]; ok {
			return f
		}
		read[dir] = nil // a run that cannot be read has no findings, and is not tried again
		if run, err := archive.Open(dir); err == nil {
			if a, err := run.Analysis(); err == nil {
				read[dir] = a.Findings
			}
		}
		return read[dir]
	}
}
