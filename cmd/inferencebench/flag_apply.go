package main

import (
	"encoding/json"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/inferencebench/inferencebench/campaign"
	"github.com/inferencebench/inferencebench/evals"
)

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
	assign(f, "client", &c.Target.Client, f.client)
	assign(f, "http2", &c.Target.HTTP2, f.http2)
	assign(f, "unix-socket", &c.Target.UnixSocket, f.unixSocket)
	assign(f, "no-calibration", &c.NoCalibration, f.noCalibration)
	if f.changed("extra-body") {
		if err := json.Unmarshal([]byte(f.extraBody), &c.Target.ExtraBody); err != nil {
			return fmt.Errorf("--extra-body: not a JSON object: %w", err)
		}
	}
	assign(f, "price", &c.Target.Price, f.price)
	assign(f, "carbon-intensity", &c.Target.Carbon, f.carbon)
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

	assign(f, "tokenizer", &c.Workload.Tokenizer, f.tokenizer)
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
	assign(f, "search-phases", &c.SearchPhases, f.searchPhases)
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
	if f.changed("humaneval") && !f.changed("checkpoint-kinds") && !slices.Contains(c.Checkpoints.Kinds, evals.KindCode) {
		c.Checkpoints.Kinds = append(slices.Clone(c.Checkpoints.Kinds), evals.KindCode)
	}
	assign(f, "interval", &c.Monitor.Interval, campaign.Duration(f.interval))
	assign(f, "metrics-url", &c.Monitor.MetricsURL, f.metricsURL)
	assign(f, "gpu-page", &c.Monitor.GPUPage, f.gpuPage)
	assign(f, "gpus", &c.Monitor.GPUs, f.gpus)
	assign(f, "log", &c.Monitor.Log, f.log)
	assign(f, "kv-events", &c.Monitor.KVEvents, f.kvEvents)
	assign(f, "metrics-addr", &c.Monitor.Page, f.page)
	assign(f, "checkpoint-share", &c.Checkpoints.Share, f.checkShare)
	assign(f, "checkpoint-boundary", &c.Checkpoints.Boundary, f.boundary)
	assign(f, "resume", &c.Checkpoints.Resume, f.resume)
	assign(f, "determinism", &c.Checkpoints.Determinism, f.determinism)
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
