// Command bench compares search strategies on landscapes whose optimum is known, each under
// the whole protocol of a study and with the same budget of virtual time, and writes the
// table into a document.
//
//	go run ./tuner/bench -o docs/tuning.md
//
// Its figures follow from the seeds alone. The strategies were developed on seeds from 1000
// on; the default seeds are 1 to 20.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/inferencebench/inferencebench/tuner/landscape"
)

// options are the command line.
type options struct {
	seeds, first, workers int
	only                  string
	strategies            []string
	budget                time.Duration
	cache, out            string
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func parse(args []string) (options, error) {
	var o options
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.IntVar(&o.seeds, "seeds", 20, "studies of each strategy on each landscape")
	f.IntVar(&o.first, "first", 1, "first seed")
	f.IntVar(&o.workers, "workers", runtime.GOMAXPROCS(0), "studies at the same time; changes nothing but the time it takes")
	f.StringVar(&o.only, "only", "", "landscapes whose names contain this")
	names := f.String("strategies", strings.Join(all(), ","), "strategies to compare")
	f.DurationVar(&o.budget, "budget", 2*time.Hour, "virtual time of a study")
	f.StringVar(&o.cache, "cache", filepath.Join("bin", "landscapes"), `folder that keeps tables and studies between runs; "" for none`)
	f.StringVar(&o.out, "o", "", `document whose tables to replace; "" prints only`)
	if err := f.Parse(args); err != nil {
		return o, err
	}
	o.strategies = strings.Split(*names, ",")
	for _, n := range o.strategies {
		if !slices.Contains(all(), n) {
			return o, fmt.Errorf("-strategies: %q is not one of %s", n, strings.Join(all(), ", "))
		}
	}
	if o.seeds < 1 || o.workers < 1 || o.budget <= 0 {
		return o, errors.New("-seeds, -workers and -budget must be above 0")
	}
	return o, nil
}

func run(ctx context.Context, args []string) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	began := time.Now()
	b := board{options: o}
	for _, spec := range append(landscape.Twelve(), landscape.Still()...) {
		if !strings.Contains(spec.Name, o.only) {
			continue
		}
		row, err := kept(ctx, o, spec)
		if err != nil {
			return err
		}
		b.rows = append(b.rows, row)
		fmt.Println(b.line(row))
	}
	if len(b.rows) == 0 {
		return fmt.Errorf("-only: no landscape's name contains %q", o.only)
	}
	text := b.markdown()
	fmt.Printf("\n%s\ntook %s\n", text, time.Since(began).Round(time.Second))
	if o.out != "" {
		if err := replace(o.out, text); err != nil {
			return err
		}
	}
	return b.verdict()
}
