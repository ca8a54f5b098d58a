package main

import (
	"slices"
	"strings"

	"github.com/inferencebench/inferencebench/campaign"
)

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
	"price": "target.price", "carbon-intensity": "target.carbon_intensity", "client": "target.client", "http2": "target.http2", "retry": "target.retries", "ca-file": "target.ca_file", "proxy": "target.proxy",
	"requests": "phases[0].requests", "duration": "phases[0].duration",
	"concurrency": "phases[0].concurrency", "request-rate": "phases[0].request_rate",
	"replay": "phases[0].replay.file", "history": "phases[0].replay.history", "replay-speed": "phases[0].replay.speed",
	"scenario": "scenario.name", "tokenizer": "workload.tokenizer", "agent-turns": "agents.turns", "agent-model": "agents.model",
	"trace": "phases[0].trace.file", "trace-speed": "phases[0].trace.speed", "trace-limit": "phases[0].trace.limit",
	"arrival": "phases[0].arrival", "burstiness": "phases[0].arrival", "warmup": "phases[0].warmup", "drain": "phases[0].drain",
	"workload": "workload.model", "isl": "workload.isl", "osl": "workload.osl", "turns": "workload.turns", "think": "workload.think", "tasks": "workload.tasks",
	"shared-prefix": "workload.shared_prefix", "temperature": "workload.temperature",
	"max-error-rate": "max_error_rate", "checkpoint-every": "checkpoints.every", "gsm8k": "checkpoints.gsm8k",
	"checkpoint-share": "checkpoints.share", "checkpoint-boundary": "checkpoints.boundary", "resume": "checkpoints.resume",
	"checkpoint-kinds": "checkpoints.kinds", "checkpoint-items": "checkpoints.items", "humaneval": "checkpoints.humaneval",
	"interval": "monitor.interval", "out": "out", "name": "name",
	"connect-timeout": "target.timeouts.connect", "first-token-timeout": "target.timeouts.first_token",
	"idle-timeout": "target.timeouts.idle", "total-timeout": "target.timeouts.total",
}

// shapeFlags are the flags that make the one phase of a campaign.
var shapeFlags = []string{"requests", "duration", "concurrency", "request-rate", "arrival", "burstiness", "warmup", "drain"}

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
