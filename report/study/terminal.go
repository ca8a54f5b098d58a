package study

import (
	"fmt"
	"io"
	"strings"

	"github.com/inferencebench/inferencebench/report"
	"github.com/inferencebench/inferencebench/report/quantity"
	"github.com/inferencebench/inferencebench/tuner"
	"github.com/inferencebench/inferencebench/tuner/lessons"
)

// Terminal writes the answer of a study in a few lines. Text from outside, such as a server's
// last words, is made visible.
func Terminal(w io.Writer, in *Input, ascii bool) error {
	var b strings.Builder
	line := func(label, format string, a ...any) {
		fmt.Fprintf(&b, "%-9s %s\n", label, fmt.Sprintf(format, a...))
	}
	if in.Simulated {
		b.WriteString("SIMULATION: the figures below are of the simulated engine, not of a real server.\n")
	}
	line("Answer:", "%s", in.Headline())
	for _, d := range in.Detail() {
		line("", "%s", d)
	}
	if len(in.Deploy) > 0 && in.Result.Decision == tuner.Change {
		line("Deploy:", "%s", Command(in.Deploy))
		line("Undo:", "%s", Command(in.Undo))
	}
	_, best, _ := in.curve()
	if len(best) > 1 {
		line("Search:", "%s best so far, up to %+.0f %% (not proved)", spark(best, ascii), best[len(best)-1])
	}
	for i, c := range in.Result.Candidates {
		state, reason := c.State, c.Reason
		for _, x := range in.Result.Certifications {
			if x.Challenger.Config.Key() == c.Challenger.Config.Key() {
				state, reason = x.State, x.Reason
			}
		}
		line(map[bool]string{true: "Proof:"}[i == 0], "%s: %s after %d blocks; %s", Config(c.Challenger.Config), state, len(c.Gains), reason)
	}
	for i, s := range lessons.Learned(&in.Study, in.Space, in.Result) {
		line(map[bool]string{true: "Learned:"}[i == 0], "%s", s)
	}
	line("Spent:", "%s", in.Spent())
	text := report.Visible(b.String())
	if ascii {
		text = quantity.ASCII(text)
	}
	_, err := io.WriteString(w, text)
	return err
}

// spark draws values as one line of blocks.
func spark(v []float64, ascii bool) string {
	const most = 40
	if len(v) > most {
		thin := make([]float64, most)
		for i := range thin {
			thin[i] = v[(i+1)*len(v)/most-1]
		}
		v = thin
	}
	ramp := []rune("▁▂▃▄▅▆▇█")
	if ascii {
		ramp = []rune("_.-=+*#@")
	}
	lo, hi := v[0], v[0]
	for _, x := range v {
		lo, hi = min(lo, x), max(hi, x)
	}
	var b strings.Builder
	for _, x := range v {
		k := 0
		if hi > lo {
			k = int((x - lo) / (hi - lo) * float64(len(ramp)-1))
		}
		b.WriteRune(ramp[k])
	}
	return b.String()
}
