package engines

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/inferencebench/inferencebench/archive"
)

// Model is one model that a server lists.
type Model struct {
	ID      string
	OwnedBy string
	// MaxModelLen is the context limit in tokens, prompt and answer together.
	MaxModelLen archive.Opt[int]
}

// Identity is what a server showed of itself.
type Identity struct {
	Base string // as given to Probe
	// Engine is the adapter's name, or Unknown when the server was not recognised.
	Engine string
	// Adapter reads the server's metrics. It is never nil: the generic adapter stands in,
	// and for a server that prints another's metric names it is the other's.
	Adapter *Adapter
	// Simulated is set when the server only imitates inference.
	Simulated bool
	Version   string // "" when it does not say
	// Models are the names as listed; empty when the server has no list. Details has what
	// is known of each, in the same order.
	Models  []string
	Details []Model
	// MetricsURL is where a metrics page was found; "" when nowhere.
	MetricsURL string
	// Settings are the effective settings that the server tells, by the names that its
	// adapter gives them.
	Settings map[string]string
	// MaxModelLen is the server-wide context limit in tokens; see also Model.
	MaxModelLen archive.Opt[int]
	// Notes say what is missing, such as "no /health".
	Notes []archive.Annotation
}

func (id *Identity) note(code, format string, args ...any) {
	id.Notes = append(id.Notes, archive.Annotation{Code: code, Message: fmt.Sprintf(format, args...)})
}

// Server describes the identity for a manifest, with model as the name that requests use.
func (id *Identity) Server(model string) archive.Server {
	s := archive.Server{
		URL: Redact(id.Base), Engine: id.Engine, Version: id.Version, Model: model,
		MaxModelLen: id.MaxModelLen, Settings: maps.Clone(id.Settings),
	}
	if id.MetricsURL != "" {
		s.MetricsURL = Redact(id.MetricsURL)
	}
	for _, m := range id.Details {
		if m.ID == model && m.MaxModelLen.Known() {
			s.MaxModelLen = m.MaxModelLen
		}
	}
	return s
}

// ModelError says that the model to use is not settled.
type ModelError struct {
	Want string   // what was asked for; "" for "whatever there is"
	Have []string // what the server lists
}

// Error names the models to choose from.
func (e *ModelError) Error() string {
	const most = 20
	have := e.Have
	more := ""
	if len(have) > most {
		have, more = have[:most], fmt.Sprintf(" and %d more", len(e.Have)-most)
	}
	list := strings.Join(have, ", ") + more
	switch {
	case len(e.Have) == 0:
		return "the server does not list its models; name one with --model"
	case e.Want == "":
		return fmt.Sprintf("the server has %d models; choose one with --model: %s", len(e.Have), list)
	}
	return fmt.Sprintf("the server has no model %q; it has: %s", e.Want, list)
}

// Choose settles the model: the one that is wanted, or with want "" the only one there is.
// It never picks one of several. The error is a *ModelError.
func (id *Identity) Choose(want string) (Model, error) {
	if i := slices.Index(id.Models, want); want != "" && i >= 0 {
		return id.Details[i], nil
	}
	switch {
	case want == "" && len(id.Models) == 1:
		return id.Details[0], nil
	case want != "" && (len(id.Models) == 0 || id.Adapter.Quirks.ChecksModel == "no"):
		return Model{ID: want, MaxModelLen: id.MaxModelLen}, nil
	}
	return Model{}, &ModelError{Want: want, Have: id.Models}
}
