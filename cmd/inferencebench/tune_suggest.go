package main

import (
	"context"
	"fmt"
	"os"

	"github.com/inferencebench/inferencebench/report"
	pages "github.com/inferencebench/inferencebench/report/study"
	"github.com/inferencebench/inferencebench/tuner/live"
)

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
