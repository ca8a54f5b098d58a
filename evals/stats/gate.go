package stats

import (
	"fmt"
	"math"
)

// GateVerdict is the answer to "is the candidate good enough?".
type GateVerdict string

// The verdicts. Only GatePass lets a candidate win.
const (
	GatePass      GateVerdict = "pass"      // the drop is shown to be smaller than the margin
	GateFail      GateVerdict = "fail"      // a drop is shown, and it is the margin or more
	GateDegraded  GateVerdict = "degraded"  // a drop is shown, smaller than the margin
	GateUndecided GateVerdict = "undecided" // the items do not decide
)

// Threshold is the e-value at which a verdict is given: false ones at most 1 in 20.
const Threshold = 20

// GateResult is a verdict with what it rests on.
type GateResult struct {
	Verdict GateVerdict `json:"verdict"`
	Pairs   Pairs       `json:"pairs"`
	Drop    float64     `json:"drop"`
	// Interval is Tango's 95 % interval of the drop.
	Interval Interval `json:"interval"`
	Margin   float64  `json:"margin"`
	// Alarm and Pass are the two e-values.
	Alarm float64 `json:"alarm"`
	Pass  float64 `json:"pass"`
	// Need is about how many items in all would decide, when the verdict is undecided
	// and the drop so far is below the margin; 0 otherwise.
	Need int `json:"need,omitempty"`
}

// Decided reports whether more items are not needed.
func (g GateResult) Decided() bool { return g.Verdict != GateUndecided }

// String is one sentence for a reader.
func (g GateResult) String() string {
	s := fmt.Sprintf("%s: drop %.1f points (95 %% interval %.1f to %.1f) over %d items, margin %.1f", g.Verdict, points(g.Drop), points(g.Interval.Low), points(g.Interval.High), g.Pairs.N, points(g.Margin))
	if g.Need > 0 {
		s += fmt.Sprintf("; about %d items would decide", g.Need)
	}
	return s
}

// points is a share in hundredths to one place; what rounds to zero has no sign.
func points(share float64) float64 { return math.Round(1000*share)/10 + 0 }

// Result judges what the sequence holds. It may be asked after every item: looking often
// costs nothing.
func (s *Sequence) Result() GateResult {
	g := GateResult{Verdict: GateUndecided, Pairs: s.pairs, Drop: s.Drop(), Interval: s.pairs.Tango(Z95), Margin: s.margin,
		Alarm: s.pairs.AlarmValue(), Pass: s.PassValue()}
	switch {
	case g.Alarm >= Threshold && g.Drop >= s.margin:
		g.Verdict = GateFail
	case g.Pass >= Threshold:
		g.Verdict = GatePass
	case g.Alarm >= Threshold:
		g.Verdict = GateDegraded
	case s.pairs.N > 0 && g.Drop < s.margin:
		churn := max(float64(min(s.pairs.Loss, s.pairs.Win)), 0.5) / float64(s.pairs.N)
		// A test that may be looked at any time needs about half as much again.
		if need := 3 * NonInferiorityItems(churn, s.margin-max(0, g.Drop)) / 2; need > s.pairs.N {
			g.Need = need
		} else {
			g.Need = 2 * s.pairs.N
		}
	}
	return g
}

// Score is one item's score in one run; a missing item has no entry.
type Score struct {
	Item  string
	Value float64
	// Missing is true when the item was sent and got no score: an error, not an answer.
	Missing bool
}

// Compare pairs two runs by item and judges them. Items without a baseline score are
// dropped and counted, since nothing is known of them; an item that the candidate failed
// to answer is wrong, or a server that sheds hard requests would win. Repeats of an item
// after the first are ignored: they add no independent evidence.
func Compare(baseline, candidate []Score, margin float64) (g GateResult, dropped int) {
	base := map[string]Score{}
	for _, b := range baseline {
		if old, ok := base[b.Item]; !ok || old.Missing {
			base[b.Item] = b
		}
	}
	s := NewSequence(margin)
	seen := map[string]bool{}
	for _, c := range candidate {
		if seen[c.Item] {
			continue
		}
		seen[c.Item] = true
		b, ok := base[c.Item]
		if !ok || b.Missing {
			dropped++
			continue
		}
		value := c.Value
		if c.Missing {
			value = 0
		}
		s.Add(b.Value, value)
	}
	return s.Result(), dropped
}
