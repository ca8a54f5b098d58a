package tuner

import (
	"fmt"
	"strings"

	evalstats "github.com/inferencebench/inferencebench/evals/stats"
)

// headroom is how many times the items of the default's trials a proof may come to score: a
// challenger's blocks and search trials reach somewhat further into the frozen workload.
const headroom = 2

// Unprovable says why knobs that may change the answers cannot be accepted in a study with
// this margin whatever they bring, or "" where they can. A load that scores too few items
// shows no loss even where every answer stays the same, so trials of such knobs would be
// spent for nothing. It reads the default's own trials only; before there are any it is "".
func Unprovable(history []Trial, margin float64) string {
	sets, measured := map[string]map[string]bool{}, false // by family, of distinct items
	for i := range history {
		if history[i].Role != RoleDefault || history[i].Outcome != OK {
			continue
		}
		measured = true
		for _, c := range history[i].Quality {
			if f := c.Kind + "/" + c.Set; c.Score.Known() {
				if sets[f] == nil {
					sets[f] = map[string]bool{}
				}
				sets[f][c.Item] = true
			}
		}
	}
	if !measured {
		return ""
	}
	if len(sets) == 0 {
		return "quality was not measured"
	}
	fewest := -1
	for _, items := range sets {
		if n := len(items); fewest < 0 || n < fewest {
			fewest = n
		}
	}
	if least := evalstats.LeastItems(margin); headroom*fewest < least {
		return fmt.Sprintf("to show that they do not takes %d scored items at a margin of %g points, and a trial of this load scores %d", least, 100*margin, fewest)
	}
	return ""
}

// leftAlone is what the study does not try and why, or "".
func (p *planner) leftAlone(h []Trial) string {
	if len(p.s.QualityKnobs) == 0 {
		return ""
	}
	why := Unprovable(h, p.p.QualityMargin)
	if why == "" {
		return ""
	}
	return strings.Join(p.s.QualityKnobs, " and ") + " may change the answers, and " + why + ": left alone"
}

// provable is a proposal without the knobs that could not be accepted. It is false where
// nothing is left of it.
func (p *planner) provable(h []Trial, q Proposal) (Proposal, bool) {
	risky := p.s.setsQuality(q.Config)
	if len(risky) == 0 || Unprovable(h, p.p.QualityMargin) == "" {
		return q, true
	}
	q.Config = without(q.Config, risky...)
	return q, q.Config.Key() != p.s.Default.Key()
}
