package analyst

import (
	"errors"
	"io/fs"

	"github.com/inferencebench/inferencebench/analyst/probe"
	"github.com/inferencebench/inferencebench/archive"
)

// experiments lets the experiments of a run speak in its analysis. A file that cannot be
// read is annotated and changes nothing.
func experiments(run *archive.Run, a *archive.Analysis) {
	e, err := run.Experiments()
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil {
		a.Annotations = append(a.Annotations, archive.Annotation{Code: "experiments_unread", Message: "the experiments of the run cannot be read: " + err.Error()})
		return
	}
	a.Experiments = e
	var out []probe.Outcome
	for _, x := range e.Probes {
		if x.Cause != "" {
			out = append(out, probe.Outcome{Probe: x.Probe, Cause: x.Cause, Answer: x.Answer, Expected: x.Expected, Observed: x.Observed})
		}
	}
	probe.Apply(a, out)
}
