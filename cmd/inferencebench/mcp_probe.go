package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"time"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/campaign"
	"github.com/inferencebench/inferencebench/campaign/probe"
	"github.com/inferencebench/inferencebench/report/mcp"
)

// Probe implements mcp.Actions: the experiments of `inferencebench probe`, on a run of the same
// target. A target that is marked as production is left alone.
func (a *mcpActions) Probe(ctx context.Context, t *mcp.Target, dir string, probes []string, limit time.Duration) (mcp.Probes, int, error) {
	var out mcp.Probes
	run, err := archive.Open(dir)
	if err != nil {
		return out, 0, typed(ctx, withCode(exitUsage, err))
	}
	c := campaign.Default()
	if err := json.Unmarshal(run.Manifest.Config, c); err != nil {
		return out, 0, &mcp.Fault{Code: mcp.BadInput, Message: "the run's configuration cannot be read"}
	}
	target := t.Ref.(*mcpTarget).campaign
	if c.Target.URL != target.URL {
		return out, 0, &mcp.Fault{Code: mcp.BadInput, Message: "the run is of another server than " + t.Name, Try: "measure the target with run first"}
	}
	c.Target = target
	before, err := finish(dir, recordedSLOs(run), a.silent())
	if err != nil {
		return out, 0, typed(ctx, err)
	}
	self, err := os.Executable()
	if err != nil {
		self = "" // what needs it says so
	}
	done, err := probe.Run(ctx, probe.Request{
		Run: run, Analysis: before, Config: c, Budget: limit, Only: probes, Self: self, Log: a.log, Tool: archive.Tool{Version: version},
	})
	if errors.Is(err, probe.ErrProduction) {
		return out, 0, &mcp.Fault{Code: mcp.ReadOnly, Message: t.Name + " is marked as production: no experiments are made on it"}
	}
	if err != nil {
		return out, 0, typed(ctx, withCode(exitUsage, err))
	}
	if _, err := finish(dir, recordedSLOs(run), a.silent()); err != nil {
		return out, 0, typed(ctx, err)
	}
	out.Reason, out.Results = done.Reason, []mcp.ProbeResult{}
	sent := 0
	for _, x := range done.Probes {
		out.Results = append(out.Results, mcp.ProbeResult{Probe: x.Probe, Cause: x.Cause, Answer: x.Answer, Expected: x.Expected, Observed: x.Observed})
		for _, arm := range x.Arms {
			if arm.Run != "" { // the run's own load has none
				sent += arm.OK + arm.Failed
			}
		}
	}
	return out, sent, nil
}
