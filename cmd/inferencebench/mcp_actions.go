package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/inferencebench/inferencebench/analyst/compare"
	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/campaign"
	"github.com/inferencebench/inferencebench/report/mcp"
	"github.com/inferencebench/inferencebench/tuner"
	"github.com/inferencebench/inferencebench/tuner/journal"
	"github.com/inferencebench/inferencebench/tuner/live"
	"github.com/inferencebench/inferencebench/tuner/propose"
)

// mcpActions is what the tools of mcp do, by the same functions as the verbs of the same
// names. Nothing is printed to standard output, which belongs to the protocol.
type mcpActions struct {
	runs string
	log  *slog.Logger
}

func (a *mcpActions) silent() *output {
	return &output{out: io.Discard, msg: io.Discard, quiet: true, log: a.log}
}

// typed turns an error of a verb into a fault of the tool.
func typed(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		if f, ok := errors.AsType[*mcp.Fault](context.Cause(ctx)); ok {
			return f
		}
		return err
	}
	if te, ok := errors.AsType[*campaign.TargetError](err); ok {
		return &mcp.Fault{Code: mcp.Unreachable, Message: te.Message, Try: te.Hint}
	}
	switch exitCode(err) {
	case exitUsage:
		return &mcp.Fault{Code: mcp.BadInput, Message: err.Error()}
	case exitUnreachable:
		return &mcp.Fault{Code: mcp.Unreachable, Message: err.Error()}
	case exitInterrupted:
		return &mcp.Fault{Code: mcp.Cancelled, Message: err.Error()}
	case exitUndecided, exitGate:
		return &mcp.Fault{Code: mcp.Inconclusive, Message: err.Error()}
	}
	return err
}

// Run implements mcp.Actions. The arguments pass through the flags of run, one by one.
func (a *mcpActions) Run(ctx context.Context, t *mcp.Target, in mcp.RunInput, requests int) (string, error) {
	ref := t.Ref.(*mcpTarget)
	argv := []string{"--out=" + a.runs, "--duration=" + time.Duration(in.Seconds*float64(time.Second)).String()}
	add := func(flag, value string) {
		if value != "" && value != "0" {
			argv = append(argv, "--"+flag+"="+value)
		}
	}
	add("concurrency", strconv.Itoa(in.Concurrency))
	add("request-rate", strconv.FormatFloat(in.Rate, 'g', -1, 64))
	add("isl", in.ISL)
	add("osl", in.OSL)
	add("turns", in.Turns)
	add("tasks", in.Tasks)
	add("seed", strconv.FormatUint(in.Seed, 10))
	add("name", in.Name)
	for _, s := range in.SLO {
		add("slo", s)
	}
	flags, cmd := &runFlags{}, &cobra.Command{Use: "run"}
	flags.register(cmd)
	if err := cmd.ParseFlags(argv); err != nil {
		return "", &mcp.Fault{Code: mcp.BadInput, Message: err.Error()}
	}
	base := campaign.Default()
	base.Target = ref.campaign
	c, err := resolve(flags, base, nil)
	if err != nil {
		return "", &mcp.Fault{Code: mcp.BadInput, Message: err.Error()}
	}
	for i := range c.Phases {
		if p := &c.Phases[i]; p.Requests == 0 || p.Requests > requests {
			p.Requests = requests
		}
	}
	res, err := campaign.Run(ctx, c, campaign.Options{Log: a.log, Tool: archive.Tool{Version: version}})
	if err != nil {
		return "", typed(ctx, err)
	}
	return res.Dir, nil
}

// Analyze implements mcp.Actions.
func (a *mcpActions) Analyze(ctx context.Context, dir string, slos []string) (*archive.Analysis, string, error) {
	if len(slos) == 0 {
		run, err := archive.Open(dir)
		if err != nil {
			return nil, "", typed(ctx, withCode(exitUsage, err))
		}
		slos = recordedSLOs(run)
	}
	an, err := finish(dir, slos, a.silent())
	if err != nil {
		return nil, "", typed(ctx, err)
	}
	return an, filepath.Join(dir, archive.ReportFile), nil
}

// Compare implements mcp.Actions.
func (a *mcpActions) Compare(ctx context.Context, base string, heads []string) ([]mcp.Compared, error) {
	runs := make([]comparable, 0, 1+len(heads))
	for _, dir := range append([]string{base}, heads...) {
		c, err := openComparable(dir, a.silent())
		if err != nil {
			return nil, typed(ctx, err)
		}
		runs = append(runs, c)
	}
	var out []mcp.Compared
	for i, h := range compareRuns(runs, compare.Rules(), compare.Options{}).Heads {
		c := mcp.Compared{Run: filepath.Base(heads[i]), Gate: fmt.Sprint(h.Gate.State), Reason: h.Gate.Reason}
		for _, d := range h.Differences {
			c.Changes = append(c.Changes, mcp.Change{
				Metric: d.Metric, Stat: d.Stat, Base: d.Base, Head: d.Head, Change: d.Change, Low: d.Low, High: d.High,
				Verdict: fmt.Sprint(d.Verdict(sameWithin)), Paired: d.Paired,
			})
		}
		for _, q := range h.Quality {
			c.Quality = append(c.Quality, fmt.Sprintf("%s (%s): %s", q.Kind, q.Set, q.Gate))
		}
		out = append(out, c)
	}
	return out, nil
}

