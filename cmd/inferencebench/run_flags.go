package main

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/inferencebench/inferencebench/campaign"
)

// runFlags are the flags of `run` that change the campaign. A flag that was not given
// leaves the campaign file's value, or the default, alone.
type runFlags struct {
	set *pflag.FlagSet

	url, host, model, endpoint string
	port                       int
	headers                    []string
	keyEnv, caFile, proxy      string
	insecure, noStream         bool
	gpu, modelConfig           string
	tensorParallel, retries    int

	requests, concurrency int
	rate, burstiness      float64
	arrival, warmup       string
	duration, drain       time.Duration
	trace                 campaign.Trace
	replay                campaign.Replay
	scenario, tokenizer   string
	agents                campaign.Agents

	workload           string
	isl, osl, turns    string
	think, tasks       string
	sharedPrefix       int
	reusePrompts       bool
	ignoreEOS          bool
	temperature        float64
	seed               uint64
	find               string
	slo                []string
	goodput            []string
	maxErrorRate       float64
	checkpoints        bool
	noCheckpoints      bool
	checkpointEvery    int
	checkKinds         []string
	checkItems         int
	gsm8k, humaneval   string
	interval           time.Duration
	metricsURL         string
	gpuPage, gpus      string
	log, traces        string
	out, name          string
	connect, firstTok  time.Duration
	idle, totalTimeout time.Duration
}

// flagAliases are the names that users of other tools type.
var flagAliases = map[string]string{
	"base-url": "url", "target": "url",
	"num-prompts": "requests", "request-count": "requests", "max-requests": "requests",
	"benchmark-duration": "duration",
	"max-concurrency":    "concurrency", "parallel": "concurrency",
	"rate":             "request-rate",
	"random-input-len": "isl", "input-tokens": "isl",
	"random-output-len": "osl", "output-tokens": "osl",
	"num-warmups": "warmup", "random-seed": "seed",
	"served-model-name": "model", "result-dir": "out", "artifact-dir": "out",
}

// flagFields maps a flag to the campaign field that it sets; phase fields are below
// phases[0].
var flagFields = map[string]string{
	"url": "target.url", "host": "target.url", "model": "target.model", "endpoint": "target.endpoint",
	"gpu": "target.gpu", "tp": "target.tensor_parallel", "model-config": "target.model_config",
	"retry": "target.retries", "ca-file": "target.ca_file", "proxy": "target.proxy",
	"requests": "phases[0].requests", "duration": "phases[0].duration",
	"concurrency": "phases[0].concurrency", "request-rate": "phases[0].request_rate",
	"replay": "phases[0].replay.file", "history": "phases[0].replay.history", "replay-speed": "phases[0].replay.speed",
	"scenario": "scenario.name", "tokenizer": "workload.tokenizer", "agent-turns": "agents.turns", "agent-model": "agents.model",
	"trace": "phases[0].trace.file", "trace-speed": "phases[0].trace.speed", "trace-limit": "phases[0].trace.limit",
	"arrival": "phases[0].arrival", "burstiness": "phases[0].arrival", "warmup": "phases[0].warmup", "drain": "phases[0].drain",
	"workload": "workload.model", "isl": "workload.isl", "osl": "workload.osl", "turns": "workload.turns", "think": "workload.think", "tasks": "workload.tasks",
	"shared-prefix": "workload.shared_prefix", "temperature": "workload.temperature",
	"max-error-rate": "max_error_rate", "checkpoint-every": "checkpoints.every", "gsm8k": "checkpoints.gsm8k",
	"checkpoint-kinds": "checkpoints.kinds", "checkpoint-items": "checkpoints.items", "humaneval": "checkpoints.humaneval",
	"interval": "monitor.interval", "out": "out", "name": "name",
	"connect-timeout": "target.timeouts.connect", "first-token-timeout": "target.timeouts.first_token",
	"idle-timeout": "target.timeouts.idle", "total-timeout": "target.timeouts.total",
}

