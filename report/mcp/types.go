package mcp

import "github.com/inferencebench/inferencebench/tuner"

// TargetsInput has no fields.
type TargetsInput struct{}

// TargetsOutput is what the session may do.
type TargetsOutput struct {
	Targets  []TargetInfo `json:"targets"`
	Runs     []string     `json:"runs" jsonschema:"names of the latest runs, the newest first"`
	Ceilings Ceilings     `json:"ceilings"`
	Left     Left         `json:"left"`
}

// TargetInfo is one target.
type TargetInfo struct {
	Name      string              `json:"name"`
	Simulated bool                `json:"simulated"`
	Tunable   bool                `json:"tunable" jsonschema:"whether trial and tune may restart it with other settings"`
	Goal      string              `json:"goal,omitempty"`
	SLO       []string            `json:"slo,omitempty"`
	Knobs     map[string][]string `json:"knobs,omitempty" jsonschema:"settings that a trial may change, with the allowed values"`
}

// Ceilings bound one run.
type Ceilings struct {
	Concurrency int     `json:"concurrency"`
	Rate        float64 `json:"request_rate"`
	Seconds     float64 `json:"seconds"`
}

// RunInput asks for a measurement.
type RunInput struct {
	Target      string   `json:"target" jsonschema:"name of a target, see the tool targets"`
	Concurrency int      `json:"concurrency,omitempty" jsonschema:"users of a closed loop; this or request_rate"`
	Rate        float64  `json:"request_rate,omitempty" jsonschema:"sessions that arrive each second"`
	Seconds     float64  `json:"seconds" jsonschema:"how long to send load"`
	ISL         string   `json:"isl,omitempty" jsonschema:"input length in tokens, such as 512 or lognormal(6.2,0.9)[8,4096]"`
	OSL         string   `json:"osl,omitempty" jsonschema:"output length in tokens"`
	Turns       string   `json:"turns,omitempty" jsonschema:"user turns of a session"`
	Tasks       string   `json:"tasks,omitempty" jsonschema:"weights of task kinds, such as chat=3,code=1"`
	SLO         []string `json:"slo,omitempty" jsonschema:"objectives such as ttft_p99<500ms"`
	Seed        uint64   `json:"seed,omitempty" jsonschema:"equal seeds send equal traffic"`
	Name        string   `json:"name,omitempty" jsonschema:"becomes part of the run's name"`
}

// AnalyzeInput names a run.
type AnalyzeInput struct {
	Run string   `json:"run" jsonschema:"name of a run, as given by run or targets"`
	SLO []string `json:"slo,omitempty" jsonschema:"objectives in place of the run's own"`
}

// CompareInput names runs.
type CompareInput struct {
	Base  string   `json:"base" jsonschema:"name of the run to compare with"`
	Heads []string `json:"heads" jsonschema:"names of one to four runs"`
}

// ProbeInput asks for experiments.
type ProbeInput struct {
	Target  string   `json:"target" jsonschema:"name of the target that the run was of"`
	Run     string   `json:"run" jsonschema:"name of the run whose findings to test; no experiment offers more load than it did"`
	Probes  []string `json:"probes,omitempty" jsonschema:"ids of experiments, such as P4; default those that tell most"`
	Seconds float64  `json:"seconds,omitempty" jsonschema:"most time for all of them; default 120"`
}

// ProposalInput is a configuration with what its author commits to.
type ProposalInput struct {
	Config     map[string]string `json:"config" jsonschema:"settings and values, of those that targets lists"`
	Hypothesis string            `json:"hypothesis" jsonschema:"what limits the server, and why this relieves it"`
	GainLow    float64           `json:"gain_low" jsonschema:"lower end of the expected gain over the default, 0.05 is 5 percent, holding in eight of ten cases"`
	GainHigh   float64           `json:"gain_high" jsonschema:"upper end"`
	Falsifier  string            `json:"falsifier" jsonschema:"the observation that would refute the hypothesis"`
}

// TrialInput asks for proposals to be put to the test.
type TrialInput struct {
	Target    string          `json:"target" jsonschema:"name of a tunable target"`
	Proposals []ProposalInput `json:"proposals" jsonschema:"one to five, measured in order; the default is measured first in any case"`
	Seconds   float64         `json:"seconds,omitempty" jsonschema:"most time; default the study file's budget, at most what is left of the session"`
}

// TuneInput asks for a study.
type TuneInput struct {
	Target  string   `json:"target" jsonschema:"name of a tunable target"`
	Knobs   []string `json:"knobs,omitempty" jsonschema:"settings to search, of those that targets lists; default all"`
	Seconds float64  `json:"seconds,omitempty" jsonschema:"most time; default the study file's budget, at most what is left of the session"`
}

