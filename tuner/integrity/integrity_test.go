package integrity

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/inferencebench/inferencebench/sim"
	"github.com/inferencebench/inferencebench/sim/server"
	"github.com/inferencebench/inferencebench/tuner"
)

// Full scale, as reported in docs/tuning.md, is -studies 100 -seeds 20.
var (
	studies = flag.Int("studies", 4, "honest studies of TestHonest")
	seeds   = flag.Int("seeds", 1, "seeds of each attack of TestAttacks")
)

func failures(vs []tuner.Verdict) (out []string) {
	for _, v := range vs {
		if ok, known := v.Passed.Get(); known && !ok {
			out = append(out, v.Check+": "+v.Message)
		}
	}
	return out
}

// TestHonest wants no alarm of studies on servers that serve what they say: noisy ones
// whose greedy replies part one time in ten, in other formats and with other settings.
func TestHonest(t *testing.T) {
	const challengers = 3
	for seed := range *studies {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, uint64(seed))
			var base []tuner.Trial
			for range 2 {
				base = append(base, watch(t, r.obs, r.base, nil))
			}
			if alarms := failures(r.check.Judge(base[:1], base[1:])); len(alarms) > 0 {
				t.Errorf("study %d: the default against itself: %q", seed, alarms)
			}
			for range challengers {
				c, a := r.honest()
				head := []tuner.Trial{watch(t, r.obs, c, a)}
				vs := r.check.Judge(base[:1], head)
				if alarms := failures(vs); len(alarms) > 0 {
					t.Errorf("study %d, %s: a search trial: %q", seed, a.Key(), alarms)
				}
				for _, v := range vs {
					if !v.Passed.Known() && !strings.Contains(v.Check, "model") {
						t.Logf("study %d, %s: %s is unknown: %s", seed, a.Key(), v.Check, v.Message)
					}
				}
				for range 2 {
					head = append(head, watch(t, r.obs, c, a))
				}
				if alarms := failures(r.check.Judge(base, head)); len(alarms) > 0 {
					t.Errorf("study %d, %s: acceptance: %q", seed, a.Key(), alarms)
				}
			}
		})
	}
}

// TestAttacks wants every attack to be caught in every seed but one in twenty, already by
// the one observation of a search trial.
func TestAttacks(t *testing.T) {
	for _, attack := range server.Attacks() {
		t.Run(string(attack), func(t *testing.T) {
			caught, by := 0, map[string]int{}
			for seed := range *seeds {
				synctest.Test(t, func(t *testing.T) {
					r := newRig(t, 1000+uint64(seed))
					base := []tuner.Trial{watch(t, r.obs, r.base, nil)}
					c, a := r.honest()
					c.Attack = attack
					if attack == server.AttackHiddenPrefix {
						c.Sim.EnablePrefixCaching = sim.Off
						a["--enable-prefix-caching"] = "false"
					}
					found := failures(r.check.Judge(base, []tuner.Trial{watch(t, r.obs, c, a)}))
					if len(found) == 0 {
						t.Logf("seed %d, %s: not caught", seed, a.Key())
						return
					}
					caught++
					for _, f := range found {
						name, _, _ := strings.Cut(f, ":")
						by[name]++
					}
				})
			}
			if misses := *seeds - caught; misses > *seeds/20 {
				t.Errorf("caught in %d of %d seeds", caught, *seeds)
			}
			var how []string
			for k, n := range by {
				how = append(how, fmt.Sprintf("%s %d", k, n))
			}
			slices.Sort(how)
			t.Logf("%s: caught in %d of %d seeds (%s)", attack, caught, *seeds, strings.Join(how, ", "))
		})
	}
}

// TestSmallestPlan wants the plan of slow servers to decide at a certification, where three
// launches of either side are seen, and to raise no alarm of honest ones.
func TestSmallestPlan(t *testing.T) {
	tiny := Plan{Prompts: 10, Tokens: 32, Again: 6, Canary: 4, Repeats: 4, Forced: 4, ForcedLen: 16, Prefix: 4, Words: 100, Burst: 4, Parallel: 4}
	missed, tries := map[server.Attack]int{}, max(1, *seeds)
	for seed := range tries {
		for _, attack := range append(server.Attacks(), "") {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, 5000+uint64(seed))
				r.obs.plan = tiny
				c, a := r.honest()
				c.Attack = attack
				switch attack {
				case server.AttackEarlyStop, server.AttackImpossible, server.AttackHiddenPrefix:
					return // replies of 32 tokens are cut anyway; prompts of 130 take a GPU no time
				}
				var base, head []tuner.Trial
				for range 3 {
					base, head = append(base, watch(t, r.obs, r.base, nil)), append(head, watch(t, r.obs, c, a))
				}
				found := failures(r.check.Judge(base, head))
				if attack == "" && len(found) > 0 {
					t.Errorf("seed %d, honest %s: %q", seed, a.Key(), found)
				}
				if attack != "" && len(found) == 0 {
					missed[attack]++
					t.Logf("seed %d, %s: not caught", seed, attack)
				}
			})
		}
	}
	for attack, n := range missed {
		if n > tries/20 {
			t.Errorf("%s: caught in %d of %d seeds", attack, tries-n, tries)
		}
	}
}
