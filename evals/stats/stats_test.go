package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

func near(a, b, tol float64) bool { return math.Abs(a-b) <= tol }

func TestMcNemar(t *testing.T) {
	for _, c := range []struct {
		p           Pairs
		drop, sided float64
	}{
		{Pairs{100, 5, 0}, 0.03125, 0.0625},
		{Pairs{100, 7, 0}, 0.0078125, 0.015625},
		{Pairs{100, 0, 0}, 1, 1},
		{Pairs{100, 0, 5}, 1, 0.0625},
		{Pairs{100, 3, 3}, 0.65625, 1},
	} {
		if d, s := c.p.McNemar(); !near(d, c.drop, 1e-9) || !near(s, c.sided, 1e-9) {
			t.Errorf("%+v.McNemar() = %v, %v; want %v, %v", c.p, d, s, c.drop, c.sided)
		}
	}
}

func TestTango(t *testing.T) {
	// Even without discordant pairs the interval has width, and every interval holds its drop.
	for _, p := range []Pairs{{44, 0, 1}, {100, 0, 0}, {100, 10, 3}, {1000, 20, 20}, {20, 20, 0}} {
		i := p.Tango(Z95)
		if !i.Contains(p.Drop()) && !near(i.Low, p.Drop(), 1e-6) && !near(i.High, p.Drop(), 1e-6) {
			t.Errorf("%+v: interval %v does not hold the drop %v", p, i, p.Drop())
		}
		if i.High-i.Low < 1e-3 {
			t.Errorf("%+v: interval %v has no width", p, i)
		}
		mirror := Pairs{p.N, p.Win, p.Loss}.Tango(Z95)
		if !near(mirror.Low, -i.High, 1e-6) || !near(mirror.High, -i.Low, 1e-6) {
			t.Errorf("%+v: exchanging the runs gives %v; want the mirror of %v", p, mirror, i)
		}
	}
	// 0 of 100 discordant: the classic score bound z²/(n+z²).
	if i := (Pairs{100, 0, 0}).Tango(Z95); !near(i.High, Z95*Z95/(100+Z95*Z95), 1e-3) {
		t.Errorf("no discordant pairs: upper bound %v; want %v", i.High, Z95*Z95/(100+Z95*Z95))
	}
}

// TestIntervalsCover draws tables from known truths and counts how often the interval
// holds them.
func TestIntervalsCover(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const draws = 2000
	for _, c := range []struct{ loss, win float64 }{{0.05, 0.02}, {0.02, 0.02}, {0.15, 0.05}} {
		paired, free := 0, 0
		for range draws {
			p := Pairs{N: 150}
			k1, k2 := 0, 0
			for range p.N {
				switch x := r.Float64(); {
				case x < c.loss:
					p.Loss++
				case x < c.loss+c.win:
					p.Win++
				}
				if r.Float64() < 0.8 {
					k1++
				}
				if r.Float64() < 0.7 {
					k2++
				}
			}
			if p.Tango(Z95).Contains(c.loss - c.win) {
				paired++
			}
			if Newcombe(k1, p.N, k2, p.N, Z95).Contains(0.1) {
				free++
			}
		}
		if share := float64(paired) / draws; share < 0.93 {
			t.Errorf("losses %v, wins %v: Tango's interval holds the truth in %.3f; want 0.95", c.loss, c.win, share)
		}
		if share := float64(free) / draws; share < 0.93 {
			t.Errorf("Newcombe's interval holds the truth in %.3f; want 0.95", share)
		}
	}
}

func TestAlarmValue(t *testing.T) {
	for _, c := range []struct {
		loss, win int
		want      float64
	}{{7, 0, 31.9}, {6, 0, 18.1}, {10, 2, 9.4}, {0, 0, 1}} {
		got := Pairs{100, c.loss, c.win}.AlarmValue()
		if !near(got, c.want, 0.06) {
			t.Errorf("AlarmValue(%d, %d) = %.2f; want %.1f", c.loss, c.win, got, c.want)
		}
	}
	for threshold, want := range map[float64][]int{20: {7, 10, 12, 14, 16, 18, 20, 22, 24, 26, 27}, 100: {9, 13, 15, 18, 20, 22, 24, 26, 28, 30, 32}} {
		for win, losses := range want {
			first := 0
			for (Pairs{1000, first, win}).AlarmValue() < threshold {
				first++
			}
			if first != losses {
				t.Errorf("E ≥ %v with %d wins needs %d losses; want %d", threshold, win, first, losses)
			}
		}
	}
}

