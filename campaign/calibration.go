package campaign

import (
	"context"
	"fmt"
	"time"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/loadgen/calibrate"
	"github.com/inferencebench/inferencebench/loadgen/wire"
)

// calibration measures the measurer before the load: what this client can do on this
// machine, now. Nothing is worse off when it cannot be measured, so that is a note.
func (r *run) calibration(ctx context.Context) []archive.Annotation {
	streams := 0
	for _, p := range r.cfg.Phases {
		streams = max(streams, p.Concurrency, p.MaxInFlight)
	}
	notes := wire.Limits(streams)
	if r.cfg.NoCalibration {
		return notes
	}
	res, err := calibrate.Run(ctx, calibrate.Config{Clock: r.clock, Pacer: r.pacer})
	if err != nil {
		return append(notes, archive.Annotation{Code: "not_calibrated", Message: "the client could not be calibrated: " + err.Error()})
	}
	msg := fmt.Sprintf("the client alone takes %.0f chunks/s here, or more; at %.0f chunks/s its stamps (%s clock) are %v late at P99", res.Ceiling, res.Rate, res.StampClock, res.StampP99.Round(time.Microsecond))
	if p, ok := res.PaceP99.Get(); ok {
		msg += fmt.Sprintf(", and 1,000 sends a second go out within %v at P99", p.Round(time.Microsecond))
	}
	return append(notes, archive.Annotation{Code: "client_ceiling", Message: msg})
}
