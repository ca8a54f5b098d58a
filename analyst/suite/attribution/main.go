// Command attribution plays the fault suite and prints how well the analyst attributes.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strings"

	"github.com/inferencebench/inferencebench/analyst/suite"
	"github.com/inferencebench/inferencebench/sim/faults"
)

func main() {
	set := flag.String("set", "tuning", "combinations: tuning or held")
	only := flag.String("only", "", "comma-separated conditions; default: all")
	sev := flag.String("severity", "mid", "comma-separated severities: low, mid, high")
	seed := flag.Uint64("seed", 1, "first seed")
	withhold := flag.String("withhold", "", "drop the samples of this source")
	combos := flag.Int("combos", 0, "use only the first so many combinations; 0: all")
	verbose := flag.Bool("v", false, "print the evidence of wrong verdicts")
	all := flag.Bool("vv", false, "print the evidence of all verdicts")
	page := flag.String("o", "", "measure everything and write the page to this file")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if *page != "" {
		if err := write(ctx, *page); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	list := suite.Tuning()
	if *set == "held" {
		list = suite.Held()
	}
	if *combos > 0 {
		list = list[:min(*combos, len(list))]
	}
	ids := suite.All()
	if *only != "" {
		ids = strings.Split(*only, ",")
	}
	var sevs []faults.Severity
	for _, s := range []faults.Severity{faults.Low, faults.Mid, faults.High} {
		if strings.Contains(*sev, s.String()) {
			sevs = append(sevs, s)
		}
	}
	right, n := 0, 0
	jobs := suite.Jobs(ids, list, sevs, []uint64{*seed})
	for i := range jobs {
		if *withhold != "" {
			jobs[i].Options.Withhold = []string{*withhold}
		}
	}
	suite.Run(ctx, jobs, 1, func(_ int, c *suite.Case) {
		n++
		mark := "WRONG"
		if c.Right() {
			right++
			mark = "ok"
		}
		fmt.Printf("%-5s %s %-28s %-4s want %-14s got %-14s (%s) %v %.2f %v\n", mark, c.Condition, c.Combo, c.Options.Severity, c.Truth.Cause, c.Label(), c.Verdict.State, c.Ranked, c.Scores, c.Err)
		if mark == "WRONG" {
			fmt.Println("      ", c.Verdict.Headline)
		}
		if mark == "WRONG" && *verbose || *all {
			for _, e := range c.Evidence {
				fmt.Printf("         %s %s\n", e.ID, e.Text)
			}
		}
	})
	fmt.Printf("%d of %d right\n", right, n)
}

// write measures tuning and held-out combinations, healthy servers and withheld signals,
// and writes the page.
func write(ctx context.Context, path string) error {
	sevs := []faults.Severity{faults.Low, faults.Mid, faults.High}
	run := func(what string, jobs []suite.Job) []suite.Case {
		n := 0
		return suite.Run(ctx, jobs, runtime.GOMAXPROCS(0), func(int, *suite.Case) {
			if n++; n%25 == 0 || n == len(jobs) {
				fmt.Fprintf(os.Stderr, "%s: %d of %d\n", what, n, len(jobs))
			}
		})
	}
	var seeds []uint64
	for s := range uint64(17) {
		seeds = append(seeds, 521+s)
	}
	withheld := suite.Jobs([]string{"F02", "F04", "F05", "F06", "F07", "F10", "F22", "F23"}, suite.Held(), []faults.Severity{faults.Mid}, []uint64{305})
	for i := range withheld {
		withheld[i].Options.Withhold = []string{"engine"}
	}
	played := 0
	both := suite.Jobs(faults.Pairs(), suite.Held(), []faults.Severity{faults.Mid}, []uint64{305})
	probes := suite.Jobs(suite.All(), suite.Held(), []faults.Severity{faults.Mid}, []uint64{307})
	r := suite.Results{
		Pairs: run("two faults", both),
		Probed: suite.RunProbed(ctx, probes, runtime.GOMAXPROCS(0), func() {
			if played++; played%25 == 0 || played == len(probes) {
				fmt.Fprintf(os.Stderr, "probes: %d of %d\n", played, len(probes))
			}
		}),
		Tuning:   run("tuning", suite.Jobs(suite.All(), suite.Tuning(), sevs[1:2], []uint64{1})),
		Held:     run("held out", suite.Jobs(suite.All(), suite.Held(), sevs, []uint64{305})),
		Healthy:  run("healthy", suite.Jobs([]string{"F00"}, suite.Held(), []faults.Severity{faults.Mid}, seeds)),
		Withheld: run("withheld", withheld),
		Seeds:    "1, middle severity", HeldSeeds: "305, all severities; healthy runs 521 to 537; with probes 307",
	}
	var b bytes.Buffer
	if err := r.Markdown(&b); err != nil {
		return err
	}
	return os.WriteFile(path, b.Bytes(), 0o644)
}
