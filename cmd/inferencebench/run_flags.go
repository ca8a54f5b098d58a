package main

import (
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/inferencebench/inferencebench/campaign"
	"github.com/inferencebench/inferencebench/evals"
)

// runFlags are the flags of `run` that change the campaign. A flag that was not given
// leaves the campaign file's value, or the default, alone.
type runFlags struct {
	set *pflag.FlagSet

	url, host, model, endpoint string
	port                       int
	headers                    []string
	client, unixSocket         string
	http2                      int
	price, carbon              float64
	noCalibration              bool
	extraBody                  string
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
	searchPhases       int
	slo                []string
	goodput            []string
	maxErrorRate       float64
	checkpoints        bool
	noCheckpoints      bool
	checkpointEvery    int
	checkKinds         []string
	checkItems         int
	checkShare         float64
	boundary           int
	resume             string
	determinism        int
	gsm8k, humaneval   string
	interval           time.Duration
	metricsURL         string
	gpuPage, gpus      string
	log, traces        string
	kvEvents, page     string
	out, name          string
	connect, firstTok  time.Duration
	idle, totalTimeout time.Duration
}

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
	s.StringVar(&f.endpoint, "endpoint", campaign.DefaultEndpoint, "API to speak: "+strings.Join(campaign.Endpoints(), ", "))
	s.StringVar(&f.client, "client", "", "transport: empty for net/http, epoll for one event loop that holds thousands of streams")
	s.IntVar(&f.http2, "http2", 0, "shared HTTP/2 connections; 0 speaks HTTP/1.1")
	s.StringVar(&f.unixSocket, "unix-socket", "", "path of a Unix socket to connect to")
	s.BoolVar(&f.noCalibration, "no-calibration", false, "leave out the second in which the client measures itself")
	s.StringArrayVar(&f.headers, "header", nil, "extra header as 'Name: value'; ${VAR} takes the value from the environment; repeatable")
	s.StringVar(&f.keyEnv, "key-env", campaign.DefaultKeyEnv, "environment variable that holds the bearer key")
	s.StringVar(&f.caFile, "ca-file", "", "PEM file of certificates to trust")
	s.BoolVar(&f.insecure, "insecure", false, "accept any TLS certificate")
	s.StringVar(&f.proxy, "proxy", "", "proxy URL, or env for the environment's; default: none")
	s.StringVar(&f.extraBody, "extra-body", "", "JSON object whose fields are merged into every request body, such as '{\"top_k\": 20}'")
	s.IntVar(&f.retries, "retry", 0, "how often a failed request is sent again; every try is recorded")
	s.Float64Var(&f.price, "price", 0, "what the deployment costs in US dollars an hour; default: unknown")
	s.Float64Var(&f.carbon, "carbon-intensity", 0, "grams of CO2 a kilowatt-hour of the server's electricity stands for; default: no carbon is reported")
	s.StringVar(&f.gpu, "gpu", "", "the server's GPU, such as h100_sxm, for the roofline; default: what can be seen")
	s.IntVar(&f.tensorParallel, "tp", 0, "GPUs that share a layer; default: what the server tells, else 1")
	s.StringVar(&f.modelConfig, "model-config", "", "config.json or GGUF file with the model's shape; default: by the model's name")

	s.IntVar(&f.requests, "requests", 0, "end after this many requests (also --num-prompts); of a --find max-rate search: what it may spend on bracketing and refining")
	s.DurationVar(&f.duration, "duration", time.Duration(campaign.DefaultDuration), "end after this time")
	s.IntVar(&f.concurrency, "concurrency", campaign.DefaultConcurrency, "closed loop: sessions active at any moment; with --request-rate: a bound on open requests")
	s.Float64Var(&f.rate, "request-rate", 0, "open loop: sessions that start each second")
	s.StringVar(&f.arrival, "arrival", campaign.DefaultArrival, "arrivals of an open loop: poisson, constant, 'gamma cv=2', 'spike peak=50 at=30s', ... (see init)")
	s.Float64Var(&f.burstiness, "burstiness", 1, "gamma shape of the gaps of an open loop, as vLLM has it: 1 is poisson, less is burstier")
	s.StringVar(&f.warmup, "warmup", "5s", "what to send first and leave out: a number of requests, or a time (part of --duration; at most a quarter of it by default)")
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
	s.StringVar(&f.tokenizer, "tokenizer", "", "tokenizer.json that counts tokens where the server does not; none: no counts of our own")
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
	s.StringVar(&f.find, "find", "", "search: max-rate for the largest rate that meets --slo, weakness for traffic that breaks it")
	s.IntVar(&f.searchPhases, "search-phases", 30, "phases that a search for weaknesses may explore with")
	s.StringArrayVar(&f.goodput, "goodput", nil, "per-request limits in milliseconds, as vLLM writes them: 'ttft:200 tpot:20'")
	s.Float64Var(&f.maxErrorRate, "max-error-rate", 0, "share of failed requests above which the run exits 1")
	s.BoolVar(&f.checkpoints, "checkpoints", true, "send scored items inside the load")
	s.BoolVar(&f.noCheckpoints, "no-checkpoints", false, "send none")
	s.IntVar(&f.checkpointEvery, "checkpoint-every", campaign.DefaultEvery, "sessions of load between two scored items")
	s.StringSliceVar(&f.checkKinds, "checkpoint-kinds", []string{evals.KindMaths}, "kinds of scored items: all, or of "+strings.Join(evals.Kinds(), ", "))
	s.Float64Var(&f.checkShare, "checkpoint-share", 0, "share of sessions that are scored items, in place of --checkpoint-every")
	s.IntVar(&f.boundary, "checkpoint-boundary", 0, "scored items before each phase and after the last")
	s.StringVar(&f.resume, "resume", "", "run whose scored items are left out: the rest of an interrupted evaluation")
	s.IntVar(&f.determinism, "determinism", 0, "ask the same prompts this often alone and under load, and say where replies part")
	s.IntVar(&f.checkItems, "checkpoint-items", 0, "items of each kind; default: all")
	s.StringVar(&f.humaneval, "humaneval", "", "HumanEval.jsonl.gz to take the code items from; default: built-in items")
	s.StringVar(&f.gsm8k, "gsm8k", "", "GSM8K test.jsonl to take the items from; default: built-in items")

	s.DurationVar(&f.interval, "interval", time.Duration(campaign.DefaultInterval), "time between two telemetry samples")
	s.StringVar(&f.metricsURL, "metrics-url", "", "the engine's metrics page; none reads none; default: discovered")
	s.StringVar(&f.gpuPage, "gpu-page", "", "page of a DCGM or AMD exporter, for GPUs of another machine")
	s.StringVar(&f.gpus, "gpus", "", "GPUs that count, as indices or UUIDs; default: those that the server uses, where that can be told")
	s.StringVar(&f.log, "log", "", "the server's log: a path, journald:UNIT or docker:NAME")
	s.StringVar(&f.kvEvents, "kv-events", "", "where the server publishes KV cache events: tcp://HOST:PORT or listen:ADDRESS")
	s.StringVar(&f.page, "metrics-addr", "", "address to serve live metrics at during the run, such as 127.0.0.1:9464")
	s.StringVar(&f.traces, "traces", "", "address to take the server's request spans in at (OTLP over HTTP), such as 127.0.0.1:4318")
	s.Uint64Var(&f.seed, "seed", 1, "seed of every random choice")
	s.StringVar(&f.out, "out", campaign.DefaultOut, "folder for run directories")
	s.StringVar(&f.name, "name", "", "name of the run")

	s.DurationVar(&f.connect, "connect-timeout", time.Duration(campaign.DefaultConnect), "limit on connecting; 0: none")
	s.DurationVar(&f.firstTok, "first-token-timeout", 0, "limit on the wait for the first token; 0: none")
	s.DurationVar(&f.idle, "idle-timeout", 0, "limit on silence inside a stream; 0: none")
	s.DurationVar(&f.totalTimeout, "total-timeout", 0, "limit on a whole request; 0: none")
}
