package report

import (
	"strings"

	"github.com/inferencebench/inferencebench/archive"
)

// compareVerdict says how one run differs from the first, for the top of the page.
type compareVerdict struct {
	Color       int
	Label, Base string
	Headline    string
	Class       string // "none" for better, "invalid" for worse, "inconclusive" else
	Parts       []comparePart
}

// comparePart are the changes of one verdict: worse, better, undecided or same.
type comparePart struct {
	Word  string
	Items []compareItem
	More  int
}

type compareItem struct{ Label, Text string }

// partItems bounds what the top of the page lists under one word; the table has all.
const partItems = 8

var partWords = []string{"worse", "better", "undecided", "same"}

// compareVerdicts sums up every run after the first: by the tested differences where
// there are any, else by whether the intervals of the table's rows lie apart.
func compareVerdicts(runs []Compared, views []compareRun, rows []compareRow, differences []Difference) []compareVerdict {
	var out []compareVerdict
	for i := 1; i < len(runs); i++ {
		by := map[string][]compareItem{}
		tested := false
		for _, d := range differences {
			if d.Run == i {
				tested = true
				text, _ := changeAndNote(d)
				by[d.Verdict] = append(by[d.Verdict], compareItem{labelOf(runs[i].Analysis, d.Metric, d.Stat), text})
			}
		}
		for _, r := range rows {
			if _, directed := lowerIsBetter[r.Hint]; tested || !directed || i >= len(r.Cells) || r.Cells[i].Change == "" {
				continue
			}
			word := r.Cells[i].Better
			if word == "" {
				word = "undecided"
			}
			by[word] = append(by[word], compareItem{labelOf(runs[i].Analysis, r.Hint, r.id), r.Cells[i].Change})
		}
		out = append(out, verdictOf(runs[0], runs[i], views[0], views[i], by, tested))
	}
	return out
}

func verdictOf(base, head Compared, baseView, headView compareRun, by map[string][]compareItem, tested bool) compareVerdict {
	v := compareVerdict{Color: headView.Color, Label: headView.Label, Base: baseView.Label, Class: "inconclusive"}
	var counts []string
	for _, w := range partWords {
		items := by[w]
		if len(items) == 0 {
			continue
		}
		counts = append(counts, itoa(len(items))+" "+w)
		p := comparePart{Word: w, Items: items[:min(len(items), partItems)]}
		p.More = len(items) - len(p.Items)
		v.Parts = append(v.Parts, p)
	}
	worse, better := len(by["worse"]), len(by["better"])
	switch {
	case base.Analysis.Verdict.State == archive.VerdictInvalid:
		v.Headline = "Undecided: the reference is not valid"
	case head.Analysis.Verdict.State == archive.VerdictInvalid:
		v.Headline = "Undecided: this run is not valid"
	case len(counts) == 0:
		v.Headline = "Undecided: no figure can be compared"
	case worse > 0 && better > 0:
		v.Headline = "Better in some figures, worse in others"
	case worse > 0:
		v.Headline, v.Class = "Worse", "invalid"
	case better > 0:
		v.Headline, v.Class = "Better", "none"
	case len(by["undecided"]) == 0:
		v.Headline, v.Class = "The same", "none"
	default:
		v.Headline = "Undecided: no figure is surely better or worse"
	}
	if len(counts) > 0 {
		v.Headline += " (" + strings.Join(counts, ", ") + ")"
	}
	if !tested {
		v.Headline += ", not tested"
	}
	return v
}

// labelOf is "Time to first token P99".
func labelOf(a *archive.Analysis, id, stat string) string {
	label := id
	if m, ok := metricOf(a, "all", id); ok {
		label = m.Label
	}
	return joinNonEmpty(" ", label, statName(stat))
}

// changeAndNote parts the text of a difference into the change with its interval, such as
// "+1.0 % [−13.0, +19.5]", and what else it says, such as how it was tested. The values of
// the two runs are left out: the table has them.
func changeAndNote(d Difference) (change, note string) {
	t := strings.TrimPrefix(OneLine(d.Text), d.Metric+" "+d.Stat+": ")
	change = t
	if i := strings.IndexByte(t, ']'); i >= 0 {
		change, note = t[:i+1], strings.Trim(t[i+1:], " ,;()")
	}
	if before, after, ok := strings.Cut(note, "; "); ok && strings.Contains(before, "→") {
		note = after
	}
	if d.Method != "" {
		note = d.Method
	}
	change = strings.NewReplacer("[-", "[−", " -", " −").Replace(change)
	if strings.HasPrefix(change, "-") {
		change = "−" + change[1:]
	}
	return change, note
}
