package scenario

import (
	"time"

	"github.com/inferencebench/inferencebench/tasks"
	"github.com/inferencebench/inferencebench/tasks/prose"
)

// The sources that several scenarios share.
const (
	azure    = "lengths and arrivals of the Azure LLM inference traces of 2023"
	mooncake = "lengths of the Mooncake traces (FAST'25)"
	agents   = "session shape of public coding-agent traces and of inference-perf's documented agent example"
	tuning   = "the four scenarios of the published tuning benchmark InferenceBench by aisa-group, prompt lengths uniform within 80 to 100 % of the nominal one"
)

// fraction is uniform between 80 % and 100 % of n.
func fraction(n int) tasks.Length { return tasks.Uniform(n*4/5, n) }

func preset(o *tasks.Options, name string) {
	if p, ok := tasks.LookupPreset(name); ok {
		o.ISL, o.OSL = tasks.Table(p.In), tasks.Table(p.Out)
	}
}

func mix(names ...string) []tasks.Share {
	out := make([]tasks.Share, len(names))
	for i, n := range names {
		out[i] = tasks.Share{Task: n, Weight: 1}
	}
	return out
}

// shortThink is the pause of a benchmark of minutes; real users take a median of 100 s.
var shortThink = tasks.Pause{Median: 5 * time.Second, Sigma: 0.6}

func ordinary(o *tasks.Options) {
	preset(o, "chat")
	o.ISL = o.ISL.Clip(16, 4096)
	o.SharedPrefixTokens = 200
}

func multiTurn(o *tasks.Options) {
	o.ISL = tasks.Lognormal(5.5, 0.9).Clip(32, 4096)
	o.OSL = tasks.Lognormal(5.4, 0.8).Clip(8, 2048)
	o.Turns, o.Think = tasks.Geometric(2.5).Clip(1, 40), shortThink
	o.Langs = []tasks.LangShare{{Lang: prose.English, Weight: 4}, {Lang: prose.Chinese, Weight: 1}}
	o.Structure = 0.1
}

func one(arrival string, set func(*tasks.Options)) []part {
	return []part{{name: "main", share: 1, factor: 1, arrival: arrival, set: set}}
}

func exact(in, out int) func(*tasks.Options) {
	return func(o *tasks.Options) {
		o.ISL, o.OSL, o.IgnoreEOS = fraction(in), tasks.Fixed(out), true
		o.Mix = mix("summarise", "qa", "creative")
	}
}

