package lessons_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/tuner"
	"github.com/inferencebench/inferencebench/tuner/lessons"
	"github.com/inferencebench/inferencebench/tuner/space"
)

func setup(effect func(a space.Assignment) float64) (*tuner.Study, *space.Space, []tuner.Trial) {
	s := &tuner.Study{Goal: tuner.Goal{Metric: "output_throughput", Maximise: true, MinGain: 0.02}}
	sp := &space.Space{}
	for _, n := range []string{"a", "b", "c"} {
		sp.Dims = append(sp.Dims, space.Dim{Name: n, Values: []string{"", "1", "2"}})
	}
	trials := []tuner.Trial{trial(1, tuner.RoleDefault, "default", space.Assignment{}, effect)}
	rng := rand.New(rand.NewPCG(1, 2))
	for n := 2; n <= 26; n++ {
		a := space.Assignment{}
		for _, d := range sp.Dims {
			if v := d.Values[rng.IntN(3)]; v != "" {
				a[d.Name] = v
			}
		}
		trials = append(trials, trial(n, tuner.RoleSearch, "sobol", a, effect))
	}
	return s, sp, trials
}

func trial(n int, role, source string, a space.Assignment, effect func(space.Assignment) float64) tuner.Trial {
	return tuner.Trial{
		N: n, Role: role, Load: tuner.Load{Rung: 1}, Proposal: tuner.Proposal{Config: a, Source: source},
		Measurement: tuner.Measurement{Outcome: tuner.OK, Value: archive.Some(100 * math.Exp(effect(a)))},
	}
}

// The knob that does it all gets nearly all, one that does nothing gets nearly nothing, and the
// effects have the right order.
func TestImportance(t *testing.T) {
	s, sp, trials := setup(func(a space.Assignment) float64 {
		return map[string]float64{"1": 0.2, "2": 0.5}[a["a"]] + map[string]float64{"1": 0.05}[a["b"]]
	})
	ims, rest := lessons.Importances(s, sp, trials)
	if len(ims) != 3 || ims[0].Knob != "a" || ims[0].Share < 0.85 || ims[2].Knob != "c" || ims[2].Share > 0.05 || rest > 0.1 {
		t.Fatalf("%+v, rest %v", ims, rest)
	}
	by := map[string]float64{}
	sum := rest
	for _, im := range ims {
		sum += im.Share
	}
	for _, l := range ims[0].Levels {
		by[l.Value] = l.Effect
	}
	if !(by["2"] > by["1"] && by["1"] > by[""]) || math.Abs(sum-1) > 1e-9 {
		t.Errorf("levels %v, shares add up to %v", by, sum)
	}
	if ims, _ := lessons.Importances(s, sp, trials[:4]); ims != nil {
		t.Error("four trials are enough for an attribution")
	}
}

// Sources are counted, predictions are held against what was measured.
func TestSources(t *testing.T) {
	s, _, _ := setup(func(space.Assignment) float64 { return 0 })
	gain := func(a space.Assignment) float64 { return map[string]float64{"1": 0.3, "2": -0.1}[a["a"]] }
	trials := []tuner.Trial{trial(1, tuner.RoleDefault, "default", nil, gain)}
	for i, v := range []string{"1", "2"} {
		x := trial(i+2, tuner.RoleSearch, "model", space.Assignment{"a": v}, gain)
		x.Predicted = &tuner.Interval{Low: 0.2, High: 0.5}
		trials = append(trials, x)
	}
	bad := trial(4, tuner.RoleSearch, "sobol", space.Assignment{"b": "1"}, gain)
	bad.Outcome, bad.Value = tuner.OOM, archive.Opt[float64]{}
	missed := trial(5, tuner.RoleSearch, "sobol", space.Assignment{"c": "1"}, gain)
	missed.Slack = []float64{0.1}
	got := lessons.Sources(s, append(trials, bad, missed))
	want := []lessons.Source{
		{Name: "model", Proposed: 2, Better: 1, Best: 0.3, Predictions: 2, Inside: 1},
		{Name: "sobol", Proposed: 2, Failed: 1, Missed: 1},
	}
	for i := range want {
		if math.Abs(got[i].Best-want[i].Best) < 1e-9 {
			got[i].Best = want[i].Best
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// The front holds what nothing beats in everything, and nothing else; what breaks a constraint
// is not on it.
func TestPareto(t *testing.T) {
	s := &tuner.Study{Goal: tuner.Goal{Metric: "output_throughput", Maximise: true}}
	var trials []tuner.Trial
	add := func(name string, rate, ttft, slack float64) {
		x := trial(len(trials)+1, tuner.RoleSearch, "x", space.Assignment{"k": name}, func(space.Assignment) float64 { return 0 })
		x.Metrics = map[string]float64{"output_rate": rate, "ttft_p99": ttft}
		x.Slack = []float64{slack}
		trials = append(trials, x)
	}
	add("fast", 200, 0.9, -1)
	add("quick", 100, 0.1, -1)
	add("middle", 150, 0.4, -1)
	add("worse", 140, 0.5, -1)
	add("broken", 300, 0.05, 1)
	choices, aims := lessons.Pareto(s, trials)
	if len(aims) != 2 {
		t.Fatalf("aims %+v", aims)
	}
	var front []string
	for _, c := range choices {
		if c.Front {
			front = append(front, c.Config["k"])
		}
	}
	if got := strings.Join(front, " "); got != "fast quick middle" {
		t.Errorf("front %q", got)
	}
}

// What never worked is said.
func TestLearnedNamesWhatFails(t *testing.T) {
	s, sp, trials := setup(func(space.Assignment) float64 { return 0 })
	for n := range 2 {
		x := trial(30+n, tuner.RoleSearch, "sobol", space.Assignment{"b": "9"}, func(space.Assignment) float64 { return 0 })
		x.Outcome, x.Value = tuner.OOM, archive.Opt[float64]{}
		trials = append(trials, x)
	}
	all := strings.Join(lessons.Learned(s, sp, &tuner.Result{Trials: trials}), "\n")
	if !strings.Contains(all, "b 9 never worked: 2 of 2 trials with it ended as out of memory.") {
		t.Errorf("learned:\n%s", all)
	}
}