// Study implements mcp.Actions: a study as `inferencebench tune` makes it, whose search may be
// replaced by proposals.
func (a *mcpActions) Study(ctx context.Context, t *mcp.Target, o mcp.Order) (mcp.Study, int, error) {
	var s mcp.Study
	file, err := copyFile(t.Ref.(*mcpTarget).study)
	if err != nil {
		return s, 0, err
	}
	if o.Time > 0 {
		file.Budget.Time = campaign.Duration(o.Time)
	}
	file.Budget.Time = min(file.Budget.Time, campaign.Duration(o.Room))
	if len(o.Knobs) > 0 {
		narrow := map[string][]string{}
		for _, k := range o.Knobs {
			narrow[k] = file.Knobs[k]
		}
		file.Knobs = narrow
	}
	file.Resolve()
	if err := file.Validate(); err != nil {
		return s, 0, &mcp.Fault{Code: mcp.BadInput, Message: err.Error()}
	}
	dir := filepath.Join(a.runs, "studies", time.Now().UTC().Format("20060102T150405.000Z")+"-"+folderSafe(file.Name))
	out := a.silent()
	env, others, err := environment(ctx, dir, file, out)
	if err != nil {
		return s, 0, typed(ctx, err)
	}
	defer func() {
		if err := others.Close(); err != nil {
			a.log.Warn("study", "err", err)
		}
	}()
	if len(o.Proposals) > 0 {
		env.Learn, env.Watch = nil, nil // what is measured is given
	}
	setup, err := live.Prepare(dir, file, env)
	if err != nil {
		return s, 0, typed(ctx, withCode(exitUsage, err))
	}
	if setup.ReadOnly != "" {
		return s, 0, &mcp.Fault{Code: mcp.ReadOnly, Message: t.Name + " is not changed: " + setup.ReadOnly}
	}
	if len(o.Proposals) > 0 {
		given, err := propose.NewGiven(setup.Space, o.Proposals)
		if err != nil {
			return s, 0, &mcp.Fault{Code: mcp.NotAllowed, Message: err.Error(), Try: "the tool targets lists knobs and values"}
		}
		setup.Strategy = given
		setup.Study.Protocol.DefaultRungs = nil // given proposals are measured whole at once
	}
	runErr := study(ctx, setup, dir, newTuneView(out, file), out)
	res, trials, err := studied(dir)
	sent := requestsOf(trials)
	if err != nil {
		return s, sent, typed(ctx, errors.Join(runErr, err))
	}
	return studyOf(dir, setup, res, trials), sent, nil
}

// studied reads what a study left in its folder.
func studied(dir string) (*tuner.Result, []tuner.Trial, error) {
	_, trials, err := journal.Read(filepath.Join(dir, live.JournalFile))
	if err != nil {
		return nil, nil, err
	}
	b, err := os.ReadFile(filepath.Join(dir, live.ResultFile))
	if err != nil {
		return nil, trials, fmt.Errorf("the study has no result: %w", err)
	}
	var res tuner.Result
	return &res, trials, json.Unmarshal(b, &res)
}

// requestsOf counts what trials sent, as far as their runs say.
func requestsOf(trials []tuner.Trial) int {
	n := 0
	for _, t := range trials {
		n += int(t.Metrics["requests_ok"])
		for _, k := range t.Errors {
			n += k
		}
	}
	return n
}

func studyOf(dir string, setup *live.Setup, res *tuner.Result, trials []tuner.Trial) mcp.Study {
	s := mcp.Study{
		Folder: dir, Decision: string(res.Decision), Reason: res.Reason, Config: res.Config,
		Command: setup.Control.Command(res.Config), Report: filepath.Join(dir, live.PageFile),
	}
	if _, gain, ok := res.Gain(); ok {
		s.Gain = &gain
	}
	for _, t := range trials {
		row := mcp.TrialRow{N: t.N, Role: t.Role, Source: t.Source, Config: t.Config, Outcome: string(t.Outcome), Reason: t.Reason, Predicted: t.Predicted}
		if v, ok := t.Value.Get(); ok {
			row.Value = &v
		}
		s.Trials = append(s.Trials, row)
	}
	for _, k := range propose.Score(setup.Study.Goal, trials) {
		src := mcp.Source{Source: k.Source, Trials: k.Trials, Improved: k.Improved}
		if v, ok := k.Coverage.Get(); ok {
			src.Coverage = &v
		}
		if v, ok := k.Brier.Get(); ok {
			src.Brier = &v
		}
		s.Sources = append(s.Sources, src)
	}
	return s
}
