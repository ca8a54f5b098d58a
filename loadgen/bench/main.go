// Command bench measures the limits of the wire client as ratios within one run: against
// floors that only read, against other readers of the same stream, and against the truth
// of the null server's own send stamps. `make bench-limits` runs it.
//
//	bench [-repeats 5] [-for 1s] [-only 4,5] [-json FILE]
//
// It runs itself again as the server and as each client, so that each is a process of its
// own, pinned to a core where the machine has two. Repeats are interleaved.
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"time"
)

func main() {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "server":
			exit(serve(os.Args[2:]))
		case "client":
			exit(runClient(os.Args[2:]))
		}
	}
	fs := flag.NewFlagSet("bench", flag.ExitOnError)
	repeats := fs.Int("repeats", 5, "interleaved repeats of each measurement")
	span := fs.Duration("for", time.Second, "measured window of each client run")
	only := fs.String("only", "", "numbers of the ratios to measure, comma-separated; all when empty")
	out := fs.String("json", "", "also write the results to this file")
	_ = fs.Parse(os.Args[1:]) // exits on error
	exit(limits(*repeats, *span, strings.FieldsFunc(*only, func(r rune) bool { return r == ',' }), *out))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	os.Exit(0)
}
