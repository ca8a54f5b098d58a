// Command attribution plays the fault suite and prints how well the analyst attributes.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"

	"github.com/inferencebench/inferencebench/analyst/suite"
	"github.com/inferencebench/inferencebench/sim/faults"
)

func main() {
	set := flag.String("set", "tuning", "combinations: tuning or held")
	only := flag.String("only", "", "comma-separated conditions; default: all")
	sev := flag.String("severity", "mid", "comma-separated severities: low, mid, high")
	seed := flag.Uint64("seed", 1, "first seed")
	combos := flag.Int("combos", 0, "use only the first so many combinations; 0: all")
	verbose := flag.Bool("v", false, "print the evidence of wrong verdicts")
	all := flag.Bool("vv", false, "print the evidence of all verdicts")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
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
	suite.Run(ctx, suite.Jobs(ids, list, sevs, []uint64{*seed}), 1, func(_ int, c *suite.Case) {
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
