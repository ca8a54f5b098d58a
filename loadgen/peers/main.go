//go:build linux

// Command peers runs one workload through this program and through other load generators,
// in turn against one server, and compares what each reports with what the server saw.
// `make bench-peers` runs it, behind a script that installs the others.
//
//	peers -envs .venv/peers -ours bin/inferencebench [-rounds 3] [-only ours,aiperf] [-o docs/benchmarks.md]
//
// The server is the null server in a process of its own. It keeps a journal: when each
// request had arrived, and the instant just before each chunk was written. Everything that
// is said about a client's arrivals and about the error of its figures comes from there.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == "server" {
		exit(serve())
	}
	fs := flag.NewFlagSet("peers", flag.ExitOnError)
	var o options
	fs.StringVar(&o.envs, "envs", ".venv/peers", "folder with an environment for each peer")
	fs.StringVar(&o.ours, "ours", "bin/inferencebench", "this program")
	fs.IntVar(&o.rounds, "rounds", 3, "rounds through all clients")
	fs.IntVar(&o.requests, "requests", 500, "requests of a run at a rate")
	fs.Float64Var(&o.rate, "rate", 50, "requests a second")
	fs.IntVar(&o.users, "users", 500, "streams asked for at once, to see how many a client holds")
	fs.DurationVar(&o.limit, "limit", 100*time.Second, "longest time for one run of a client")
	fs.DurationVar(&o.budget, "budget", 9*time.Minute, "longest time for everything: rounds that would not fit are left out")
	only := fs.String("only", "", "clients to run, comma-separated; all when empty")
	fs.StringVar(&o.out, "o", "", "file to write the tables to; none when empty")
	fs.StringVar(&o.keep, "keep", "", "folder that keeps what the clients wrote; a temporary one when empty")
	_ = fs.Parse(os.Args[1:]) // exits on error
	o.only = strings.FieldsFunc(*only, func(r rune) bool { return r == ',' })
	for _, p := range []*string{&o.envs, &o.ours} {
		abs, err := filepath.Abs(*p)
		if err != nil {
			exit(err)
		}
		*p = abs
	}
	exit(compare(&o))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// options are what a comparison is asked to do.
type options struct {
	envs, ours, out, keep string
	rounds                int
	requests, users       int
	rate                  float64
	limit, budget         time.Duration
	only                  []string
}
