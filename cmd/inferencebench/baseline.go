package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/inferencebench/inferencebench/analyst"
	"github.com/inferencebench/inferencebench/analyst/compare"
	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/archive/baseline"
)

// baselinesEnv names the baseline database where no flag does, so that a URL is in no
// process list.
const baselinesEnv = "INFERENCEBENCH_BASELINES"

type baselineFlags struct{ db, machine string }

func newBaseline() *cobra.Command {
	f := &baselineFlags{}
	cmd := &cobra.Command{
		Use:   "baseline",
		Short: "keep summaries of runs in a database, with history and drift",
		Long: `Keeps summaries of runs in a database: a SQLite file, or a PostgreSQL server by URL
(its password belongs in PGPASSWORD). Runs of the same machine, campaign, engine and model
form a series; from six runs on a series tells the noise between runs that differ in nothing,
which compare --gate --baselines uses, and whether a statistic drifts.`,
		Example: `  inferencebench baseline add runs/A runs/B --db team.db
  inferencebench baseline history runs/B --db team.db
  inferencebench baseline check runs/C --db postgres://bench@db.example/bench`,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.PersistentFlags().StringVar(&f.db, "db", "", "database: a path or a postgres:// URL (default $"+baselinesEnv+", else baselines.db)")
	cmd.PersistentFlags().StringVar(&f.machine, "machine", "", "name of the machine; default: processor, cores and GPUs")
	cmd.AddCommand(
		&cobra.Command{Use: "add RUN...", Short: "store runs, in place of what is known of them", Args: args(cobra.MinimumNArgs(1)), RunE: f.add},
		&cobra.Command{Use: "list", Short: "list the stored runs", Args: args(cobra.NoArgs), RunE: f.list},
		&cobra.Command{Use: "history RUN", Short: "show the series of a run: noise, and lasting changes", Args: args(cobra.ExactArgs(1)), RunE: f.history},
		&cobra.Command{
			Use: "check RUN", Short: "hold a run against its series: exit 1 when it is worse than the noise explains",
			Long: `Holds a run, stored or not, against the other runs of its series. The exit code is 1 when a
statistic is worse by more than three times the noise between runs, and 2 when the series is
too short to tell or the run is not valid.`,
			Args: args(cobra.ExactArgs(1)), RunE: f.check,
		},
	)
	return cmd
}

func openBaselines(ctx context.Context, db string) (*baseline.Store, error) {
	if db == "" {
		db = os.Getenv(baselinesEnv)
	}
	if db == "" {
		db = "baselines.db"
	}
	s, err := baseline.Open(ctx, db)
	if err != nil {
		return nil, withCode(exitUsage, err)
	}
	return s, nil
}

// entry summarizes a run, which is analysed first where it has no analysis.
func (f *baselineFlags) entry(dir string, o *output) (baseline.Entry, error) {
	run, err := archive.Open(dir)
	if err != nil {
		return baseline.Entry{}, withCode(exitUsage, err)
	}
	a, err := run.Analysis()
	if err != nil {
		if a, err = analyst.Analyze(run, analysisOptions(run, recordedSLOs(run), o.log)); err != nil {
			return baseline.Entry{}, err
		}
	}
	return baseline.Summarize(run, a, f.machine), nil
}

func (f *baselineFlags) add(cmd *cobra.Command, argv []string) (err error) {
	o := newOutput(cmd, "text", false)
	s, err := openBaselines(cmd.Context(), f.db)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	for _, dir := range argv {
		e, err := f.entry(dir, o)
		if err != nil {
			return err
		}
		if e.Verdict == archive.VerdictInvalid {
			o.log.Warn("the run is not valid and was left out", "run", dir, "why", e.Headline)
			continue
		}
		added, err := s.Add(cmd.Context(), e)
		if err != nil {
			return err
		}
		what := "added"
		if !added {
			what = "stored again"
		}
		fmt.Fprintf(o.out, "%s: %s\n", e.Run, what)
	}
	return nil
}

func (f *baselineFlags) list(cmd *cobra.Command, _ []string) (err error) {
	s, err := openBaselines(cmd.Context(), f.db)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	all, err := s.List(cmd.Context(), nil)
	if err != nil {
		return err
	}
	t := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "recorded\trun\tengine\tmodel\tcampaign\tverdict\tTTFT median\toutput")
	for _, e := range all {
		fmt.Fprintf(t, "%s\t%s\t%s %s\t%s\t%s\t%s\t%s\t%s\n", e.Recorded.Format("2006-01-02 15:04"), e.Run, e.Series.Engine, e.Version, e.Series.Model,
			e.Series.Config, e.Verdict, figureOf(e, "ttft_p50", "ms"), figureOf(e, "output_rate", "tok/s"))
	}
	return t.Flush()
}

func figureOf(e baseline.Entry, name, unit string) string {
	v, ok := e.Metrics[name]
	if !ok {
		return "–"
	}
	return fmt.Sprintf("%.4g %s", v, unit)
}

// series returns the values of a statistic over runs that have it, and those runs.
func seriesOf(runs []baseline.Entry, name string) (values []float64, of []baseline.Entry) {
	for _, e := range runs {
		if v, ok := e.Metrics[name]; ok {
			values, of = append(values, v), append(of, e)
		}
	}
	return values, of
}

