package tuner

import "github.com/inferencebench/inferencebench/archive"

// Verdict is the answer of one check.
type Verdict struct {
	Check string `json:"check"`
	// Passed is unknown where it could not be checked; Message says why.
	Passed  archive.Opt[bool] `json:"passed"`
	Message string            `json:"message"` // one sentence
}

// Check looks at trials for a reason why a speed is not to be believed: canned replies,
// another model, a physical impossibility. It is a function of its arguments, the run
// directories of the trials included. A verdict that is not passed stops a challenger; an
// unknown one is reported and stops nothing.
type Check interface {
	Name() string
	// Judge compares the challenger with the baseline. In a search the challenger is one trial;
	// in acceptance and certification both sides have the same loads.
	Judge(baseline, challenger []Trial) []Verdict
}

// failed returns the first verdict that is not passed.
func failed(vs []Verdict) (Verdict, bool) {
	for _, v := range vs {
		if !v.Passed.Or(true) {
			return v, true
		}
	}
	return Verdict{}, false
}

func judge(checks []Check, baseline, challenger []Trial) []Verdict {
	var out []Verdict
	for _, c := range checks {
		out = append(out, c.Judge(baseline, challenger)...)
	}
	return out
}
