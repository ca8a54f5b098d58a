// Package probe makes the experiments of analyst/probe against a live server: short
// campaigns beside a run, that confirm or refute what the run points at.
//
// Every arm is an ordinary run directory below the run's own, in the folder probes, so that
// its records can be looked at; what the experiments said is in the run's probes.json.
// No arm offers more load than the run itself did.
package probe

import (
	"log/slog"
	"time"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/campaign"
)

// Folder holds the run directories of the arms, inside the run directory.
const Folder = "probes"

// Request says what to experiment on.
type Request struct {
	Run      *archive.Run
	Analysis *archive.Analysis
	// Config is the campaign that made the run; its target is the server that is probed.
	Config *campaign.Config
	// Budget is the time that all arms may take together.
	Budget time.Duration
	// Only are the ids of the probes to make; empty chooses them by what they tell.
	Only []string
	// AllowLoad lets a target be probed that the user marked as production.
	AllowLoad bool
	// Self is this program's file, which a second load generator is started from; "" leaves
	// out probes that need one.
	Self string

	Log    *slog.Logger
	Getenv func(string) string
	Tool   archive.Tool
	// Said is told of each step; nil is told nothing.
	Said func(string)
}