// shapeFlags are the flags that make the one phase of a campaign.
var shapeFlags = []string{"requests", "duration", "concurrency", "request-rate", "arrival", "burstiness", "warmup", "drain"}

func (f *runFlags) register(cmd *cobra.Command) {
	s := cmd.Flags()
	f.set = s
	s.SortFlags = false
	s.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if to, ok := flagAliases[name]; ok {
			name = to
		}
		return pflag.NormalizedName(name)
	})
	s.StringVar(&f.url, "url", "", "base URL of the server, with or without /v1 (also --base-url, --target)")
	s.StringVar(&f.host, "host", "", "host of the server, in place of --url")
	s.IntVar(&f.port, "port", 8000, "port of the server, with --host")
	s.StringVar(&f.model, "model", "", "model name to send; default: the only one the server lists")
	s.StringVar(&f.endpoint, "endpoint", campaign.DefaultEndpoint, "API to speak: chat or completions")
	s.StringArrayVar(&f.headers, "header", nil, "extra header as 'Name: value'; ${VAR} takes the value from the environment; repeatable")
	s.StringVar(&f.keyEnv, "key-env", campaign.DefaultKeyEnv, "environment variable that holds the bearer key")
	s.StringVar(&f.caFile, "ca-file", "", "PEM file of certificates to trust")
	s.BoolVar(&f.insecure, "insecure", false, "accept any TLS certificate")
	s.StringVar(&f.proxy, "proxy", "", "proxy URL, or env for the environment's; default: none")
	s.IntVar(&f.retries, "retry", 0, "how often a failed request is sent again; every try is recorded")
	s.StringVar(&f.gpu, "gpu", "", "the server's GPU, such as h100_sxm, for the roofline; default: what can be seen")
	s.IntVar(&f.tensorParallel, "tp", 0, "GPUs that share a layer; default: what the server tells, else 1")
	s.StringVar(&f.modelConfig, "model-config", "", "config.json or GGUF file with the model's shape; default: by the model's name")

	s.IntVar(&f.requests, "requests", 0, "end after this many requests (also --num-prompts)")
	s.DurationVar(&f.duration, "duration", time.Duration(campaign.DefaultDuration), "end after this time")
	s.IntVar(&f.concurrency, "concurrency", campaign.DefaultConcurrency, "closed loop: sessions active at any moment; with --request-rate: a bound on open requests")
	s.Float64Var(&f.rate, "request-rate", 0, "open loop: sessions that start each second")
	s.StringVar(&f.arrival, "arrival", campaign.DefaultArrival, "arrivals of an open loop: poisson, constant, 'gamma cv=2', 'spike peak=50 at=30s', ... (see init)")
	s.Float64Var(&f.burstiness, "burstiness", 1, "gamma shape of the gaps of an open loop, as vLLM has it: 1 is poisson, less is burstier")
	s.StringVar(&f.warmup, "warmup", "5s", "what to send first and leave out: a number of requests, or a time")
	s.DurationVar(&f.drain, "drain", time.Duration(campaign.DefaultDrain), "how long open requests may go on after the end")

	s.StringVar(&f.trace.File, "trace", "", "replay a recorded trace (Azure, Mooncake, BurstGPT, ... or JSONL) in place of generated load")
	s.Float64Var(&f.trace.Speed, "trace-speed", 1, "how many times as fast the trace's time runs")
	s.BoolVar(&f.trace.Dither, "dither", false, "spread quantised timestamps of the trace over their grid")
	s.IntVar(&f.trace.Limit, "trace-limit", 0, "requests of the trace to send; 0: all")
	s.IntVar(&f.trace.MaxIn, "trace-max-in", 0, "cut longer prompts of the trace to this many tokens; 0: none")
	s.IntVar(&f.trace.MaxOut, "trace-max-out", 0, "cut longer answers of the trace to this many tokens; 0: none")

	s.StringVar(&f.replay.File, "replay", "", "send a frozen workload again (workload.jsonl.zst of a run)")
	s.StringVar(&f.replay.History, "history", campaign.HistorySame, "of a replay: same sends what was sent then, live lets the present replies be the history")
	s.Float64Var(&f.replay.Speed, "replay-speed", 1, "how many times as fast the replay's time runs")

	s.StringVar(&f.scenario, "scenario", "", "built-in traffic, scaled by --request-rate or --concurrency and --duration; see: inferencebench scenarios")
	s.StringVar(&f.tokenizer, "tokenizer", "", "tokenizer.json that counts prompt tokens; none: estimates")
	s.Float64Var(&f.agents.Turns, "agent-turns", 0, "share of sessions whose later turns a model writes (see --agent-model)")
	s.StringVar(&f.agents.Provider, "agent-provider", "openai", "API of that model: openai (any compatible server), anthropic, google, ollama")
	s.StringVar(&f.agents.Model, "agent-model", "", "the model that writes turns; best not the one under test")
	s.StringVar(&f.agents.URL, "agent-url", "", "base URL of that model's API; default: the provider's own")
	s.StringVar(&f.agents.KeyEnv, "agent-key-env", "", "environment variable that holds that model's key")
	s.StringVar(&f.workload, "workload", "", "private workload model that learn wrote, in place of the length and mix flags")
	s.StringVar(&f.isl, "isl", campaign.DefaultISL, "input length in tokens: 512, uniform(a,b), lognormal(mu,sigma)[min,max], preset:chat")
	s.StringVar(&f.osl, "osl", campaign.DefaultOSL, "output length in tokens, written like --isl")
	s.StringVar(&f.turns, "turns", campaign.DefaultTurns, "user turns of a session, written like --isl")
	s.StringVar(&f.think, "think", campaign.DefaultThink, "pause of a user before the next turn: 2s, or lognormal(median,sigma)")
	s.StringVar(&f.tasks, "tasks", "", "weights of task kinds, such as chat=3,code=1; default: the built-in mix")
	s.IntVar(&f.sharedPrefix, "shared-prefix", 0, "tokens of system prompt that all sessions share")
	s.BoolVar(&f.reusePrompts, "reuse-prompts", false, "send the same prompts as an earlier run with this seed (a prefix cache may be warm)")
	s.BoolVar(&f.ignoreEOS, "ignore-eos", false, "ask for exactly --osl tokens (engines that know ignore_eos)")
	s.Float64Var(&f.temperature, "temperature", 0, "sampling temperature; default: the server's")
	s.BoolVar(&f.noStream, "no-stream", false, "ask for whole answers instead of streams")

	s.StringArrayVar(&f.slo, "slo", nil, "objective such as 'ttft_p99<500ms'; repeatable; a missed one exits 1")
	s.StringVar(&f.find, "find", "", "max-rate: search for the largest rate that meets --slo, with an interval")
	s.StringArrayVar(&f.goodput, "goodput", nil, "per-request limits in milliseconds, as vLLM writes them: 'ttft:200 tpot:20'")
	s.Float64Var(&f.maxErrorRate, "max-error-rate", 0, "share of failed requests above which the run exits 1")
	s.BoolVar(&f.checkpoints, "checkpoints", true, "send scored items inside the load")
	s.BoolVar(&f.noCheckpoints, "no-checkpoints", false, "send none")
	s.IntVar(&f.checkpointEvery, "checkpoint-every", campaign.DefaultEvery, "sessions of load between two scored items")
	s.StringSliceVar(&f.checkKinds, "checkpoint-kinds", []string{campaign.CheckMaths}, "kinds of scored items: "+strings.Join(campaign.CheckKinds(), ", "))
	s.IntVar(&f.checkItems, "checkpoint-items", 0, "items of each kind; default: all")
	s.StringVar(&f.humaneval, "humaneval", "", "HumanEval.jsonl.gz to take the code items from; default: built-in items")
	s.StringVar(&f.gsm8k, "gsm8k", "", "GSM8K test.jsonl to take the items from; default: built-in items")

	s.DurationVar(&f.interval, "interval", time.Duration(campaign.DefaultInterval), "time between two telemetry samples")
	s.StringVar(&f.metricsURL, "metrics-url", "", "the engine's metrics page; none reads none; default: discovered")
	s.StringVar(&f.gpuPage, "gpu-page", "", "page of a DCGM or AMD exporter, for GPUs of another machine")
	s.StringVar(&f.gpus, "gpus", "", "GPUs that count, as indices or UUIDs; default: those that the server uses, where that can be told")
	s.StringVar(&f.log, "log", "", "the server's log: a path, journald:UNIT or docker:NAME")
	s.StringVar(&f.traces, "traces", "", "address to take the server's request spans in at (OTLP over HTTP), such as 127.0.0.1:4318")
	s.Uint64Var(&f.seed, "seed", 1, "seed of every random choice")
	s.StringVar(&f.out, "out", campaign.DefaultOut, "folder for run directories")
	s.StringVar(&f.name, "name", "", "name of the run")

	s.DurationVar(&f.connect, "connect-timeout", time.Duration(campaign.DefaultConnect), "limit on connecting; 0: none")
	s.DurationVar(&f.firstTok, "first-token-timeout", 0, "limit on the wait for the first token; 0: none")
	s.DurationVar(&f.idle, "idle-timeout", 0, "limit on silence inside a stream; 0: none")
	s.DurationVar(&f.totalTimeout, "total-timeout", 0, "limit on a whole request; 0: none")
}

