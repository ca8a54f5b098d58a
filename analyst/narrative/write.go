package narrative

import (
	"fmt"

	"github.com/inferencebench/inferencebench/archive"
)

// Language is the language of a narrative.
type Language string

// The languages.
const (
	English Language = "en"
	Chinese Language = "zh"
)

// maxFacts bounds the facts told for one finding.
const maxFacts = 4

// Write tells an analysis in a few sentences, without a model: what was measured, what it
// points to and how sure that is, and what to do. Every claim passes [Verify]. Evidence is
// quoted in English as the analysis words it; in Chinese it is given as metric and value.
func Write(a *archive.Analysis, lang Language) []Claim {
	n := &narrator{a: a, zh: lang == Chinese}
	n.counts()
	n.figures()
	if a.Verdict.State == archive.VerdictInvalid {
		n.invalid()
		return n.out
	}
	n.findings()
	n.advice()
	return n.out
}

type narrator struct {
	a   *archive.Analysis
	zh  bool
	out []Claim
}

// say adds a claim in the language of the narrator.
func (n *narrator) say(k Kind, cites []string, en, zh string) {
	text := en
	if n.zh {
		text = zh
	}
	n.out = append(n.out, Claim{k, text, cites})
}

func (n *narrator) counts() {
	c := n.a.Counts
	if c.Planned == 0 {
		return
	}
	n.say(Observation, []string{"C"},
		fmt.Sprintf("%d of %d requests succeeded and %d failed.", c.OK, c.Planned, c.Failed),
		fmt.Sprintf("共 %d 个请求，成功 %d 个，失败 %d 个。", c.Planned, c.OK, c.Failed))
}

// figure is a known statistic over the whole run.
func (n *narrator) figure(id, stat string) (text, cite string, ok bool) {
	for _, m := range n.a.Metrics {
		if m.ID != id || m.Scope != "all" {
			continue
		}
		if v, known := m.Stats[stat].Value.Get(); known {
			return show(v, m.Unit), "M:" + id + "/all/" + stat, true
		}
	}
	return "", "", false
}

func (n *narrator) figures() {
	if med, c1, ok := n.figure("ttft", "p50"); ok {
		cites, en, zh := []string{c1}, "The first token takes "+med+" at the median", "首个 token 的中位数为 "+med
		if p99, c2, ok := n.figure("ttft", "p99"); ok {
			cites, en, zh = append(cites, c2), en+" and "+p99+" at P99", zh+"，P99 为 "+p99
		}
		n.say(Observation, cites, en+".", zh+"。")
	}
	if rate, c, ok := n.figure("output_rate", "value"); ok {
		n.say(Observation, []string{c}, "The server gave "+rate+" of output.", "输出吞吐为 "+rate+"。")
	}
}

func (n *narrator) invalid() {
	for _, g := range n.a.Gates {
		if passed, known := g.Passed.Get(); known && !passed {
			n.say(Observation, []string{"G:" + g.ID}, "The run is not valid: "+g.Message, "本次运行无效："+g.Message)
		}
	}
}

var zhConfidence = map[string]string{"high": "高", "medium": "中", "low": "低"}

func (n *narrator) findings() {
	told := 0
	for _, f := range n.a.Findings {
		if f.Role == "considered" {
			continue
		}
		told++
		verb, zhVerb := "The evidence points to", "证据指向"
		if f.Role == "contributing" {
			verb, zhVerb = "It points also to", "证据还指向"
		}
		n.say(Inference, []string{f.ID},
			fmt.Sprintf("%s %q (%s) with %s confidence.", verb, f.Title, f.ID, f.Confidence),
			fmt.Sprintf("%s“%s”（%s），置信度%s。", zhVerb, f.Title, f.ID, zhConfidence[f.Confidence]))
		n.facts(f.For, f.Role == "primary", true)
		n.facts(f.Against, f.Role == "primary", false)
		n.tested(f)
	}
	if told == 0 {
		switch n.a.Verdict.State {
		case archive.VerdictNone:
			n.say(Inference, []string{"C"}, "No bottleneck shows at this load.", "在此负载下没有发现瓶颈。")
		default:
			n.say(Inference, []string{"C"}, "What was recorded does not decide what limits the server.", "现有记录不足以判断瓶颈所在。")
		}
	}
}

// facts tells the evidence of a primary finding.
func (n *narrator) facts(ids []string, primary, supports bool) {
	if !primary {
		return
	}
	for i, id := range ids {
		if i == maxFacts {
			return
		}
		for _, e := range n.a.Evidence {
			if e.ID != id {
				continue
			}
			lead, zhLead := "", "支持证据"
			if !supports {
				lead, zhLead = "Against it: ", "反对证据"
			}
			value := ""
			if v, ok := e.Value.Get(); ok {
				value = show(v, e.Unit)
			}
			zh := fmt.Sprintf("%s %s：指标 %s", zhLead, e.ID, e.Metric)
			if value != "" {
				zh += " 为 " + value
			}
			n.say(Observation, []string{e.ID}, lead+trimDot(e.Text)+" ("+e.ID+").", zh+"。")
		}
	}
}

func (n *narrator) tested(f archive.Finding) {
	if id := n.probe(f); id != "" {
		if f.Tested == "confirmed" {
			n.say(Inference, []string{f.ID, id}, "Probe "+id+" confirmed it ("+f.ID+").", "探测实验 "+id+" 已证实（"+f.ID+"）。")
		} else {
			n.say(Inference, []string{f.ID, id}, "Probe "+id+" refuted it ("+f.ID+").", "探测实验 "+id+" 已否定（"+f.ID+"）。")
		}
		return
	}
	switch f.Tested {
	case "confirmed":
		n.say(Inference, []string{f.ID}, "A probe confirmed it ("+f.ID+").", "探测实验已证实（"+f.ID+"）。")
	case "refuted":
		n.say(Inference, []string{f.ID}, "A probe refuted it ("+f.ID+").", "探测实验已否定（"+f.ID+"）。")
	default:
		en, zh := "No probe has tested it yet ("+f.ID+").", "尚未经过探测实验检验（"+f.ID+"）。"
		if f.Falsifier != "" {
			en = "No probe has tested it yet (" + f.ID + "); it would be wrong if: " + f.Falsifier
		}
		n.say(Inference, []string{f.ID}, en, zh)
	}
}

// probe is the id of the experiment that settled a finding; "" where it is not recorded.
func (n *narrator) probe(f archive.Finding) string {
	if n.a.Experiments == nil || f.Tested != "confirmed" && f.Tested != "refuted" {
		return ""
	}
	for _, x := range n.a.Experiments.Probes {
		if x.Cause == f.Cause && x.Answer == f.Tested {
			return x.Probe
		}
	}
	return ""
}

func (n *narrator) advice() {
	for i, r := range n.a.Recommendations {
		if i == 2 {
			return
		}
		knob := ""
		if r.Knob != "" {
			knob = " `" + r.Knob + "`"
		}
		n.say(Recommendation, []string{r.ID}, trimDot(r.Action)+knob+" ("+r.ID+").", "建议（"+r.ID+"）："+trimDot(r.Action)+knob+"。")
	}
}

func trimDot(s string) string {
	for len(s) > 0 && s[len(s)-1] == '.' {
		s = s[:len(s)-1]
	}
	return s
}
