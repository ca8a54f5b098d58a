package narrative

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/inferencebench/inferencebench/archive"
)

// Problem is one reason why a claim may not be shown.
type Problem struct {
	Claim int // index of the claim
	Rule  string
	Text  string
}

// The rules.
const (
	RuleCite      = "cite"      // it cites nothing, or an id that does not exist
	RuleNumber    = "number"    // a number does not follow from what is cited
	RuleDirection = "direction" // a direction does not agree with the evidence
	RuleCause     = "cause"     // a causal word without a probe that confirmed
	RuleScope     = "scope"     // it speaks of a part of the run that it has no evidence for
	RuleStat      = "statistic" // it names a percentile that it does not cite
	RuleQuote     = "quote"     // it quotes an item that it does not cite
	RuleKnob      = "knob"      // it recommends a setting that no recommendation holds
	RuleInvalid   = "invalid"   // it explains a run that is not valid
	RuleTested    = "tested"    // it says that a probe confirmed or refuted what none did
	RuleSure      = "sure"      // it states another confidence than the finding's
)

var (
	idRE      = regexp.MustCompile(`\b([EFR]\d+)\b`)
	percentRE = regexp.MustCompile(`\bP(50|90|95|99|99\.9)\b`)
	codeRE    = regexp.MustCompile("`[^`]*`")
	probeRE   = regexp.MustCompile(`\bP\d{1,2}[a-z]?\b`)
	phaseRE   = regexp.MustCompile(`(?:phase|阶段)[ “"]*([\p{L}\p{N}_.-]+)`)
	causalRE  = regexp.MustCompile(`(?i)\b(because|caus(?:e|es|ed|ing)|due to|leads? to|led to|results? (?:in|from)|therefore|thus|hence|owing to|responsible for|drives?|makes? (?:it|the))\b|因为|由于|导致|造成|引起|所以|因此|使得`)
	upRE      = regexp.MustCompile(`(?i)\b(rises?|rose|rising|grows?|grew|growing|increases?|increased|higher|above|more than|improves?|improved|climbs?)\b|上升|升高|增加|增长|高于|提高|超过`)
	downRE    = regexp.MustCompile(`(?i)\b(falls?|fell|falling|drops?|dropped|decreases?|decreased|lower|below|less than|fewer than|declines?|shrinks?|worsens?|worsened)\b|下降|降低|减少|低于|下跌`)
)

// statWords are the words for statistics other than percentile labels.
var statWords = []struct {
	re   *regexp.Regexp
	stat string
}{
	{regexp.MustCompile(`(?i)\bmedian\b|中位数`), "p50"},
	{regexp.MustCompile(`(?i)\b(?:mean|average)\b|平均`), "mean"},
	{regexp.MustCompile(`(?i)\bmax(?:imum)?\b|最大`), "max"},
}

// Verify checks claims against an analysis and returns every problem; none means that all
// claims may be shown. It knows no language but the words of its rules, in English and
// Chinese, and is strict: what it cannot follow it refuses.
func Verify(claims []Claim, a *archive.Analysis) []Problem {
	src := sources(a)
	var out []Problem
	for i, c := range claims {
		v := verifier{a: a, src: src, claim: c}
		v.check()
		for _, p := range v.problems {
			p.Claim = i
			out = append(out, p)
		}
	}
	return out
}

// verifier checks one claim.
type verifier struct {
	a        *archive.Analysis
	src      map[string]source
	claim    Claim
	problems []Problem
}

func (v *verifier) problem(rule, format string, args ...any) {
	v.problems = append(v.problems, Problem{Rule: rule, Text: fmt.Sprintf(format, args...)})
}

func (v *verifier) check() {
	if len(v.claim.Cites) == 0 {
		v.problem(RuleCite, "the claim cites nothing")
	}
	var cited []source
	for _, id := range v.claim.Cites {
		s, ok := v.src[id]
		if !ok {
			v.problem(RuleCite, "%s does not exist, or its number is withheld", id)
			continue
		}
		cited = append(cited, s)
	}
	for _, id := range idRE.FindAllString(v.claim.Text, -1) {
		if !slices.Contains(v.claim.Cites, id) {
			v.problem(RuleCite, "the text names %s and does not cite it", id)
		}
	}
	rest := v.unquoted(cited)
	v.probes(rest)
	v.causes(rest, cited)
	v.standing(rest, cited)
	v.knobs(v.claim.Text)
	v.scopes(rest, cited)
	v.statistics(rest)
	v.directions(rest, cited)
	v.numbers(rest, cited)
	if v.a.Verdict.State == archive.VerdictInvalid && v.claim.Kind != Observation {
		v.problem(RuleInvalid, "the run is not valid, so nothing can be explained or predicted from it")
	}
}

// minQuote is the shortest text that counts as a quotation, in bytes.
const minQuote = 12

// unquoted is the text without what it quotes from cited items, ids and probe names.
func (v *verifier) unquoted(cited []source) string {
	text := v.claim.Text
	var quotes []string
	for _, s := range cited {
		quotes = append(quotes, s.texts...)
	}
	slices.SortFunc(quotes, func(a, b string) int { return len(b) - len(a) })
	for _, q := range quotes {
		if q = strings.TrimSpace(q); len(q) >= minQuote {
			text = strings.ReplaceAll(text, q, " ")
			text = strings.ReplaceAll(text, strings.TrimSuffix(q, "."), " ")
		}
	}
	for id, s := range v.src {
		if slices.Contains(v.claim.Cites, id) {
			continue
		}
		for _, q := range s.texts {
			q = strings.TrimSuffix(strings.TrimSpace(q), ".")
			if len(q) >= 2*minQuote && strings.Contains(text, q) {
				v.problem(RuleQuote, "the text says what %s says and does not cite it", id)
			}
		}
	}
	return idRE.ReplaceAllString(text, " ")
}

