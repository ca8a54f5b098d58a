package campaign

import (
	"context"
	"os"

	"github.com/inferencebench/inferencebench/monitor"
	"github.com/inferencebench/inferencebench/monitor/doctor"
)

// Examine looks at the campaign's target and at this machine, and sends no load. Without
// a target only the machine is looked at.
func Examine(ctx context.Context, c *Config, o Options) (*doctor.Report, error) {
	getenv := o.Getenv
	if getenv == nil {
		getenv = os.Getenv
	}
	opts := doctor.Options{Model: c.Target.Model, Wanted: monitor.Wanted{
		MetricsURLs: c.Monitor.MetricsURLs, NoGPU: !c.Monitor.GPU, GPUPage: c.Monitor.GPUPage,
		GPUs: c.Monitor.GPUs, Log: c.Monitor.Log, Traces: c.Monitor.Traces, KVEvents: c.Monitor.KVEvents,
	}}
	for _, p := range c.Phases {
		opts.Streams = max(opts.Streams, p.Concurrency, p.MaxInFlight)
	}
	if c.Target.URL != "" {
		w, err := c.Target.reach(c.Target.URL, getenv)
		if err != nil {
			return nil, err
		}
		defer w.side.CloseIdleConnections()
		opts.Client, opts.Base, opts.Header = w.side, w.base, w.sideHeader
		opts.Wanted.Client, opts.Wanted.Header = w.side, w.sideHeader
	}
	return doctor.Examine(ctx, opts)
}
