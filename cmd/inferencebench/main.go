// Command inferencebench benchmarks LLM inference servers the way real users load them
// and says what limits them. `inferencebench help` lists its verbs.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/inferencebench/inferencebench/evals/sandbox"
	"github.com/inferencebench/inferencebench/report"
)

// version is set by the build.
var version = "dev"

func main() {
	sandbox.MaybeInit() // this program is also the first process of its own sandbox
	ctx, stop := interruptible(context.Background())
	defer stop()
	os.Exit(execute(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// execute runs one command line and returns its exit code. All output goes to the two
// writers, so that tests can run the program in process.
func execute(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := newRoot(stdout, stderr)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err != nil {
		if msg := err.Error(); msg != "" {
			fmt.Fprintf(stderr, "inferencebench: %s\n", report.Visible(msg)) // it may quote a server
		}
	}
	return exitCode(err)
}

// interruptible returns a context that the first SIGINT or SIGTERM cancels, so that a run
// ends and saves what it has. A second signal ends the program at once.
func interruptible(parent context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(parent)
	sig := make(chan os.Signal, 2)
	signal.Notify(sig, os.Interrupt, syscall.SIGTERM)
	go func() {
		select {
		case s := <-sig:
			cancel(fmt.Errorf("stopped by %v", s))
		case <-ctx.Done():
			return
		}
		<-sig
		os.Exit(exitInterrupted)
	}()
	return ctx, func() { signal.Stop(sig); cancel(nil) }
}