// probes checks that an experiment which the text names and which was made is cited.
func (v *verifier) probes(text string) {
	for _, id := range probeRE.FindAllString(text, -1) {
		if _, made := v.src[id]; made && !slices.Contains(v.claim.Cites, id) {
			v.problem(RuleCite, "the text names %s and does not cite it", id)
		}
	}
}

func (v *verifier) causes(text string, cited []source) {
	w := causalRE.FindString(text)
	if w == "" {
		return
	}
	for _, s := range cited {
		if s.tested == "confirmed" {
			return
		}
	}
	v.problem(RuleCause, "%q needs a probe that confirmed, or a finding that one did", w)
}

// confidences are the words for the confidence of a finding.
var confidences = []struct {
	re    *regexp.Regexp
	level string
}{
	{regexp.MustCompile(`(?i)\b(?:high confidence|certain(?:ly)?|surely|definitely|no doubt)\b|置信度高|一定|肯定`), "high"},
	{regexp.MustCompile(`(?i)\bmedium confidence\b|置信度中`), "medium"},
	{regexp.MustCompile(`(?i)\blow confidence\b|置信度低`), "low"},
}

var (
	confirmedRE = regexp.MustCompile(`(?i)\b(?:confirmed|proved|proven|proves|confirms)\b|证实|证明`)
	refutedRE   = regexp.MustCompile(`(?i)\b(?:refuted|disproved|refutes)\b|否定`)
)

// standing checks what the text says about how far a finding was tested and how sure it is.
func (v *verifier) standing(text string, cited []source) {
	has := func(f func(source) bool) bool { return slices.ContainsFunc(cited, f) }
	if confirmedRE.MatchString(text) && !has(func(s source) bool { return s.tested == "confirmed" }) {
		v.problem(RuleTested, "no cited finding was confirmed by a probe")
	}
	if refutedRE.MatchString(text) && !has(func(s source) bool { return s.tested == "refuted" }) {
		v.problem(RuleTested, "no cited finding was refuted by a probe")
	}
	for _, c := range confidences {
		if c.re.MatchString(text) && !has(func(s source) bool { return s.confidence == c.level }) {
			v.problem(RuleSure, "no cited finding has %s confidence", c.level)
		}
	}
}

// knobs checks settings in code spans.
func (v *verifier) knobs(text string) {
	for _, code := range codeRE.FindAllString(text, -1) {
		code = strings.Trim(code, "`")
		known := false
		for _, r := range v.a.Recommendations {
			known = known || code == r.Knob && slices.Contains(v.claim.Cites, r.ID)
		}
		if !known {
			v.problem(RuleKnob, "no cited recommendation holds %q", code)
		}
	}
	if v.claim.Kind == Recommendation {
		for _, id := range v.claim.Cites {
			if strings.HasPrefix(id, "R") {
				return
			}
		}
		v.problem(RuleKnob, "the claim recommends and cites no recommendation")
	}
}

// scopes checks that a phase the text names is one that it has evidence for.
func (v *verifier) scopes(text string, cited []source) {
	for _, m := range phaseRE.FindAllStringSubmatch(text, -1) {
		known := false
		for _, s := range cited {
			known = known || s.scope == "phase:"+m[1]
		}
		if !known {
			v.problem(RuleScope, "nothing that is cited is about phase %s", m[1])
		}
	}
}

// statistics checks that a percentile the text names is one that it cites.
func (v *verifier) statistics(text string) {
	cites := func(stat string) bool {
		some := false
		for _, id := range v.claim.Cites {
			if strings.HasPrefix(id, "M:") {
				some = true
				if strings.HasSuffix(id, "/"+stat) {
					return true
				}
			}
		}
		return !some // evidence of its own kind may speak of percentiles
	}
	for _, m := range percentRE.FindAllStringSubmatch(text, -1) {
		if !cites("p" + m[1]) {
			v.problem(RuleStat, "the text names P%s and cites another statistic", m[1])
		}
	}
	for _, w := range statWords {
		if w.re.MatchString(text) && !cites(w.stat) {
			v.problem(RuleStat, "the text names the %s and cites another statistic", w.stat)
		}
	}
}

// directions checks words such as "rises" against what is cited: a change must have that
// sign with an interval that leaves zero out, and any other evidence must say it itself.
func (v *verifier) directions(text string, cited []source) {
	for _, d := range []struct {
		re, against *regexp.Regexp
		sign        int
	}{{upRE, downRE, 1}, {downRE, upRE, -1}} {
		w := d.re.FindString(text)
		if w == "" {
			continue
		}
		ok := false
		for _, s := range cited {
			if s.change == d.sign {
				ok = true
			}
			for _, t := range s.texts {
				ok = ok || s.change == 0 && d.re.MatchString(t) && !d.against.MatchString(t)
			}
		}
		if !ok {
			v.problem(RuleDirection, "%q does not agree with what is cited", w)
		}
	}
}

func (v *verifier) numbers(text string, cited []source) {
	text = codeRE.ReplaceAllString(text, " ")
	text = percentRE.ReplaceAllString(text, " ")
	text = probeRE.ReplaceAllString(text, " ")
	text = phaseRE.ReplaceAllString(text, " ")
	var allowed []quantity
	for _, s := range cited {
		allowed = append(allowed, s.values...)
		for _, t := range s.texts {
			allowed = append(allowed, numbers(percentRE.ReplaceAllString(probeRE.ReplaceAllString(t, " "), " "))...)
		}
	}
	for _, q := range numbers(text) {
		if !slices.ContainsFunc(allowed, q.follows) {
			v.problem(RuleNumber, "%s does not follow from what is cited", show(q.v, q.unit))
		}
	}
}