func scenarios() []Scenario {
	return []Scenario{
		{Name: "steady", About: "Ordinary single-turn chat at a constant mean rate.", Source: azure, Rate: 2, Duration: 5 * time.Minute, parts: one("gamma cv=1.05", ordinary)},
		{
			Name: "flood", About: "Ordinary traffic, a flood of five times as much, and ordinary traffic again: how long until the server is itself?", Source: azure, Rate: 2, Duration: 6 * time.Minute, Open: true,
			parts: []part{
				{"before", 1. / 3, 1, "poisson", ordinary},
				{"flood", 1. / 12, 5, "gamma cv=2", ordinary},
				{"after", 7. / 12, 1, "poisson", ordinary},
			},
		},
		{
			Name: "endurance", About: "Hours of mixed traffic under the day's rhythm: leaks, decay and creeping errors.", Source: azure + "; think times of " + mooncake, Rate: 1, Duration: 4 * time.Hour,
			parts: one("drift sigma=0.2", multiTurn),
		},
		{Name: "chat", About: "Multi-turn chat in two languages, each turn asking about the last reply.", Source: "turns and lengths of WildChat and LMSYS-Chat-1M summaries", Rate: 1, Duration: 5 * time.Minute, parts: one("poisson", multiTurn)},
		{
			Name: "code", About: "Code completion: long prompts, short answers, in on-off waves.", Source: azure, Rate: 2, Duration: 6 * time.Minute,
			parts: one("onoff on=23s off=53s", func(o *tasks.Options) {
				preset(o, "code")
				o.Mix, o.SharedPrefixTokens = mix("code", "review"), 400
			}),
		},
		{
			Name: "rag", About: "Questions over long numbered documents behind a shared instruction.", Source: mooncake, Rate: 0.5, Duration: 6 * time.Minute,
			parts: one("poisson", func(o *tasks.Options) {
				o.ISL, o.OSL = tasks.Lognormal(9, 0.6).Clip(4096, 61440), tasks.Uniform(50, 400)
				o.Mix, o.SharedPrefixTokens, o.Turns, o.Think = mix("rag"), 800, tasks.Uniform(1, 3), tasks.Pause{Median: 20 * time.Second, Sigma: 0.5}
			}),
		},
		{
			Name: "agent", About: "Tool loops: a long shared prompt, many short calls with tool pauses between them.", Source: agents, Rate: 0.1, Duration: 10 * time.Minute,
			parts: one("poisson", func(o *tasks.Options) {
				o.ISL, o.OSL = tasks.Lognormal(9.6, 0.5).Clip(9000, 45000), tasks.Lognormal(5.9, 0.8).Clip(16, 2048)
				o.Mix, o.SharedPrefixTokens, o.Turns = mix("agent", "code"), 8359, tasks.Uniform(8, 30)
				o.FollowUp, o.Think = tasks.Lognormal(7.0, 0.8).Clip(64, 8192), tasks.Pause{Median: 6400 * time.Millisecond, Sigma: 0.67}
			}),
		},
		{
			Name: "reasoning", About: "Short questions, long reasoned answers.", Source: "lengths of ServeGen's deepseek-r1 clients", Rate: 0.5, Duration: 8 * time.Minute,
			parts: one("gamma cv=1", func(o *tasks.Options) {
				preset(o, "reasoning")
				o.Mix, o.Turns, o.Think = mix("reasoning", "qa", "code"), tasks.Geometric(1.8).Clip(1, 10), shortThink
			}),
		},
		{
			Name: "long-context", About: "Long histories and documents, up to 120,000 tokens.", Source: mooncake, Rate: 0.2, Duration: 8 * time.Minute,
			parts: one("gamma cv=1.2", func(o *tasks.Options) {
				preset(o, "long-chat")
				o.ISL = o.ISL.Clip(1024, 120000)
				o.Mix = mix("summarise", "rag", "extract")
			}),
		},
		{
			Name: "mixed", About: "All of it at once, in phases that hand over to each other: chat, code, documents, reasoning.", Source: azure + "; " + mooncake, Rate: 1, Duration: 10 * time.Minute,
			parts: []part{
				{"chat", 0.3, 1.5, "gamma cv=2", multiTurn},
				{"code", 0.2, 2, "gamma cv=5", func(o *tasks.Options) { preset(o, "code"); o.Mix = mix("code", "review") }},
				{"documents", 0.25, 0.4, "poisson", func(o *tasks.Options) {
					o.ISL, o.OSL, o.Mix = tasks.Lognormal(8.7, 0.5).Clip(2048, 32768), tasks.Uniform(50, 400), mix("rag", "summarise", "extract")
				}},
				{"everything", 0.25, 1, "gamma cv=2", func(o *tasks.Options) { multiTurn(o); o.Structure = 0.3 }},
			},
		},
		{Name: "tuning-a", About: "Input-heavy: 8,192 tokens in, 1,024 out, judged by time to first token.", Source: tuning, Rate: 0.5, Duration: 5 * time.Minute, parts: one("poisson", exact(8192, 1024))},
		{Name: "tuning-b", About: "Output-heavy: 1,024 tokens in, 8,192 out, judged by time per token.", Source: tuning, Rate: 0.2, Duration: 8 * time.Minute, parts: one("poisson", exact(1024, 8192))},
		{
			Name: "tuning-c", About: "Throughput: 1,024 in, 1,024 out, under bursts, Poisson and constant arrivals in turn.", Source: tuning, Rate: 2, Duration: 9 * time.Minute, Open: true,
			parts: []part{
				{"burst", 1. / 3, 1, "gamma cv=4", exact(1024, 1024)},
				{"poisson", 1. / 3, 1, "poisson", exact(1024, 1024)},
				{"constant", 1. / 3, 1, "constant", exact(1024, 1024)},
			},
		},
		{Name: "tuning-d", About: "Balanced: 4,096 tokens in, 2,048 out.", Source: tuning, Rate: 0.5, Duration: 6 * time.Minute, parts: one("poisson", exact(4096, 2048))},
	}
}
