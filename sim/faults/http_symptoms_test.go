package faults

// httpSymptoms are the declared symptoms as the real load generator and the real scraper see
// them over HTTP. They are those of TestSymptoms, with wider margins: real time has noise, the
// runs are short, and the workload has the lengths of the plan, not its very requests.
var httpSymptoms = map[string]struct {
	text  string
	shown func(d, h digest) bool
}{
	"F00": {"a light load waits for nothing", func(d, h digest) bool { return d.waiting < 0.5 && d.queueMean < 50 && d.ok > 30 }},
	"F01": {"at the knee much runs and little waits", func(d, h digest) bool { return d.waiting < 5 && d.running > 1.5*h.running }},
	"F02": {"steps are full of prompt tokens", func(d, h digest) bool { return d.stepTokens > 800 && d.ttft50 > 3*h.ttft50 && d.util > 80 }},
	"F03": {"a large batch makes tokens slow", func(d, h digest) bool { return d.running > 150 && d.tpot50 > 1.5*h.tpot50 && d.preempt == 0 }},
	"F04": {"the KV cache is full and requests are preempted", func(d, h digest) bool { return d.kvMax > 0.95 && (d.preempt > 0.01 || d.waiting > 1) }},
	"F05": {"running stands at the cap with KV free", func(d, h digest) bool { return d.running > 6 && d.running <= 8 && d.waiting > 2 && d.kvMax < 0.3 }},
	"F06": {"steps stay within the budget and first tokens are late", func(d, h digest) bool { return d.stepTokens <= 256 && d.ttft50 > 3*h.ttft50 }},
	"F07": {"the device idles and tokens are slow", func(d, h digest) bool { return d.util < h.util-15 && d.tpot50 > 1.5*h.tpot50 }},
	"F08": {"the device idles in bursts", func(d, h digest) bool { return d.util < h.util-15 && d.itlP99 > 1.5*h.itlP99 }},
	"F09": {"the client waits longer than the engine", func(d, h digest) bool { return d.ttft50 > 2*h.ttft50 && d.itlMean < 1.5*h.itlMean }},
	"F10": {"the queue grows without end", func(d, h digest) bool { return d.waiting > 50 && d.queueMean > 1000 && d.kvMax < 0.6 }},
	"F11": {"tokens stall behind long prompts, the median does not", func(d, h digest) bool { return d.itlP99 > 2*h.itlP99 && d.tpot50 < 3*h.tpot50 }},
	"F12": {"nothing is found in the prefix cache", func(d, h digest) bool { return d.hit == 0 && d.stepTokens > 200 }},
	"F13": {"history is computed again", func(d, h digest) bool { return d.hit < 0.4 && d.ttft50 > 1.5*h.ttft50 }},
	"F14": {"part of the history is on another replica", func(d, h digest) bool { return d.later > 20 && d.kept > 0.05 && d.kept < 0.75 }},
	"F15": {"a constant offset on the first token", func(d, h digest) bool {
		return d.ttft50 > 80 && d.ttftEngine < 1.5*h.ttftEngine && d.itlMean < 1.5*h.itlMean
	}},
	"F16": {"tokens come in bursts that the engine does not make", func(d, h digest) bool { return d.itlP99 > 15*d.itlMean && d.itlMean < 1.5*h.itlMean }},
	"F17": {"sends are late, and the server is not slow", func(d, h digest) bool { return d.lag50 > 20 && d.queueMean < 50 }},
	"F18": {"sends wait for a connection", func(d, h digest) bool { return d.lag50 > 100 && d.waiting < 1 }},
	"F19": {"clocks are down and steps longer", func(d, h digest) bool { return d.clock < 0.7 && d.tpot50 > 1.1*h.tpot50 }},
	"F20": {"clocks fall over time", func(d, h digest) bool { return d.clock < 0.9 && d.clock > 0.5 && d.tpot50 > 1.02*h.tpot50 }},
	"F21": {"tokens are slow on a busy device", func(d, h digest) bool { return d.util > h.util-15 && d.tpot50 > 1.3*h.tpot50 }},
	"F22": {"the floor of KV usage rises", func(d, h digest) bool { return d.kvMax > 0.7 && d.kv > 4*h.kv }},
	"F23": {"few drafted tokens are accepted", func(d, h digest) bool { return d.accept > 0 && d.accept < 0.15 && d.tpot50 > 1.3*h.tpot50 }},
	"F24": {"tokens are slow with clocks at their highest", func(d, h digest) bool { return d.clock == 1 && d.tpot50 > 1.15*h.tpot50 && d.waiting < 1 }},
}
