package director

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/inferencebench/inferencebench/agents/llm"
	"github.com/inferencebench/inferencebench/prompts"
)

// Model is a Proposer that asks a model.
type Model struct {
	Caller     *llm.Caller
	Objectives []string // in words, such as "ttft p99 of short chats at most 500 ms"
}

// maxDigest is how many phases a model is shown: the first, the best and the latest.
const maxDigest = 24

// Propose asks the model for the next point. An answer that names a setting or a value
// that is not in the space, or a point that was tried, goes back once for repair.
func (m *Model) Propose(ctx context.Context, s Space, tried []Tried) (Point, bool) {
	p, err := prompts.Steer()
	if err != nil {
		return nil, false
	}
	seen := map[string]bool{}
	for _, t := range tried {
		seen[t.Point.key()] = true
	}
	var answer struct {
		Settings map[string]float64 `json:"settings"`
		Reason   string             `json:"reason"`
	}
	var point Point
	err = m.Caller.Ask(ctx, "steering", p, map[string]any{
		"Space": s.String(), "Objectives": "- " + strings.Join(m.Objectives, "\n- "),
		"History": prompts.Data{Label: "phases", Text: digest(s, tried), Max: 12000},
	}, &answer, func() error {
		var err error
		if point, err = s.Find(answer.Settings); err != nil {
			return err
		}
		if seen[point.key()] {
			return fmt.Errorf("this combination was tried")
		}
		return nil
	})
	return point, err == nil
}

// digest is the phases in short lines: what differs from the baseline, and the scores.
func digest(s Space, tried []Tried) string {
	if n := len(tried); n > maxDigest {
		tried = append(append([]Tried(nil), tried[:8]...), tried[n-maxDigest+8:]...)
	}
	var b strings.Builder
	for i, t := range tried {
		changes, err := json.Marshal(s.Changes(t.Point))
		if err != nil {
			continue // plain numbers always marshal
		}
		fmt.Fprintf(&b, "%d. changes %s, scores", i+1, changes)
		for _, o := range sortedKeys(t.Scores) {
			fmt.Fprintf(&b, " %s %+.2f", o, t.Scores[o])
		}
		if t.Error != "" {
			b.WriteString(" none: the phase failed")
		}
		b.WriteByte('\n')
	}
	return b.String()
}
