package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/inferencebench/inferencebench/analyst"
	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/campaign"
	"github.com/inferencebench/inferencebench/report/export"
	"github.com/inferencebench/inferencebench/report/web"
)

// webTokenEnv is where `serve` takes its token from, so that it is in no process list.
const webTokenEnv = "INFERENCEBENCH_TOKEN"

func newServe() *cobra.Command {
	var addr, root string
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "browse runs in the browser, also while they go on",
		Long: `Serves the runs of a folder as web pages: a list, every report, a live view of a run that
goes on, and comparisons. It binds to this machine alone; an address that others can reach
needs a token in the environment variable ` + webTokenEnv + `.`,
		Args: args(cobra.NoArgs),
	}
	cmd.Flags().StringVar(&addr, "listen", "127.0.0.1:8080", "address to listen on")
	cmd.Flags().StringVar(&root, "runs", campaign.DefaultOut, "folder that holds run directories")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if _, err := os.Stat(root); errors.Is(err, fs.ErrNotExist) {
			return withCode(exitUsage, fmt.Errorf("%w\nTry: inferencebench run, or --runs with the folder that holds your runs", err))
		}
		o := newOutput(cmd, "text", false)
		token := os.Getenv(webTokenEnv)
		s, err := web.New(web.Config{
			Root: root, Token: token,
			Analyze: func(run *archive.Run) (*archive.Analysis, error) {
				return analyst.Analyze(run, analysisOptions(run, recordedSLOs(run), o.log))
			},
		})
		if err != nil {
			return withCode(exitUsage, err)
		}
		l, err := web.Listen(cmd.Context(), addr, token)
		if err != nil {
			if errors.Is(err, web.ErrNeedsToken) {
				err = fmt.Errorf("%w\nTry: %s=... inferencebench serve --listen %s", err, webTokenEnv, addr)
			}
			return withCode(exitUsage, err)
		}
		fmt.Fprintf(o.out, "Serving %s on http://%s\n", root, l.Addr())
		return s.Serve(cmd.Context(), l)
	}
	return cmd
}

func newExport() *cobra.Command {
	var format, out string
	cmd := &cobra.Command{
		Use:   "export RUN",
		Short: "write a run in another tool's format",
		Args:  args(cobra.ExactArgs(1)),
	}
	names := ""
	for _, f := range export.Formats() {
		names += fmt.Sprintf("\n  %-14s %s", f.Name, f.Text)
	}
	cmd.Long = "Writes a run in another format:\n" + names
	cmd.Flags().StringVar(&format, "format", "markdown", "the format")
	cmd.Flags().StringVarP(&out, "output", "o", "-", "file to write; - is standard output")
	cmd.RunE = func(cmd *cobra.Command, argv []string) error {
		f, err := export.Lookup(format)
		if err != nil {
			return withCode(exitUsage, err)
		}
		run, err := archive.Open(argv[0])
		if err != nil {
			return withCode(exitUsage, err)
		}
		o := newOutput(cmd, "text", true)
		a, err := run.Analysis()
		if err != nil {
			if a, err = analyst.Analyze(run, analysisOptions(run, recordedSLOs(run), o.log)); err != nil {
				return err
			}
		}
		if out == "-" {
			return f.Write(o.out, run, a)
		}
		w, err := os.Create(out)
		if err != nil {
			return withCode(exitUsage, err)
		}
		return errors.Join(f.Write(w, run, a), w.Close())
	}
	return cmd
}
