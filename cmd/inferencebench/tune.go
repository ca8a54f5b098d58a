package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/tuner"
	"github.com/inferencebench/inferencebench/tuner/journal"
	"github.com/inferencebench/inferencebench/tuner/live"
)

const tuneLong = `Looks for a better configuration of a server, and proves it: the default is measured first,
a challenger must beat it in interleaved blocks by more than the margin with every objective
held and no loss of quality, and is then certified after clean relaunches on a workload that
no search has seen. "Keep the default" is an answer.

Without arguments it tunes the simulated engine in this program in under three minutes: a
demonstration. Behind -- stands the launch command of your server; it is started and
stopped by this program, and the configuration of before is restored at the end, whatever
happens. Without a command, and with --production, nothing is changed: the server is measured
once as it is, and changes are suggested with their reasons.

A study that was stopped goes on with --resume FOLDER. A study file holds everything that a
flag can say; ` + "`inferencebench init --study`" + ` writes one with comments. Flags win over the file.`

func newTune() *cobra.Command {
	f := &tuneFlags{}
	var show shown
	cmd := &cobra.Command{
		Use:   "tune [study.yaml] [flags] [-- launch command]",
		Short: "search for a better configuration, and prove it",
		Long:  tuneLong,
		Example: `  inferencebench tune
  inferencebench tune --dry-run --budget 1h -- vllm serve meta-llama/Llama-3.1-8B-Instruct --port 8000
  inferencebench tune --url http://127.0.0.1:8080 --engine llama_cpp --knobs '--threads=1,2' --knobs --batch-size \
      --budget 20m --goal max:output_throughput --slo 'ttft_p99<2s' -- llama-server -m model.gguf --port 8080
  inferencebench tune --resume studies/20260102T030405Z-study`,
	}
	f.register(cmd)
	show.register(cmd)
	cmd.RunE = func(cmd *cobra.Command, argv []string) error {
		o, err := show.output(cmd)
		if err != nil {
			return err
		}
		files, command := argv, []string(nil)
		if dash := cmd.ArgsLenAtDash(); dash >= 0 {
			files, command = argv[:dash], argv[dash:]
		}
		if len(files) > 1 {
			return withCode(exitUsage, usageError{cmd: cmd, err: fmt.Errorf("%d files: one study at a time (a launch command stands behind --)", len(files))})
		}
		file, err := f.file(files, command)
		if err != nil {
			return withCode(exitUsage, err)
		}
		return tune(cmd.Context(), file, f, o)
	}
	return cmd
}

// tune carries out a study, or shows what it would do.
func tune(ctx context.Context, file *live.File, f *tuneFlags, o *output) (err error) {
	dir := file.Out
	if dir == "" {
		dir = filepath.Join(live.DefaultOut, time.Now().UTC().Format("20060102T150405Z")+"-"+folderSafe(file.Name))
	}
	if f.dryRun {
		tmp, err := os.MkdirTemp("", "inferencebench-tune-*")
		if err != nil {
			return err
		}
		defer os.RemoveAll(tmp)
		setup, err := live.Prepare(tmp, file, live.Environment{Now: time.Now})
		if err != nil {
			return withCode(exitUsage, err)
		}
		return dryRun(ctx, setup, dir, o.out)
	}
	var told map[string]string
	if readOnly(file) {
		lookOnly(file)
		if told, err = recognise(ctx, file, os.Getenv); err != nil {
			return err
		}
	}
	view := newTuneView(o, file)
	env, others, err := environment(ctx, dir, file, o)
	if err != nil {
		return err
	}
	env.Settings = told
	defer func() { err = errors.Join(err, others.Close()) }()
	setup, err := live.Prepare(dir, file, env)
	if err != nil {
		return withCode(exitUsage, err)
	}
	if setup.ReadOnly != "" {
		return suggest(ctx, setup, dir, o)
	}
	return study(ctx, setup, dir, view, o)
}

// study runs a study from where its journal stands, and writes its answer.
func study(ctx context.Context, setup *live.Setup, dir string, view *tuneView, o *output) error {
	if setup.ReadOnly != "" {
		return withCode(exitUsage, fmt.Errorf("nothing may be changed: %s", setup.ReadOnly))
	}
	header, err := journal.NewHeader(setup.Study, setup.Strategy.Name())
	if err != nil {
		return err
	}
	j, err := journal.Open(filepath.Join(dir, live.JournalFile), header)
	if err != nil {
		return withCode(exitUsage, err)
	}
	defer j.Close()
	if err := writeJSON(filepath.Join(dir, live.FileFile), setup.File.Record()); err != nil {
		return err
	}
	view.start(setup, dir, j)
	options := tuner.Options{Journal: j, Allow: setup.Allow, Progress: view.progress, Checks: checks(setup)}
	res, runErr := tuner.Run(ctx, setup.Study, setup.Bench, setup.Strategy, options)
	view.stop()
	if res == nil {
		return runErr
	}
	if err := writeJSON(filepath.Join(dir, live.ResultFile), res); err != nil {
		return errors.Join(runErr, err)
	}
	page := filepath.Join(dir, live.PageFile)
	if err := writeStudyPage(page, setup, res); err != nil {
		o.log.Warn("the page could not be written", "err", err)
		page = ""
	}
	if o.json {
		if err := encodeJSON(o.out, res); err != nil {
			return err
		}
	} else {
		tuneAnswer(o, setup, res, page)
	}
	switch {
	case runErr != nil:
		return runErr
	case res.Decision == tuner.Interrupted:
		return withCode(exitInterrupted, fmt.Errorf("the study was interrupted (%s); go on with: inferencebench tune --resume %s", res.Reason, dir))
	case res.Decision == tuner.NoBaseline:
		return withCode(exitUndecided, fmt.Errorf("no baseline: %s", res.Reason))
	}
	return nil
}

func writeJSON(path string, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return archive.WriteFileAtomic(path, append(b, '\n'))
}

// folderSafe makes a study's name a part of a path.
func folderSafe(name string) string {
	name = strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r == '.' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return '-'
	}, name)
	if name = strings.Trim(name, "-."); name == "" {
		name = "study"
	}
	return name[:min(len(name), 40)]
}
