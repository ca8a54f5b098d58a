package study_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/inferencebench/inferencebench/report/reporttest"
	"github.com/inferencebench/inferencebench/report/study"
	"github.com/inferencebench/inferencebench/tuner"
	"github.com/inferencebench/inferencebench/tuner/space"
	"github.com/inferencebench/inferencebench/tuner/tunertest"
)

// input is a finished study of six configurations, the fifth of which is worth it.
func input(t *testing.T, metric string, gain float64) *study.Input {
	t.Helper()
	s := tuner.Study{
		Name: "test " + reporttest.HostileText, Seed: 1,
		Goal:        tuner.Goal{Metric: metric, Maximise: !strings.HasPrefix(metric, "ttft"), MinGain: 0.02},
		Constraints: []string{"e2e_p99<2s"}, Budget: tuner.Budget{Time: 2 * time.Hour, USD: 10}, USDHour: 4,
		About: map[string]string{"workload": "abc"},
	}
	if !s.Goal.Maximise {
		gain = -gain
	}
	b := &tunertest.Bench{Seed: 1, Noise: 0.003, Parts: 5, Items: 20, StartUp: 30 * time.Second, Each: 30 * time.Second, Truths: map[string]tunertest.Truth{
		"": {Slack: []float64{-1}}, "x=1": {Slack: []float64{0.5}, Gain: 0.4}, "x=2": {Outcome: tuner.OOM}, "x=4": {Slack: []float64{-1}, Gain: gain},
	}}
	var all []space.Assignment
	sp := &space.Space{Dims: []space.Dim{{Name: "x", Values: []string{""}}}}
	for i := range 8 {
		all = append(all, space.Assignment{"x": fmt.Sprint(i)})
		sp.Dims[0].Values = append(sp.Dims[0].Values, fmt.Sprint(i))
		if i != 1 && i != 2 && i != 4 {
			b.Truths[all[i].Key()] = tunertest.Truth{Slack: []float64{-1}}
		}
	}
	r, err := tuner.Run(context.Background(), s, b, tunertest.List{Configs: all, Rung: 1}, tuner.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return &study.Input{Study: s, Result: r, Space: sp, Engine: "vLLM", Simulated: true, Deploy: []string{"serve", "--x", "4"}, Undo: []string{"serve", "a b"}, Search: "list", Tool: "test"}
}

// The answer stands first: the change with its certified gain, the command to deploy and the
// one that undoes it, or to keep the default and why.
func TestTerminalAnswersFirst(t *testing.T) {
	for _, c := range []struct {
		name, metric string
		gain         float64
		want         []string
		not          string
	}{
		{"more of a rate", "output_throughput", 0.2, []string{"Change to x=4: output throughput +2", "Deploy:   serve --x 4", "Undo:     serve 'a b'", "certified after 3 blocks", "$"}, "Keep"},
		{"less of a latency", "ttft_p99", 0.2, []string{"Change to x=4: TTFT P99 −1", "with a 95 % interval of −"}, "Keep"},
		{"nothing", "output_throughput", 0, []string{"Keep the default: nothing was proved better by more than 2 %."}, "Deploy"},
	} {
		var b bytes.Buffer
		if err := study.Terminal(&b, input(t, c.metric, c.gain), false); err != nil {
			t.Fatal(err)
		}
		got := b.String()
		for _, w := range c.want {
			if !strings.Contains(got, w) {
				t.Errorf("%s: no %q in\n%s", c.name, w, got)
			}
		}
		if strings.Contains(got, c.not) {
			t.Errorf("%s: %q in\n%s", c.name, c.not, got)
		}
		if strings.Contains(got, "\x1b") {
			t.Errorf("%s: a control character got through", c.name)
		}
	}
}

// The page holds every section, escapes what came from outside and loads nothing.
func TestPage(t *testing.T) {
	in := input(t, "output_throughput", 0.2)
	for i := range in.Result.Trials {
		if in.Result.Trials[i].Outcome == tuner.OOM {
			in.Result.Trials[i].Reason = reporttest.HostileText
		}
	}
	var b bytes.Buffer
	if err := study.HTML(&b, in); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	for _, want := range []string{
		`id="answer"`, `id="proof"`, `id="search"`, `id="learned"`, `id="trials"`, `id="rules"`, "Deploy", "Undo", "serve --x 4",
		"Acceptance, 3 blocks", "Certification, 3 orders", "out of memory", "e2e_p99&lt;2s", "Importance of the knobs", "2h0m0s", "Simulation",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for _, bad := range []string{"<script>alert", "<img src=x", "http://", "https://"} {
		if strings.Contains(strings.ReplaceAll(page, "http://www.w3.org/2000/svg", ""), bad) {
			t.Errorf("the page holds %q", bad)
		}
	}
	if n := strings.Count(page, "<tr><td class=\"n\">"); n != len(in.Result.Trials) {
		t.Errorf("%d rows for %d measurements", n, len(in.Result.Trials))
	}
}

func TestCommand(t *testing.T) {
	for _, c := range []struct {
		argv []string
		want string
	}{
		{[]string{"vllm", "serve", "org/model-1", "--port", "8000"}, "vllm serve org/model-1 --port 8000"},
		{[]string{"a b", "", "it's", "$HOME"}, `'a b' '' 'it'\''s' '$HOME'`},
	} {
		if got := study.Command(c.argv); got != c.want {
			t.Errorf("Command(%q) = %s, want %s", c.argv, got, c.want)
		}
	}
}
