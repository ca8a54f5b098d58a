package probe

import (
	"fmt"
	"math"

	"github.com/inferencebench/inferencebench/analyst/attribute"
	"github.com/inferencebench/inferencebench/archive"
)

// Probe is one experiment about one cause.
type Probe struct {
	ID    string
	Cause string
	Title string
	// Expected is the response if the cause is the limit, one sentence.
	Expected string
	// Arms make the loads from what the run itself showed; base is that.
	Arms func(base Seen) []Arm
	// judge compares the arms, base first, and returns an answer and what was seen.
	judge func(seen []Seen) (answer, observed string)
}

// Changes reports whether the experiment needs a change of the server.
func (p *Probe) Changes(base Seen) bool {
	for _, a := range p.Arms(base) {
		if a.Server != "" {
			return true
		}
	}
	return false
}

// Judge says what the arms of an experiment mean. seen holds the run's own load first and
// then the arms in order.
func (p *Probe) Judge(seen []Seen) Outcome {
	o := Outcome{Probe: p.ID, Cause: p.Cause, Expected: p.Expected, Answer: Untested, Arms: seen}
	for i := range seen {
		if i > 0 && seen[i].OK < least && p.ID != drain {
			o.Observed = fmt.Sprintf("Only %d requests were answered in the arm %q, too few to tell.", seen[i].OK, seen[i].Arm.Name)
			return o
		}
	}
	if len(seen) < 2 {
		o.Observed = "No arm was run."
		return o
	}
	o.Answer, o.Observed = p.judge(seen)
	return o
}

// drain is the experiment that wants hardly any request.
const drain = "P14"

// least is how many answers an arm needs to be looked at.
const least = 8

// one makes the arms of an experiment with one arm.
func one(a Arm) func(Seen) []Arm { return func(Seen) []Arm { return []Arm{a} } }

// ratio is b over a, or unknown.
func ratio(a, b archive.Opt[float64]) (float64, bool) {
	x, okX := a.Get()
	y, okY := b.Get()
	if !okX || !okY || !(x > 0) || y < 0 {
		return 0, false
	}
	return y / x, true
}

const unseen = "What the answer needs was not observed."

// fell judges a figure that falls if the cause is the limit: to at most yes of what it was,
// and not if it stays above no of it.
func fell(what string, of func(Seen) archive.Opt[float64], yes, no float64) func([]Seen) (string, string) {
	return moved(what, of, func(r float64) bool { return r <= yes }, func(r float64) bool { return r >= no })
}

// rose judges a figure that grows if the cause is the limit.
func rose(what string, of func(Seen) archive.Opt[float64], yes, no float64) func([]Seen) (string, string) {
	return moved(what, of, func(r float64) bool { return r >= yes }, func(r float64) bool { return r <= no })
}

// moved judges a figure by the ratio of what it became to what it was.
func moved(what string, of func(Seen) archive.Opt[float64], yes, no func(ratio float64) bool) func([]Seen) (string, string) {
	return func(s []Seen) (string, string) {
		r, ok := ratio(of(s[0]), of(s[1]))
		if !ok {
			return Untested, unseen
		}
		text := fmt.Sprintf("%s went from %s to %s.", what, figure(of(s[0])), figure(of(s[1])))
		switch {
		case yes(r):
			return Confirmed, text
		case no(r):
			return Refuted, text
		}
		return Untested, text + " That is between the two."
	}
}

// either confirms where one of the judges does, and refutes where all that could tell do.
func either(js ...func([]Seen) (string, string)) func([]Seen) (string, string) {
	return func(s []Seen) (string, string) {
		answer, text := Untested, ""
		refuted := true
		for _, j := range js {
			a, t := j(s)
			if text != "" {
				text += " "
			}
			text += t
			if a == Confirmed {
				return Confirmed, t
			}
			refuted = refuted && a == Refuted
		}
		if refuted {
			answer = Refuted
		}
		return answer, text
	}
}