// others are the stored runs of a run's series without the run itself.
func others(ctx context.Context, s *baseline.Store, e baseline.Entry) ([]baseline.Entry, error) {
	all, err := s.List(ctx, &e.Series)
	if err != nil {
		return nil, err
	}
	out := all[:0]
	for _, x := range all {
		if x.Run != e.Run {
			out = append(out, x)
		}
	}
	return out, nil
}

func (f *baselineFlags) history(cmd *cobra.Command, argv []string) (err error) {
	o := newOutput(cmd, "text", false)
	e, err := f.entry(argv[0], o)
	if err != nil {
		return err
	}
	s, err := openBaselines(cmd.Context(), f.db)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	runs, err := s.List(cmd.Context(), &e.Series)
	if err != nil {
		return err
	}
	fmt.Fprintf(o.out, "Series: %s, %s, campaign %s, on %s: %s\n", e.Series.Engine, e.Series.Model, e.Series.Config, e.Series.Machine, plural(len(runs), "run"))
	t := tabwriter.NewWriter(o.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "statistic\truns\tmedian now\tnoise between runs\ttrend")
	for _, name := range baseline.Names() {
		values, of := seriesOf(runs, name)
		if len(values) == 0 {
			continue
		}
		tr := compare.TrendOf(values)
		switch {
		case tr.Reason != "":
			fmt.Fprintf(t, "%s\t%d\t–\t–\tunknown: %s\n", name, tr.Runs, tr.Reason)
		case tr.Drifted:
			fmt.Fprintf(t, "%s\t%d\t%.4g\t%.1f %%\t%s since %s\n", name, tr.Runs, tr.Reference, 100*tr.Floor, compare.Percent(tr.Change), of[tr.From].Run)
		default:
			fmt.Fprintf(t, "%s\t%d\t%.4g\t%.1f %%\tno lasting change\n", name, tr.Runs, tr.Reference, 100*tr.Floor)
		}
	}
	return t.Flush()
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func (f *baselineFlags) check(cmd *cobra.Command, argv []string) (err error) {
	o := newOutput(cmd, "text", false)
	e, err := f.entry(argv[0], o)
	if err != nil {
		return err
	}
	s, err := openBaselines(cmd.Context(), f.db)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	runs, err := others(cmd.Context(), s, e)
	if err != nil {
		return err
	}
	if e.Verdict == archive.VerdictInvalid {
		return withCode(exitUndecided, fmt.Errorf("%s is not valid: %s", argv[0], e.Headline))
	}
	return checkAgainst(o.out, e, runs)
}

// checkAgainst prints how a run compares with its series, and returns the gate's error.
func checkAgainst(w io.Writer, e baseline.Entry, runs []baseline.Entry) error {
	told, worse := 0, []string{}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "statistic\tthis run\tseries\tchange\tnoise\tverdict")
	for _, st := range compare.Stats() {
		name := st.Name()
		v, ok := e.Metrics[name]
		values, _ := seriesOf(runs, name)
		if !ok || len(values) == 0 {
			continue
		}
		tr := compare.TrendOf(values)
		if tr.Reason != "" {
			fmt.Fprintf(t, "%s\t%.4g\t–\t–\t–\tunknown: %s\n", name, v, tr.Reason)
			continue
		}
		told++
		change, out := tr.Outside(v)
		verdict := "within the noise"
		if out {
			verdict = "better"
			if (change > 0) == (st.Metric != "output_rate") {
				verdict = "worse"
				worse = append(worse, name+" "+compare.Percent(change))
			}
		}
		fmt.Fprintf(t, "%s\t%.4g\t%.4g\t%s\t%.1f %%\t%s\n", name, v, tr.Reference, compare.Percent(change), 100*tr.Floor, verdict)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	switch {
	case len(worse) > 0:
		return withCode(exitGate, fmt.Errorf("%s is worse than its series: %s", e.Run, worse[0]))
	case told == 0:
		return withCode(exitUndecided, fmt.Errorf("the series of %s holds %s beside it, and %d are needed", e.Run, plural(len(runs), "run"), compare.MinNoiseRuns))
	}
	return nil
}

// gateOptions takes the noise between runs from the series of the base; without a database
// the defaults hold.
func gateOptions(ctx context.Context, db string, base *archive.Run, o *output) (opts compare.Options, err error) {
	if db == "" {
		return opts, nil
	}
	s, err := openBaselines(ctx, db)
	if err != nil {
		return opts, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	series := baseline.Summarize(base, &archive.Analysis{}, "").Series
	runs, err := s.List(ctx, &series)
	if err != nil {
		return opts, err
	}
	opts.NoiseOf = map[compare.Stat]float64{}
	for _, st := range compare.Stats() {
		values, _ := seriesOf(runs, st.Name())
		if floor, ok := compare.Floor(values); ok {
			opts.NoiseOf[st] = max(floor, compare.DefaultNoise)
		}
	}
	if len(opts.NoiseOf) == 0 {
		o.log.Warn("the series is too short to tell the noise between runs; the default is used", "runs", len(runs), "needed", compare.MinNoiseRuns)
	}
	return opts, nil
}
