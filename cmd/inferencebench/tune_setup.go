package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"time"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/report"
	pages "github.com/inferencebench/inferencebench/report/study"
	"github.com/inferencebench/inferencebench/tuner"
	"github.com/inferencebench/inferencebench/tuner/live"
)

// environment joins a study with this program: clock, log, and what watches its trials.
func environment(_ *live.File, o *output, _ *tuneView) live.Environment {
	return live.Environment{Log: o.log, Getenv: os.Getenv, Tool: archive.Tool{Version: version}, Now: time.Now}
}

// checks are what a trial is held against beside speed, objectives and quality.
func checks(*live.Setup) []tuner.Check { return nil }

// suggest is a study of a server that is not to be touched: what would be tried is printed.
func suggest(_ context.Context, s *live.Setup, dir string, o *output) error {
	defer os.RemoveAll(dir)
	fmt.Fprintf(o.out, "Nothing was changed: without a launch command behind -- the server is left alone.\n")
	fmt.Fprintf(o.out, "A study would begin with these changes to it, and prove one before it recommends it:\n")
	for _, a := range s.First(8) {
		fmt.Fprintf(o.out, "  %s\n", report.Visible(pages.Config(a)))
	}
	fmt.Fprintf(o.out, "Next: add the launch command, such as: inferencebench tune --url %s -- vllm serve MODEL\n", report.Visible(s.File.Target.URL))
	return nil
}

func writeStudyPage(path string, s *live.Setup, r *tuner.Result) error {
	var b bytes.Buffer
	if err := pages.HTML(&b, pageInput(s, r)); err != nil {
		return err
	}
	return archive.WriteFileAtomic(path, b.Bytes())
}