func (f *runFlags) changed(name string) bool { return f.set.Changed(name) }

// base returns the campaign that flags and file start from.
func (f *runFlags) base() *campaign.Config {
	if f.changed("find") {
		c := campaign.Default()
		c.Workload.Turns = "1" // the rate is of sessions, and then also of requests
		c.Phases[0].Duration = 0
		return c
	}
	shaped := slices.ContainsFunc(shapeFlags, f.changed) || f.changed("trace") || f.changed("replay")
	if !f.changed("url") && !f.changed("host") && !shaped {
		return campaign.Demo()
	}
	return campaign.Default()
}

// apply writes the flags that were given into the campaign. The error is a usage error.
func (f *runFlags) apply(c *campaign.Config) error {
	if f.changed("host") {
		if f.changed("url") {
			return fmt.Errorf("--url and --host both name the server: give one")
		}
		c.Target.URL = "http://" + net.JoinHostPort(strings.Trim(f.host, "[]"), strconv.Itoa(f.port))
	}
	assign(f, "url", &c.Target.URL, f.url)
	assign(f, "model", &c.Target.Model, f.model)
	assign(f, "endpoint", &c.Target.Endpoint, endpointName(f.endpoint))
	assign(f, "key-env", &c.Target.KeyEnv, f.keyEnv)
	assign(f, "ca-file", &c.Target.CAFile, f.caFile)
	assign(f, "insecure", &c.Target.Insecure, f.insecure)
	assign(f, "proxy", &c.Target.Proxy, f.proxy)
	assign(f, "gpu", &c.Target.GPU, f.gpu)
	assign(f, "tp", &c.Target.TensorParallel, f.tensorParallel)
	assign(f, "model-config", &c.Target.ModelConfig, f.modelConfig)
	assign(f, "retry", &c.Target.Retries, f.retries)
	assign(f, "no-stream", &c.Target.NoStream, f.noStream)
	assign(f, "connect-timeout", &c.Target.Timeouts.Connect, campaign.Duration(f.connect))
	assign(f, "first-token-timeout", &c.Target.Timeouts.FirstToken, campaign.Duration(f.firstTok))
	assign(f, "idle-timeout", &c.Target.Timeouts.Idle, campaign.Duration(f.idle))
	assign(f, "total-timeout", &c.Target.Timeouts.Total, campaign.Duration(f.totalTimeout))
	for _, h := range f.headers {
		name, value, ok := strings.Cut(h, ":")
		if !ok || strings.TrimSpace(name) == "" {
			return fmt.Errorf("--header %q: write it as 'Name: value'", name)
		}
		if c.Target.Headers == nil {
			c.Target.Headers = map[string]string{}
		}
		c.Target.Headers[strings.TrimSpace(name)] = strings.TrimSpace(value)
	}

	if f.tokenizer != "none" {
		assign(f, "tokenizer", &c.Workload.Tokenizer, f.tokenizer)
	}
	assign(f, "agent-turns", &c.Agents.Turns, f.agents.Turns)
	if c.Agents.Turns > 0 && c.Agents.Provider == "" {
		c.Agents.Provider = f.agents.Provider
	}
	assign(f, "agent-provider", &c.Agents.Provider, f.agents.Provider)
	assign(f, "agent-model", &c.Agents.Model, f.agents.Model)
	assign(f, "agent-url", &c.Agents.URL, f.agents.URL)
	assign(f, "agent-key-env", &c.Agents.KeyEnv, f.agents.KeyEnv)
	assign(f, "workload", &c.Workload.Model, f.workload)
	assign(f, "isl", &c.Workload.ISL, f.isl)
	assign(f, "osl", &c.Workload.OSL, f.osl)
	assign(f, "turns", &c.Workload.Turns, f.turns)
	assign(f, "think", &c.Workload.Think, f.think)
	assign(f, "tasks", &c.Workload.Tasks, f.tasks)
	assign(f, "reuse-prompts", &c.Workload.ReusePrompts, f.reusePrompts)
	assign(f, "shared-prefix", &c.Workload.SharedPrefix, f.sharedPrefix)
	assign(f, "ignore-eos", &c.Workload.IgnoreEOS, f.ignoreEOS)
	if f.changed("temperature") {
		c.Workload.Temperature = &f.temperature
	}

	if f.changed("slo") || f.changed("goodput") {
		c.SLO = append(slices.Clone(f.slo), f.goodput...)
	}
	assign(f, "find", &c.Find, f.find)
	if f.changed("max-error-rate") {
		c.MaxErrorRate = &f.maxErrorRate
	}
	assign(f, "checkpoints", &c.Checkpoints.Enabled, f.checkpoints)
	if f.noCheckpoints {
		if f.changed("checkpoints") && f.checkpoints {
			return fmt.Errorf("--checkpoints and --no-checkpoints exclude each other")
		}
		c.Checkpoints.Enabled = false
	}
	assign(f, "checkpoint-every", &c.Checkpoints.Every, f.checkpointEvery)
	assign(f, "gsm8k", &c.Checkpoints.GSM8K, f.gsm8k)
	assign(f, "humaneval", &c.Checkpoints.HumanEval, f.humaneval)
	assign(f, "checkpoint-kinds", &c.Checkpoints.Kinds, f.checkKinds)
	assign(f, "checkpoint-items", &c.Checkpoints.Items, f.checkItems)
	if f.changed("humaneval") && !f.changed("checkpoint-kinds") && !slices.Contains(c.Checkpoints.Kinds, campaign.CheckCode) {
		c.Checkpoints.Kinds = append(slices.Clone(c.Checkpoints.Kinds), campaign.CheckCode)
	}
	assign(f, "interval", &c.Monitor.Interval, campaign.Duration(f.interval))
	assign(f, "metrics-url", &c.Monitor.MetricsURL, f.metricsURL)
	assign(f, "gpu-page", &c.Monitor.GPUPage, f.gpuPage)
	assign(f, "gpus", &c.Monitor.GPUs, f.gpus)
	assign(f, "log", &c.Monitor.Log, f.log)
	assign(f, "traces", &c.Monitor.Traces, f.traces)
	assign(f, "seed", &c.Seed, f.seed)
	assign(f, "out", &c.Out, f.out)
	assign(f, "name", &c.Name, f.name)
	if f.changed("scenario") {
		c.Scenario = campaign.Scenario{Name: f.scenario}
		assign(f, "request-rate", &c.Scenario.Rate, f.rate)
		assign(f, "concurrency", &c.Scenario.Concurrency, f.concurrency)
		assign(f, "duration", &c.Scenario.Duration, campaign.Duration(f.duration))
		c.Phases = nil
		return nil
	}
	return f.applyShape(c)
}

