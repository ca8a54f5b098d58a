package quality

import (
	"math"
	"slices"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/evals/stats"
)

// Guards says whether two runs asked the same things in the same way, and how their
// answers differ in shape: what a comparison of scores takes for granted.
type Guards struct {
	// Items were answered in both runs.
	Items int
	// PromptTokens are the items whose prompts differ in tokens between the runs: template,
	// tokenizer or truncation changed, and their pairs are void. In order of item.
	PromptTokens []string
	// Length is the ratio of the candidate's output tokens to the baseline's, the geometric
	// mean over items, with its 95 % interval; unknown with fewer than two items.
	Length         archive.Opt[float64]
	LengthInterval stats.Interval
	// Reasoning is the ratio of mean reasoning tokens; under 0.8 or over 1.25 is a finding
	// by itself. Unknown when the baseline shows none.
	Reasoning archive.Opt[float64]
	// Truncated and Failed are shares of the requests of baseline and candidate.
	Truncated, Failed [2]float64
}

// Fair reports whether nothing speaks against comparing the scores.
func (g Guards) Fair() bool {
	r, known := g.Reasoning.Get()
	return len(g.PromptTokens) == 0 && (!known || r >= 0.8 && r <= 1.25)
}

// Check compares the checkpoint requests of two runs by item; the first ok one of each
// item counts.
func Check(baseline, candidate []*archive.Request) Guards {
	var g Guards
	base, baseTruncated, baseFailed := byItem(baseline)
	cand, candTruncated, candFailed := byItem(candidate)
	g.Truncated, g.Failed = [2]float64{baseTruncated, candTruncated}, [2]float64{baseFailed, candFailed}
	var logs []float64
	reasoning := [2]int{}
	for item, b := range base {
		c, ok := cand[item]
		if !ok {
			continue
		}
		g.Items++
		p, known1 := b.Usage.Prompt.Get()
		q, known2 := c.Usage.Prompt.Get()
		if known1 && known2 && p != q {
			g.PromptTokens = append(g.PromptTokens, item)
		}
		m, known1 := b.Usage.Completion.Get()
		n, known2 := c.Usage.Completion.Get()
		if known1 && known2 && m > 0 && n > 0 {
			logs = append(logs, math.Log(float64(n)/float64(m)))
		}
		reasoning[0] += b.Usage.Reasoning.Or(0)
		reasoning[1] += c.Usage.Reasoning.Or(0)
	}
	slices.Sort(g.PromptTokens)
	if reasoning[0] > 0 {
		g.Reasoning = archive.Some(float64(reasoning[1]) / float64(reasoning[0]))
	}
	if len(logs) > 1 {
		mean, half := meanHalf(logs)
		g.Length = archive.Some(math.Exp(mean))
		g.LengthInterval = stats.Interval{Low: math.Exp(mean - half), High: math.Exp(mean + half)}
	}
	return g
}

// byItem keeps the first ok request of each item, and the shares that were cut or failed.
func byItem(all []*archive.Request) (items map[string]*archive.Request, truncated, failed float64) {
	items = map[string]*archive.Request{}
	for _, r := range all {
		if r.Status != archive.StatusOK {
			failed++
			continue
		}
		if r.Finish == "length" {
			truncated++
		}
		if _, seen := items[r.Item]; !seen {
			items[r.Item] = r
		}
	}
	n := float64(max(1, len(all)))
	return items, truncated / n, failed / n
}

// meanHalf is the mean and the half-width of its normal 95 % interval.
func meanHalf(x []float64) (mean, half float64) {
	n := float64(len(x))
	for _, v := range x {
		mean += v / n
	}
	variance := 0.0
	for _, v := range x {
		variance += (v - mean) * (v - mean) / (n - 1)
	}
	return mean, stats.Z95 * math.Sqrt(variance/n)
}