// truth draws pairs of a candidate with a given churn and drop.
func truth(r *rand.Rand, churn, drop float64) (base, cand float64) {
	switch x := r.Float64(); {
	case x < churn+drop:
		return 1, 0
	case x < 2*churn+drop:
		return 0, 1
	case x < 2*churn+drop+0.7:
		return 1, 1
	}
	return 0, 0
}

// TestSequenceError checks the promise: looking after every item, a candidate at exactly
// the margin passes in at most 1 of 20 runs, and one without a drop is alarmed about in
// at most 1 of 20.
func TestSequenceError(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	const runs = 400
	passed, alarmed := 0, 0
	for range runs {
		s := NewSequence(0.05)
		for range 600 {
			s.Add(truth(r, 0.02, 0.05))
			if s.PassValue() >= Threshold {
				passed++
				break
			}
		}
		a := Pairs{}
		for range 600 {
			b, c := truth(r, 0.04, 0)
			a.N++
			if b > c {
				a.Loss++
			} else if c > b {
				a.Win++
			}
			if a.AlarmValue() >= Threshold {
				alarmed++
				break
			}
		}
	}
	if passed > runs/20 || alarmed > runs/20 {
		t.Errorf("of %d runs %d wrongly passed and %d wrongly alarmed; want at most %d", runs, passed, alarmed, runs/20)
	}
}

// TestGate is the measure of the gate: accuracy 80 % against 70 % must fail, and the same
// server twice must pass, in 95 of 100 seeds each.
func TestGate(t *testing.T) {
	for _, c := range []struct {
		what          string
		items         int
		margin, churn float64
	}{
		{"own set, greedy server with 2 % churn", 600, 0.05, 0.02},
		{"a server without churn", 176, 0.05, 0},
	} {
		failed, passed, used := 0, 0, 0
		for seed := range uint64(100) {
			r := rand.New(rand.NewPCG(seed, 5))
			run := func(drop float64) GateResult {
				s := NewSequence(c.margin)
				for range c.items {
					s.Add(truth(r, c.churn, drop))
					if g := s.Result(); g.Decided() && g.Verdict != GateDegraded {
						used += s.pairs.N
						return g
					}
				}
				used += c.items
				return s.Result()
			}
			if run(0.10).Verdict == GateFail {
				failed++
			}
			if run(0).Verdict == GatePass {
				passed++
			}
		}
		t.Logf("%s: 80 vs 70 %% failed in %d of 100 seeds, A/A passed in %d of 100, %.0f items a run", c.what, failed, passed, float64(used)/200)
		if failed < 95 || passed < 95 {
			t.Errorf("%s: failed %d, passed %d of 100; want 95 each", c.what, failed, passed)
		}
	}
}

func TestResult(t *testing.T) {
	s := NewSequence(0.05)
	if g := s.Result(); g.Verdict != GateUndecided || g.Need != 0 {
		t.Errorf("without items: %+v; want undecided", g)
	}
	for range 20 {
		s.Add(1, 1)
	}
	g := s.Result()
	if g.Verdict != GateUndecided || g.Need <= 20 {
		t.Errorf("20 equal items: %+v; want undecided and a number of items to go", g)
	}
	if !strings.Contains(g.String(), "undecided") || !strings.Contains(g.String(), "20 items") {
		t.Errorf("String() = %q", g)
	}
	for range 30 {
		s.Add(1, 0)
	}
	if g := s.Result(); g.Verdict != GateFail {
		t.Errorf("30 of 50 lost: %v; want fail", g)
	}
}

func TestCompare(t *testing.T) {
	var base, cand []Score
	for i := range 40 {
		item := fmt.Sprint(i)
		base = append(base, Score{Item: item, Value: 1})
		cand = append(cand, Score{Item: item, Missing: i < 30, Value: 1}, Score{Item: item, Value: 1})
	}
	base[39].Missing = true
	cand = append(cand, Score{Item: "stranger", Value: 1})
	g, dropped := Compare(base, cand, 0.05)
	if g.Pairs != (Pairs{39, 30, 0}) || dropped != 2 || g.Verdict != GateFail {
		t.Errorf("Compare gives %+v, %d dropped; want 39 pairs with 30 losses, 2 dropped, fail", g, dropped)
	}
}