// applyShape writes the flags that make a phase into the campaign's only phase.
func (f *runFlags) applyShape(c *campaign.Config) error {
	if !slices.ContainsFunc(shapeFlags, f.changed) && !f.changed("trace") && !f.changed("replay") {
		return nil
	}
	if len(c.Phases) != 1 {
		return fmt.Errorf("the campaign file has %d phases, and flags such as --concurrency shape only one: change the file, or leave the flags out", len(c.Phases))
	}
	p := &c.Phases[0]
	if f.changed("trace") || f.changed("replay") {
		if f.changed("concurrency") || f.changed("request-rate") {
			return fmt.Errorf("--trace and --replay bring their own arrivals: leave --concurrency and --request-rate out")
		}
		p.Concurrency, p.Rate = 0, 0
		if f.changed("trace") {
			p.Trace = &f.trace
		} else {
			p.Replay = &f.replay
		}
		if !f.changed("duration") {
			p.Duration = 0
		}
		if !f.changed("warmup") {
			p.Warmup = campaign.Warmup{}
		}
	}
	if f.changed("request-rate") {
		p.Rate, p.Concurrency = f.rate, 0
		if p.Arrival == "" {
			p.Arrival = campaign.DefaultArrival
		}
		if f.changed("concurrency") {
			p.MaxInFlight = f.concurrency
		}
		if f.rate <= 0 {
			return fmt.Errorf("--request-rate %g: give sessions per second above 0, or leave it out for a closed loop", f.rate)
		}
	} else if f.changed("concurrency") {
		p.Concurrency, p.Rate, p.Arrival = f.concurrency, 0, ""
		if f.concurrency <= 0 {
			return fmt.Errorf("--concurrency %d: give at least 1", f.concurrency)
		}
	}
	if f.changed("requests") {
		if f.requests <= 0 {
			return fmt.Errorf("--requests %d: give at least 1", f.requests)
		}
		p.Requests = f.requests
		if !f.changed("duration") {
			p.Duration = 0
			if !f.changed("warmup") {
				p.Warmup = campaign.Warmup{}
			}
		}
	}
	if f.changed("duration") {
		if f.duration <= 0 {
			return fmt.Errorf("--duration %v: give a time above 0, such as 60s", f.duration)
		}
		p.Duration = campaign.Duration(f.duration)
		if !f.changed("warmup") && p.Warmup.Duration*4 > f.duration {
			p.Warmup.Duration = f.duration / 4
		}
	}
	assign(f, "arrival", &p.Arrival, f.arrival)
	if f.changed("burstiness") {
		p.Arrival = fmt.Sprintf("gamma burstiness=%g", f.burstiness)
	}
	assign(f, "drain", &p.Drain, campaign.Duration(f.drain))
	if f.changed("warmup") {
		w, err := campaign.ParseWarmup(f.warmup)
		if err != nil {
			return fmt.Errorf("--warmup: %w", err)
		}
		p.Warmup = w
	}
	return nil
}

// assign writes v to dst when the flag was given.
func assign[T any](f *runFlags, flag string, dst *T, v T) {
	if f.changed(flag) {
		*dst = v
	}
}

// endpointName accepts the path of an endpoint for its name.
func endpointName(s string) string {
	switch strings.Trim(s, "/") {
	case "v1/chat/completions", "chat/completions":
		return "chat"
	case "v1/completions":
		return "completions"
	default:
		return s
	}
}

// blame names the flag behind each problem that a flag caused.
func (f *runFlags) blame(err error) error {
	ps, ok := err.(campaign.Problems)
	if !ok {
		return err
	}
	out := slices.Clone(ps)
	for i, p := range out {
		for flag, field := range flagFields {
			if field == p.Field && f.changed(flag) {
				out[i].Flag = "--" + flag
			}
		}
		if strings.HasPrefix(p.Field, "slo") && f.changed("find") && !f.changed("slo") {
			out[i].Flag = "--find"
		}
		if strings.HasPrefix(p.Field, "slo[") && (f.changed("slo") || f.changed("goodput")) {
			out[i].Flag = "--slo"
		}
	}
	return out
}
