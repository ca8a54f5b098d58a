//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/inferencebench/inferencebench/loadgen/null"
)

// load is what a client is asked to send: independent arrivals at a rate, or users that
// each have one request open.
type load struct {
	url      string // with the shape, without /v1
	shape    null.Shape
	requests int
	rate     float64 // 0 where users is set
	users    int
}

// model is the name that the null server lists.
const model = "null-model-of-no-size-at-all"

// promptTokens is the length of a prompt.
const promptTokens = 128

// reported is what a client says at the end, in milliseconds.
type reported struct {
	TTFT, ITL pair
	// Mean is whether ITL is over requests, of each one's mean, in place of over gaps.
	Mean bool
}

// tool is one client.
type tool struct {
	name, version string
	program       string // its absolute path
	env           []string
	// args writes what the client needs into a folder and returns its arguments.
	args func(l *load, dir string) ([]string, error)
	// read returns what the client reported.
	read func(dir string) (reported, error)
	note string
}

// tools returns the clients in the order they take turns in.
func tools(o *options) []tool {
	tokens := filepath.Join(o.envs, "tokenizer")
	env := func(name, program string) string { return filepath.Join(o.envs, name, "bin", program) }
	offline := []string{"HF_HUB_OFFLINE=1"}
	return []tool{
		{name: "InferenceBench", program: o.ours, args: oursArgs(""), read: oursRead},
		{name: "InferenceBench, event loop", program: o.ours, args: oursArgs("epoll"), read: oursRead},
		{
			name: "AIPerf", program: env("aiperf", "aiperf"), read: aiperfRead,
			args: func(l *load, dir string) ([]string, error) {
				a := []string{
					"profile", "-m", model, "--url", l.url, "--endpoint-type", "chat", "--streaming", "--request-count", strconv.Itoa(l.requests),
					"--isl", strconv.Itoa(promptTokens), "--osl", strconv.Itoa(l.shape.Chunks), "--tokenizer", tokens, "--use-server-token-count",
					"--artifact-dir", dir, "--ui", "none", "--no-server-metrics", "--no-gpu-telemetry",
				}
				if l.users > 0 {
					return append(a, "--concurrency", strconv.Itoa(l.users)), nil
				}
				return append(a, "--request-rate", number(l.rate), "--arrival-pattern", "poisson"), nil
			},
		},
		{
			name: "guidellm", program: env("guidellm", "guidellm"), read: guidellmRead,
			env:  append([]string{"GUIDELLM__MAX_WORKER_PROCESSES=2"}, offline...),
			note: "with two worker processes, one for each core; by default it starts ten, which take most of a minute to start here",
			args: func(l *load, dir string) ([]string, error) {
				profile := "kind=poisson,rate=" + number(l.rate)
				if l.users > 0 {
					profile = "kind=concurrent,streams=" + strconv.Itoa(l.users)
				}
				return []string{
					"run", "--backend", "kind=openai_http,target=" + l.url, "--profile", profile,
					"--constraint", "kind=max_requests,count=" + strconv.Itoa(l.requests), "--tokenizer", "kind=huggingface_auto,model=" + tokens,
					"--data", fmt.Sprintf("kind=synthetic_text,prompt_tokens=%d,output_tokens=%d", promptTokens, l.shape.Chunks),
					"--output", "kind=json,path=" + filepath.Join(dir, "out.json"), "--disable-progress",
				}, nil
			},
		},
		{
			name: "inference-perf", program: env("inference-perf", "inference-perf"), env: offline, read: inferencePerfRead,
			note: "over /v1/completions, the only API for which it makes prompts of a given length; the others use /v1/chat/completions",
			args: func(l *load, dir string) ([]string, error) {
				stage := fmt.Sprintf("{type: poisson, num_workers: 2, stages: [{rate: %s, duration: %d}]}", number(l.rate), int(float64(l.requests)/max(l.rate, 1)))
				if l.users > 0 {
					stage = fmt.Sprintf("{type: concurrent, num_workers: 2, worker_max_concurrency: %d, stages: [{num_requests: %d, concurrency_level: %d}]}", l.users, l.requests, l.users)
				}
				file := filepath.Join(dir, "config.yaml")
				text := fmt.Sprintf(`api: {type: completion, streaming: true}
data: {type: shared_prefix, shared_prefix: {num_groups: 1, num_prompts_per_group: %d, system_prompt_len: 28, question_len: %d, output_len: %d}}
load: %s
server: {type: vllm, model_name: %q, base_url: %q, ignore_eos: true}
tokenizer: {pretrained_model_name_or_path: %q}
report: {request_lifecycle: {summary: true, per_stage: false, per_request: false, percentiles: [50, 99]}}
storage: {local_storage: {path: %q}}
`, l.requests, promptTokens-28, l.shape.Chunks, stage, model, l.url, tokens, filepath.Join(dir, "out"))
				return []string{"-c", file}, os.WriteFile(file, []byte(text), 0o600)
			},
		},
		{
			name: "vLLM bench serve", program: env("vllm", "python"), env: offline, read: vllmRead,
			note: "its client unpacked from vLLM's own wheel and run without the rest of vLLM (scripts/bench-peers-vllm.py)",
			args: func(l *load, dir string) ([]string, error) {
				a := []string{
					filepath.Join(o.envs, "bench-peers-vllm.py"), filepath.Join(o.envs, "vllm-source"),
					"--backend", "openai-chat", "--base-url", l.url, "--endpoint", "/v1/chat/completions", "--model", model, "--tokenizer", tokens,
					"--dataset-name", "random", "--random-input-len", strconv.Itoa(promptTokens), "--random-output-len", strconv.Itoa(l.shape.Chunks),
					"--num-prompts", strconv.Itoa(l.requests), "--save-result", "--result-dir", dir, "--result-filename", "out.json",
					"--percentile-metrics", "ttft,tpot,itl,e2el", "--metric-percentiles", "50,99", "--disable-tqdm",
				}
				if l.users > 0 {
					return append(a, "--max-concurrency", strconv.Itoa(l.users)), nil
				}
				return append(a, "--request-rate", number(l.rate)), nil
			},
		},
	}
}

func number(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

func oursArgs(client string) func(l *load, dir string) ([]string, error) {
	return func(l *load, dir string) ([]string, error) {
		a := []string{
			"run", "--url", l.url, "--model", model, "--isl", strconv.Itoa(promptTokens), "--osl", strconv.Itoa(l.shape.Chunks), "--turns", "1",
			"--requests", strconv.Itoa(l.requests), "--warmup", "0", "--no-checkpoints", "--metrics-url", "none", "--out", dir, "--quiet",
		}
		if client != "" {
			a = append(a, "--client", client)
		}
		if l.users > 0 {
			return append(a, "--concurrency", strconv.Itoa(l.users)), nil
		}
		return append(a, "--request-rate", number(l.rate)), nil
	}
}

// one reads the only file that a pattern matches.
func one(pattern string, v any) error {
	files, err := filepath.Glob(pattern)
	if err != nil {
		return err
	}
	if len(files) != 1 {
		return fmt.Errorf("%d files are %s; want one", len(files), pattern)
	}
	b, err := os.ReadFile(files[0])
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("%s: %w", files[0], err)
	}
	return nil
}

// version returns the version of a package in an environment of Python.
func version(envs, name, pkg string) string {
	files, _ := filepath.Glob(filepath.Join(envs, name, "lib", "python*", "site-packages", pkg+"-*.dist-info"))
	if len(files) != 1 {
		return ""
	}
	return strings.TrimSuffix(strings.TrimPrefix(filepath.Base(files[0]), pkg+"-"), ".dist-info")
}