func TestPower(t *testing.T) {
	for _, c := range []struct {
		churn, drop float64
		want        int
	}{{0, .01, 617}, {0, .05, 122}, {0.01, .02, 617}, {0.02, .01, 3090}, {0.02, .05, 221}, {0.04, .1, 110}, {0.06, .2, 48}} {
		if got := PairedItems(c.churn, c.drop); got < c.want-1 || got > c.want+1 {
			t.Errorf("PairedItems(%v, %v) = %d; want %d", c.churn, c.drop, got, c.want)
		}
		if d := Detectable(c.churn, c.want); !near(d, c.drop, 0.003) {
			t.Errorf("Detectable(%v, %d) = %v; want %v", c.churn, c.want, d, c.drop)
		}
	}
	for _, c := range []struct {
		churn, margin float64
		want          int
	}{{0.005, .01, 619}, {0.01, .03, 138}, {0.02, .05, 99}, {0.04, .02, 1237}} {
		if got := NonInferiorityItems(c.churn, c.margin); got < c.want-1 || got > c.want+1 {
			t.Errorf("NonInferiorityItems(%v, %v) = %d; want %d", c.churn, c.margin, got, c.want)
		}
	}
	if s := PowerStatement(0.01, 250); !strings.HasPrefix(s, "with 250 items a drop under 3.8 points cannot be seen") {
		t.Errorf("PowerStatement = %q", s)
	}
}

func TestCalibrate(t *testing.T) {
	if a := Calibrate(Pairs{300, 6, 5}); !a.Ok || !near(a.Churn, 11.0/600, 1e-9) || !a.Interval.Contains(a.Churn) {
		t.Errorf("11 discordant of 300: %+v; want fine, churn 1.8 %%", a)
	}
	if a := Calibrate(Pairs{300, 0, 25}); a.Ok {
		t.Errorf("25 wins and no loss in an A/A run: %+v; want not fine", a)
	}
}

func TestPassAtK(t *testing.T) {
	for _, c := range []struct {
		n, c, k int
		want    float64
	}{{10, 3, 1, 0.3}, {10, 3, 5, 1 - 21.0/252}, {10, 10, 1, 1}, {10, 0, 10, 0}, {5, 4, 2, 1}, {200, 37, 1, 0.185}} {
		if got := PassAtK(c.n, c.c, c.k); !near(got, c.want, 1e-9) {
			t.Errorf("PassAtK(%d, %d, %d) = %v; want %v", c.n, c.c, c.k, got, c.want)
		}
	}
	if !math.IsNaN(PassAtK(3, 1, 5)) {
		t.Error("PassAtK with k > n must be NaN")
	}
}

func TestByar(t *testing.T) {
	i := Byar(10, 1)
	if !near(i.Low, 4.79, 0.02) || !near(i.High, 18.39, 0.1) {
		t.Errorf("Byar(10, 1) = %v; want about 4.79 to 18.4", i)
	}
	if i := Byar(0, 100); i.Low != 0 || i.High <= 0 || i.High > 0.05 {
		t.Errorf("Byar(0, 100) = %v", i)
	}
}

func TestByLoad(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	items := func(fall float64) []AtLoad {
		var out []AtLoad
		for i := range 400 {
			load := i / 4
			out = append(out, AtLoad{load, r.Float64() < 0.9-fall*float64(load)/100})
		}
		return out
	}
	if got := ByLoad(items(0.5), 4); len(got.Levels) != 4 || got.Z > -3 || got.P > 0.01 {
		t.Errorf("accuracy that falls from 90 to 40 %%: %+v; want four levels and a clear trend", got)
	}
	if got := ByLoad(items(0), 4); got.P < 0.01 {
		t.Errorf("constant accuracy: trend with p = %v", got.P)
	}
	if got := ByLoad(nil, 4); len(got.Levels) != 0 || got.P != 1 {
		t.Errorf("no items: %+v", got)
	}
	if got := ByLoad(items(0)[:5], 4); len(got.Levels) != 1 || got.Levels[0].N != 5 {
		t.Errorf("five items: %+v; want one level", got)
	}
}
