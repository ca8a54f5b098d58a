package archive

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// ExperimentsFile holds the experiments that were made about a run's findings.
const ExperimentsFile = "probes.json"

// maxExperiments bounds the file: some tens of experiments of a few kilobytes each.
const maxExperiments = 4 << 20

// Experiments are the short loads that were made after a run to confirm or refute what it
// pointed at, and the constants of the server that they let be fitted.
type Experiments struct {
	Schema int       `json:"schema"`
	Run    string    `json:"run"` // id of the run that they are about
	Made   time.Time `json:"made"`
	// Budget and Spent are seconds.
	Budget float64      `json:"budget_seconds"`
	Spent  float64      `json:"spent_seconds"`
	Probes []Experiment `json:"probes"`
	Fits   []Fit        `json:"fits,omitempty"`
	// Reason says why experiments are missing, such as a budget that was used up.
	Reason string `json:"reason,omitempty"`
}

// Experiment is one probe and what it said about one cause.
type Experiment struct {
	Probe string `json:"probe"` // P0, P1, …
	Title string `json:"title"`
	Cause string `json:"cause,omitempty"` // "" where it is about no finding
	// Answer is "confirmed", "refuted" or "untested".
	Answer   string `json:"answer"`
	Expected string `json:"expected"` // the response if the cause is the limit, one sentence
	Observed string `json:"observed"` // what was seen, or why the probe was not made, one sentence
	// Arms are the loads that were compared, the run's own first.
	Arms []Arm `json:"arms,omitempty"`
}

// Arm is one short load of an experiment.
type Arm struct {
	Name   string `json:"name"`
	Run    string `json:"run,omitempty"` // its run directory, below that of the run
	OK     int    `json:"ok"`
	Failed int    `json:"failed"`
	// Times are milliseconds, rates per second.
	TTFT     Opt[float64] `json:"ttft_p50_ms"`
	TPOT     Opt[float64] `json:"tpot_p50_ms"`
	Requests Opt[float64] `json:"requests_per_second"`
}

// Fit is a constant of the server, estimated from experiments.
type Fit struct {
	ID     string       `json:"id"` // such as "step_base"
	Label  string       `json:"label"`
	Unit   string       `json:"unit"`
	Value  Opt[float64] `json:"value"`
	Low    Opt[float64] `json:"low"` // of the 95 % interval
	High   Opt[float64] `json:"high"`
	Method string       `json:"method,omitempty"`
	Reason string       `json:"reason,omitempty"` // why Value is unknown
}

// Experiments reads the experiments of a run. The error is fs.ErrNotExist when none were
// made.
func (r *Run) Experiments() (*Experiments, error) {
	path := filepath.Join(r.Dir, ExperimentsFile)
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Size() > maxExperiments {
		return nil, fmt.Errorf("%s: %d bytes are more than experiments need (%d at most); remove the file and probe again", path, info.Size(), maxExperiments)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	e := new(Experiments)
	if err := json.Unmarshal(b, e); err != nil {
		return nil, fmt.Errorf("%s: %w (remove the file and probe again)", path, err)
	}
	if e.Schema > SchemaVersion {
		return nil, fmt.Errorf("%s: written by a newer version (schema %d; this program reads up to %d)", path, e.Schema, SchemaVersion)
	}
	return e, nil
}

// WriteExperiments writes the experiments of a run into its directory.
func WriteExperiments(dir string, e *Experiments) error {
	e.Schema = SchemaVersion
	return writeJSON(filepath.Join(dir, ExperimentsFile), e)
}