// Summary is one run, shortened.
type Summary struct {
	Run             string           `json:"run"`
	Simulated       bool             `json:"simulated"`
	State           string           `json:"state" jsonschema:"bottleneck, none, inconclusive or invalid"`
	Headline        string           `json:"headline"`
	Cause           string           `json:"cause,omitempty"`
	Confidence      string           `json:"confidence,omitempty"`
	Next            string           `json:"next"`
	FailedGates     []string         `json:"failed_gates,omitempty" jsonschema:"why the run must not be trusted"`
	Planned         int              `json:"requests_planned"`
	OK              int              `json:"requests_ok"`
	Failed          int              `json:"requests_failed"`
	Metrics         []Figure         `json:"metrics"`
	SLO             []Objective      `json:"slo,omitempty"`
	Findings        []Finding        `json:"findings,omitempty"`
	Recommendations []Recommendation `json:"recommendations,omitempty"`
	LeftOut         string           `json:"left_out,omitempty"`
	Report          string           `json:"report,omitempty" jsonschema:"file of the page, for people"`
	Left            Left             `json:"left"`
}

// Figure is one number with its 95 % interval; null where unknown.
type Figure struct {
	Metric string   `json:"metric"`
	Stat   string   `json:"stat"`
	Unit   string   `json:"unit"`
	Value  *float64 `json:"value"`
	Low    *float64 `json:"low"`
	High   *float64 `json:"high"`
	Reason string   `json:"reason,omitempty" jsonschema:"why the value is unknown"`
}

// Objective is one service level.
type Objective struct {
	Expr     string `json:"expr"`
	Met      *bool  `json:"met"`
	Observed string `json:"observed"`
}

// Finding is one attribution.
type Finding struct {
	Cause     string   `json:"cause"`
	Role      string   `json:"role"`
	Score     float64  `json:"score"`
	Summary   string   `json:"summary"`
	Evidence  []string `json:"evidence,omitempty"`
	Falsifier string   `json:"falsifier"`
	Probe     string   `json:"probe"`
	Tested    string   `json:"tested"`
}

// Recommendation is one change.
type Recommendation struct {
	Action    string `json:"action"`
	Knob      string `json:"knob,omitempty"`
	Predicted string `json:"predicted"`
	Risk      string `json:"risk,omitempty"`
}

// Comparison is what differs between runs.
type Comparison struct {
	Base  string     `json:"base"`
	Heads []Compared `json:"heads"`
	Left  Left       `json:"left"`
}

// Compared is one run against the base.
type Compared struct {
	Run     string   `json:"run"`
	Gate    string   `json:"gate" jsonschema:"pass, fail or undecided"`
	Reason  string   `json:"reason"`
	Changes []Change `json:"changes"`
	Quality []string `json:"quality,omitempty"`
}

// Change is one statistic; fractions, with their 95 % interval.
type Change struct {
	Metric  string  `json:"metric"`
	Stat    string  `json:"stat"`
	Base    float64 `json:"base"`
	Head    float64 `json:"head"`
	Change  float64 `json:"change"`
	Low     float64 `json:"low"`
	High    float64 `json:"high"`
	Verdict string  `json:"verdict"`
	Paired  bool    `json:"paired"`
}

// Study is what a trial or a study found. Gains are fractions.
type Study struct {
	Folder    string            `json:"study"`
	Decision  string            `json:"decision" jsonschema:"change, keep, interrupted or no baseline"`
	Reason    string            `json:"reason"`
	Config    map[string]string `json:"config" jsonschema:"what to run; empty is the default"`
	Command   []string          `json:"command,omitempty"`
	Gain      *tuner.Interval   `json:"certified_gain,omitempty" jsonschema:"95 percent interval on the held-out workload; the only gain that may be claimed"`
	Trials    []TrialRow        `json:"trials"`
	Sources   []Source          `json:"sources,omitempty"`
	LeftOut   string            `json:"left_out,omitempty"`
	Report    string            `json:"report,omitempty"`
	Simulated bool              `json:"simulated"`
	Left      Left              `json:"left"`
}

// TrialRow is one measurement of a study.
type TrialRow struct {
	N         int               `json:"n"`
	Role      string            `json:"role"`
	Source    string            `json:"source"`
	Config    map[string]string `json:"config"`
	Outcome   string            `json:"outcome"`
	Reason    string            `json:"reason,omitempty"`
	Value     *float64          `json:"value"`
	Predicted *tuner.Interval   `json:"predicted,omitempty"`
}

// Source is how the predictions of one proposer did.
type Source struct {
	Source   string   `json:"source"`
	Trials   int      `json:"trials"`
	Improved int      `json:"improved"`
	Coverage *float64 `json:"coverage" jsonschema:"share of predicted intervals that held; should be 0.8"`
	Brier    *float64 `json:"brier"`
}

// Probes is what experiments found.
type Probes struct {
	Run     string        `json:"run"`
	Results []ProbeResult `json:"results"`
	Reason  string        `json:"reason,omitempty" jsonschema:"why experiments are missing"`
	Left    Left          `json:"left"`
}

// ProbeResult is one experiment.
type ProbeResult struct {
	Probe    string `json:"probe"`
	Cause    string `json:"cause,omitempty" jsonschema:"what it is about"`
	Answer   string `json:"answer" jsonschema:"confirmed, refuted or untested"`
	Expected string `json:"expected"`
	Observed string `json:"observed"`
}