func figure(v archive.Opt[float64]) string {
	x, ok := v.Get()
	if !ok {
		return "unknown"
	}
	switch a := math.Abs(x); {
	case a >= 100:
		return fmt.Sprintf("%.0f", x)
	case a >= 1:
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.2f", x)
}

func ttft(s Seen) archive.Opt[float64]     { return s.TTFT }
func tpot(s Seen) archive.Opt[float64]     { return s.TPOT }
func requests(s Seen) archive.Opt[float64] { return s.Requests }

// frontGap is the time to first token that the server's own clock does not see, round trip
// left out.
func frontGap(s Seen) archive.Opt[float64] {
	t, ok1 := s.TTFTMean.Get()
	own, ok2 := s.ServerOwn.Get()
	if !ok1 || !ok2 {
		return archive.Opt[float64]{}
	}
	return archive.Some(max(0, t-own-s.RTT.Or(0)))
}

// stalls is how much longer the slowest gaps between tokens are than the usual one.
func stalls(s Seen) archive.Opt[float64] {
	slow, ok1 := s.ITL99.Get()
	usual, ok2 := s.ITL50.Get()
	if !ok1 || !ok2 || !(usual > 0) {
		return archive.Opt[float64]{}
	}
	return archive.Some(slow / usual)
}

// All lists the experiments, in the order of their ids.
func All() []Probe {
	return []Probe{
		{ID: "P1", Cause: attribute.Prefill, Title: "half the prompt length, same answers",
			Expected: "With half the prompt, the time to first token falls by a third or more, or a third more requests are answered.",
			Arms:     one(Arm{Name: "half the prompts", Input: 0.5}),
			judge:    either(fell("the median time to first token in ms", ttft, 0.67, 0.9), rose("answered requests a second", requests, 1.33, 1.1))},
		{ID: "P2", Cause: attribute.Decode, Title: "half the batch, same context",
			Expected: "With half the load the time a token falls by a tenth or more, because a step reads less KV cache.",
			Arms:     one(Arm{Name: "half the load", Load: 0.5}),
			judge:    fell("the median time a token in ms", tpot, 0.9, 0.97)},
		{ID: "P3", Cause: attribute.KV, Title: "concurrency held at 80 % of what ran",
			Expected: "Fewer requests at once are answered as fast in sum, without preemptions and with little waiting.",
			Arms: func(b Seen) []Arm {
				return []Arm{{Name: "80 % of the running requests", Concurrency: max(1, int(0.8*b.Running.Or(2)))}}
			},
			judge: capped},
		{ID: "P4", Cause: attribute.Cap, Title: "twice the cap on running requests",
			Expected: "With twice the cap the time to first token falls by a fifth or more, or a tenth more requests are answered.",
			Arms:     one(Arm{Name: "twice the cap", Server: DoubleCap}),
			judge:    either(fell("the median time to first token in ms", ttft, 0.8, 0.95), rose("answered requests a second", requests, 1.1, 1.03))},
		{ID: "P4b", Cause: attribute.Prefix, Title: "one shared beginning for all, and none",
			Expected: "Prompts that all begin alike take as long as prompts that share nothing, or the cache serves far more once few beginnings are in use.",
			Arms:     one(Arm{Name: "one beginning", Repeat: true}),
			judge:    reuse},
		{ID: "P5", Cause: attribute.Host, Title: "less work on the host",
			Expected: "With captured graphs and free cores the time a token falls by a tenth or more.",
			Arms:     one(Arm{Name: "lean host", Server: LeanHost}),
			judge:    fell("the median time a token in ms", tpot, 0.9, 0.97)},
		{ID: "P6", Cause: attribute.Communication, Title: "half the devices a layer",
			Expected: "With half the devices the time a token hardly grows, or falls.",
			Arms:     one(Arm{Name: "half the tensor parallelism", Server: HalfTP}),
			judge:    fell("the median time a token in ms", tpot, 1.1, 1.5)},
		{ID: "P7", Cause: attribute.Interference, Title: "without the longest prompts",
			Expected: "Without the longest prompts, the slowest gaps between tokens shrink by a third or more.",
			Arms: func(b Seen) []Arm {
				// The mean is what long prompts make it: half of the traffic is below the median.
				return []Arm{{Name: "no long prompts", Longest: max(64, int(2*b.Prompt50.Or(b.Prompt.Or(1024))))}}
			},
			judge: unstalled},
		{ID: "P9", Cause: attribute.Frontend, Title: "less for the front end to do",
			Expected: "At a third of the load, the time outside the scheduler falls by a third or more, or tokens no longer come in bursts.",
			Arms:     one(Arm{Name: "a third of the load", Load: 1.0 / 3}),
			judge:    either(fell("the time to first token outside the scheduler in ms", frontGap, 0.67, 0.9), bursts)},
		{ID: "P10", Cause: attribute.Queueing, Title: "80 % of the load",
			Expected: "At 80 % of the load the time to first token falls by a third or more, and a token takes as long as before.",
			Arms:     one(Arm{Name: "80 % of the load", Load: 0.8}),
			judge:    fell("the median time to first token in ms", ttft, 0.67, 0.9)},
		{ID: "P11", Cause: attribute.Network, Title: "the round trip alone",
			Expected: "The round trip is a third or more of the time to first token, or tokens arrive evenly beside the server.",
			Arms:     one(Arm{Name: "a third of the load", Load: 1.0 / 3}),
			judge:    path},
		{ID: "P12", Cause: attribute.Client, Title: "a second load generator",
			Expected: "Two generators with half the load each reach a tenth more requests, or send a third less late.",
			Arms:     one(Arm{Name: "two generators", Generators: 2}),
			judge: either(rose("answered requests a second", requests, 1.1, 1.02), fell("the median time to first token in ms", ttft, 0.67, 0.9),
				fell("the median delay of sends in ms", func(s Seen) archive.Opt[float64] { return s.SendLag }, 0.67, 0.9))},
		{ID: "P13", Cause: attribute.Throttle, Title: "cooled down, at full power",
			Expected: "At the full clock the time a token falls by a twentieth or more, or the time to first token by a tenth.",
			Arms:     one(Arm{Name: "full clock", Server: FullClock}),
			judge:    either(fell("the median time a token in ms", tpot, 0.95, 0.99), fell("the median time to first token in ms", ttft, 0.9, 0.97))},
		{ID: drain, Cause: attribute.Leak, Title: "drained",
			Expected: "With hardly any request running, the KV cache stays used by a tenth or more.",
			Arms:     one(Arm{Name: "a twentieth of the load", Load: 0.05}),
			judge:    floor},
		{ID: "P15", Cause: attribute.Speculation, Title: "without drafts",
			Expected: "Without drafted tokens a token takes a twentieth less time or more.",
			Arms:     one(Arm{Name: "no drafts", Server: NoDrafts}),
			judge:    fell("the median time a token in ms", tpot, 0.95, 1)},
		{ID: "P16", Cause: attribute.Imbalance, Title: "prompts of one domain",
			Expected: "With prompts of one domain the time a token changes by a twentieth or more.",
			Arms:     one(Arm{Name: "one domain", Server: Uniform}),
			judge: moved("the median time a token in ms", tpot,
				func(r float64) bool { return r <= 0.95 || r >= 1.05 }, func(r float64) bool { return r > 0.99 && r < 1.01 })},
		{ID: "P17", Cause: attribute.External, Title: "alone on the device",
			Expected: "Alone, the time a token falls by a twentieth or more.",
			Arms:     one(Arm{Name: "alone", Server: Alone}),
			judge:    fell("the median time a token in ms", tpot, 0.95, 0.99)},
	}
}

// capped judges P3: what ran short is the cache if fewer requests at once lose nothing and
// stop being preempted or made to wait.
func capped(s []Seen) (string, string) {
	base, arm := s[0], s[1]
	r, ok := ratio(base.Requests, arm.Requests)
	w, okW := ratio(base.TTFT, arm.TTFT)
	if !ok || !okW {
		return Untested, unseen
	}
	text := fmt.Sprintf("answered requests a second went from %s to %s, the median time to first token from %s to %s ms, KV usage from %s to %s.",
		figure(base.Requests), figure(arm.Requests), figure(base.TTFT), figure(arm.TTFT), figure(base.KV), figure(arm.KV))
	switch {
	case r >= 0.7 && w <= 0.5:
		return Confirmed, text
	case base.KVMax.Known() && base.KVMax.Or(0) < 0.8 && base.Preempt.Or(0) == 0:
		return Refuted, text + " The cache was never short."
	}
	return Untested, text + " That does not tell."
}

// reuse judges P4b.
func reuse(s []Seen) (string, string) {
	base, arm := s[0], s[1]
	w, ok := ratio(base.TTFT, arm.TTFT)
	if !ok {
		return Untested, unseen
	}
	before, okB := base.Hit.Get()
	after, okA := arm.Hit.Get()
	text := fmt.Sprintf("the share of prompt tokens served from the cache went from %s to %s, the median time to first token from %s to %s ms.",
		figure(base.Hit), figure(arm.Hit), figure(base.TTFT), figure(arm.TTFT))
	switch {
	case okA && after < 0.1, !okA && w > 0.9: // all begin alike and nothing is reused
		return Confirmed, text
	case okA && okB && after-before >= 0.15, !okA && w < 0.6:
		return Confirmed, text
	case okA && okB && before >= 0.6:
		return Refuted, text
	}
	return Untested, text + " That is between the two."
}

// bursts says whether tokens arrive in bursts that a light load does not have.
func bursts(s []Seen) (string, string) {
	return fell("the 99th percentile of the gaps over their median", stalls, 0.5, 0.9)(s)
}

// stalled is from which factor over the usual gap the slowest gaps are stalls.
const stalled = 3

// unstalled judges P7. Where gaps are as long without the longest prompts, the ordinary ones
// stall tokens as well: the experiment did not take the cause away, and cannot refute it.
func unstalled(s []Seen) (string, string) {
	answer, text := either(fell("the 99th percentile of the gaps over their median", stalls, 0.67, 0.9),
		fell("the 99th percentile of the gaps in ms", func(s Seen) archive.Opt[float64] { return s.ITL99 }, 0.67, 0.95))(s)
	if left := stalls(s[1]); answer == Refuted && left.Or(0) >= stalled {
		return Untested, text + " The ordinary prompts stall tokens as well, so that nothing was taken away."
	}
	return answer, text
}

// path judges P11 by the round trip alone, which no load of ours changes.
func path(s []Seen) (string, string) {
	if n, ok := s[1].PerChunk.Get(); ok && n >= 3 {
		return Confirmed, fmt.Sprintf("at a light load %s tokens still arrive together: something on the way holds them back.", figure(s[1].PerChunk))
	}
	r, ok := ratio(s[1].TTFT, s[1].RTT)
	if !ok {
		return Untested, unseen
	}
	text := fmt.Sprintf("a round trip takes %s ms of a time to first token of %s ms at a light load.", figure(s[1].RTT), figure(s[1].TTFT))
	switch {
	case r >= 0.33:
		return Confirmed, text
	case r < 0.15:
		return Refuted, text
	}
	return Untested, text + " That is between the two."
}

// floor judges P14.
func floor(s []Seen) (string, string) {
	kv, ok := s[1].KVMax.Get()
	run, okR := s[1].Running.Get()
	if !ok || !okR {
		return Untested, unseen
	}
	base := s[0]
	each, _ := ratio(base.Running, base.KV)
	text := fmt.Sprintf("with %s requests running the KV cache was used to %s at most.", figure(s[1].Running), figure(s[1].KVMax))
	switch {
	case kv >= 0.1 && kv > 3*each*max(run, 1):
		return Confirmed, text
	case kv < 0.05:
		return Refuted, text
	}
	return Untested, text + " That is between the two."
}
