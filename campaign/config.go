package campaign

import (
	"math"

	"github.com/inferencebench/inferencebench/archive"
)

// Config is one campaign. Its YAML form is the campaign file; its JSON form, with
// defaults filled in and secrets absent by construction, goes into the manifest.
type Config struct {
	// Name becomes part of the run directory's name.
	Name string `yaml:"name" json:"name"`
	// Seed makes every random choice reproducible.
	Seed uint64 `yaml:"seed" json:"seed"`
	// Out is the folder that holds run directories.
	Out string `yaml:"out" json:"out"`

	// Scenario runs built-in traffic in place of Phases and Workload.
	Scenario Scenario `yaml:"scenario" json:"scenario,omitzero"`

	Target      Target      `yaml:"target" json:"target"`
	Workload    Workload    `yaml:"workload" json:"workload"`
	Checkpoints Checkpoints `yaml:"checkpoints" json:"checkpoints"`
	Monitor     Monitor     `yaml:"monitor" json:"monitor"`
	Agents      Agents      `yaml:"agents" json:"agents,omitzero"`

	// SLO lists objectives, such as "ttft_p99<500ms". A missed one fails the run's gate.
	SLO []string `yaml:"slo" json:"slo"`
	// MaxErrorRate is the share of failed requests, from 0 to 1, above which the run's
	// gate fails. Unset, errors are reported but gate nothing.
	MaxErrorRate *float64 `yaml:"max_error_rate" json:"max_error_rate"`

	// NoCalibration leaves out the second in which the client measures itself before a run.
	NoCalibration bool `yaml:"no_calibration" json:"no_calibration,omitempty"`

	// Find searches instead of running the phases. "max-rate" finds the largest rate that
	// meets SLO, with the first phase's limits on requests, time and open requests.
	// "weakness" looks for traffic that breaks SLO, as close to the ordinary as can be,
	// with the first phase's rate as the ordinary one and its duration for each try.
	Find string `yaml:"find" json:"find,omitempty"`
	// SearchPhases is how many phases a search for weaknesses may explore with.
	SearchPhases int `yaml:"search_phases" json:"search_phases,omitempty"`

	// Phases run one after the other.
	Phases []Phase `yaml:"phases" json:"phases"`
}

// Scenario is built-in traffic, scaled. Zero fields take the scenario's own.
type Scenario struct {
	Name        string   `yaml:"name" json:"name,omitempty"`
	Rate        float64  `yaml:"request_rate" json:"request_rate,omitempty"`
	Concurrency int      `yaml:"concurrency" json:"concurrency,omitempty"`
	Duration    Duration `yaml:"duration" json:"duration,omitempty"`
}

// Agents is the model that writes user turns. It is never the model under test unless
// the user says so, and it is never on the send path: a turn that is not ready when it is
// due comes from the seeded generator.
type Agents struct {
	// Provider is "openai" (any OpenAI-compatible server), "anthropic", "google" or
	// "ollama".
	Provider string `yaml:"provider" json:"provider,omitempty"`
	Model    string `yaml:"model" json:"model,omitempty"`
	URL      string `yaml:"url" json:"url,omitempty"`
	// KeyEnv names the environment variable that holds the model's key.
	KeyEnv string `yaml:"key_env" json:"key_env,omitempty"`
	// Turns is the share of sessions, 0 to 1, whose later turns the model writes.
	Turns float64 `yaml:"turns" json:"turns,omitempty"`
	// Calls, Tokens and USD bound what may be spent; 0 is no limit.
	Calls  int     `yaml:"calls" json:"calls,omitempty"`
	Tokens int     `yaml:"tokens" json:"tokens,omitempty"`
	USD    float64 `yaml:"usd" json:"usd,omitempty"`
}

// Target is the server under test.
type Target struct {
	// URL is the server's base URL, with or without /v1. Empty means the embedded
	// simulated engine.
	URL string `yaml:"url" json:"url"`
	// Model is the model name to send. Empty: the only one that /v1/models lists.
	Model string `yaml:"model" json:"model"`
	// Endpoint is the API to speak, one of Endpoints.
	Endpoint string `yaml:"endpoint" json:"endpoint"`
	// Headers are sent with every request. A value of the form ${NAME} is read from the
	// environment; values are never recorded.
	Headers map[string]string `yaml:"headers" json:"-"`
	// KeyEnv names the environment variable that holds the bearer key.
	KeyEnv string `yaml:"key_env" json:"key_env"`
	// CAFile is a PEM file of certificates to trust beside the system's.
	CAFile string `yaml:"ca_file" json:"ca_file,omitempty"`
	// Insecure accepts any certificate.
	Insecure bool `yaml:"insecure" json:"insecure,omitempty"`
	// Proxy is a proxy URL, or "env" for the proxy of the environment. Empty: none.
	Proxy string `yaml:"proxy" json:"-"`
	// ExtraBody is merged into every request body.
	ExtraBody map[string]any `yaml:"extra_body" json:"extra_body,omitempty"`
	// NoStream asks for whole answers instead of streams.
	NoStream bool `yaml:"no_stream" json:"no_stream,omitempty"`
	// Client is the transport: "" for net/http, "epoll" for one event loop that holds
	// thousands of streams. HTTP2 is a number of shared HTTP/2 connections; 0 speaks
	// HTTP/1.1 with a connection a request.
	Client string `yaml:"client" json:"client,omitempty"`
	HTTP2  int    `yaml:"http2" json:"http2,omitempty"`
	// UnixSocket is the path of a Unix socket to connect to.
	UnixSocket string `yaml:"unix_socket" json:"unix_socket,omitempty"`
	// Retries is how often a failed request is sent again. By default never: a benchmark
	// that retries hides what users see. Latency counts from the first try.
	Retries int `yaml:"retries" json:"retries,omitempty"`
	// Timeouts limit one request. 0 is no limit.
	Timeouts Timeouts `yaml:"timeouts" json:"timeouts"`
	// Production says that users depend on the server: experiments are then only made when
	// they are asked for in so many words.
	Production bool `yaml:"production" json:"production,omitempty"`
	// ContextLimit is the server's context in tokens; 0 takes what the server tells.
	ContextLimit int `yaml:"context_limit" json:"context_limit,omitempty"`
	// Price is what the deployment costs in US dollars an hour; 0 is unknown.
	Price float64 `yaml:"price" json:"price,omitempty"`
	// Carbon is how many grams of CO2 equivalent a kilowatt-hour of the server's electricity
	// stands for; 0 is unknown.
	Carbon float64 `yaml:"carbon_intensity" json:"carbon_intensity,omitempty"`
	// GPU, TensorParallel and ModelConfig tell the analysis about hardware and model
	// where the server does not: a device name such as "h100_sxm", the number of devices
	// that share a layer, and a config.json or GGUF file.
	GPU            string `yaml:"gpu" json:"gpu,omitempty"`
	TensorParallel int    `yaml:"tensor_parallel" json:"tensor_parallel,omitempty"`
	ModelConfig    string `yaml:"model_config" json:"model_config,omitempty"`
}

// Timeouts limit the stages of one request; 0 is no limit.
type Timeouts struct {
	Connect    Duration `yaml:"connect" json:"connect"`
	FirstToken Duration `yaml:"first_token" json:"first_token"`
	Idle       Duration `yaml:"idle" json:"idle"`
	Total      Duration `yaml:"total" json:"total"`
}

// Workload is what the users of the campaign talk about, and how long.
type Workload struct {
	// Model is a private workload model that `inferencebench learn` wrote. It sets the
	// lengths, turns, pauses and mix; the other fields are then ignored but for those that
	// say so.
	Model string `yaml:"model" json:"model,omitempty"`
	// ISL and OSL are the lengths of new input and of output, in tokens: a number,
	// "uniform(a,b)", "lognormal(mu,sigma)[min,max]", or "preset:NAME".
	ISL string `yaml:"isl" json:"isl"`
	OSL string `yaml:"osl" json:"osl"`
	// Turns is the number of user turns of a session, in the same notation.
	Turns string `yaml:"turns" json:"turns"`
	// Think is the pause of a user between a reply and the next turn: a time, or
	// "lognormal(5s,0.6)".
	Think string `yaml:"think" json:"think"`
	// Tasks weighs the task kinds, as "chat=3,code=1"; empty is the built-in mix.
	Tasks string `yaml:"tasks" json:"tasks,omitempty"`
	// Tokenizer is a Hugging Face tokenizer.json that counts prompt tokens; empty
	// estimates them.
	Tokenizer string `yaml:"tokenizer" json:"tokenizer,omitempty"`
	// SharedPrefix is the length of a system prompt that all sessions share, in tokens.
	SharedPrefix int `yaml:"shared_prefix" json:"shared_prefix,omitempty"`
	// ReusePrompts sends the same prompts as an earlier run with this seed. By default
	// each run's prompts are its own, so that they do not hit a warm prefix cache.
	ReusePrompts bool `yaml:"reuse_prompts" json:"reuse_prompts,omitempty"`
	// IgnoreEOS asks the server for exactly OSL tokens, where it understands that.
	IgnoreEOS bool `yaml:"ignore_eos" json:"ignore_eos,omitempty"`
	// Temperature is sent when set.
	Temperature *float64 `yaml:"temperature" json:"temperature,omitempty"`
}

// Checkpoints are scored items sent inside the load.
type Checkpoints struct {
	Enabled bool `yaml:"enabled" json:"enabled"`
	// Every is how many sessions of load go by between two items. 0 sends none between
	// sessions, which needs Boundary.
	Every int `yaml:"every" json:"every"`
	// Share, when set, is the share of sessions that are items, in place of Every.
	Share float64 `yaml:"share" json:"share,omitempty"`
	// Boundary is how many items are sent before each phase and after the last, at the
	// concurrency of the phase. The same items come at every boundary.
	Boundary int `yaml:"boundary" json:"boundary,omitempty"`
	// Resume is a run directory whose scored items are left out: what is left of an
	// evaluation that was interrupted.
	Resume string `yaml:"resume" json:"resume,omitempty"`
	// Kinds are the kinds of item, of evals.Kinds, or "all"; several take turns.
	Kinds []string `yaml:"kinds" json:"kinds"`
	// Items bounds the items of each kind; 0 takes all. The same seed takes the same.
	Items int `yaml:"items" json:"items,omitempty"`
	// GSM8K and HumanEval are files of the real data sets; empty uses the built-in items.
	GSM8K     string `yaml:"gsm8k" json:"gsm8k,omitempty"`
	HumanEval string `yaml:"humaneval" json:"humaneval,omitempty"`
	// LongTokens are the lengths of long documents, for items of that kind; empty is 2,000.
	LongTokens []int `yaml:"long_tokens" json:"long_tokens,omitempty"`
	// Determinism asks the same prompts this often alone and under load after the phases,
	// and measures where the replies part; 0 does not.
	Determinism int `yaml:"determinism" json:"determinism,omitempty"`
	// Only sends nothing but the items, each once unless a phase says otherwise.
	Only bool `yaml:"only" json:"only,omitempty"`
}

// every returns how many sessions of load go by between two items; 0 is no item between
// sessions.
func (c Checkpoints) every() int {
	if c.Share > 0 {
		return max(1, int(math.Round(1/c.Share))-1)
	}
	return c.Every
}

// Monitor says what to watch, and how often.
type Monitor struct {
	Interval Duration `yaml:"interval" json:"interval"`
	// MetricsURL overrides the metrics page that discovery finds; "none" reads none.
	// MetricsURLs are further pages with the same names, such as those of several engines
	// behind one address.
	MetricsURL  string   `yaml:"metrics_url" json:"metrics_url,omitempty"`
	MetricsURLs []string `yaml:"metrics_urls" json:"metrics_urls,omitempty"`
	// GPU reads this machine's GPUs, or those of GPUPage, the page of a DCGM or AMD
	// exporter. GPUs picks those that count, as indices or UUIDs; empty means those that
	// the server uses, where that can be told.
	GPU     bool   `yaml:"gpu" json:"gpu"`
	GPUPage string `yaml:"gpu_page" json:"gpu_page,omitempty"`
	GPUs    string `yaml:"gpus" json:"gpus,omitempty"`
	// Log is the server's log: a path, journald:UNIT or docker:NAME.
	Log string `yaml:"log" json:"log,omitempty"`
	// KVEvents is where the server publishes what happens to its cache's blocks:
	// tcp://HOST:PORT, or listen:ADDRESS.
	KVEvents string `yaml:"kv_events" json:"kv_events,omitempty"`
	// Page is an address to serve a live metrics page at during the run, such as
	// 127.0.0.1:9464; empty serves none.
	Page string `yaml:"page" json:"page,omitempty"`
	// Traces is an address to take the server's request spans in at (OTLP over HTTP), such
	// as 127.0.0.1:4318.
	Traces string `yaml:"traces" json:"traces,omitempty"`
}

// temperature returns the workload's temperature as records know it.
func (w Workload) temperature() archive.Opt[float64] {
	if w.Temperature == nil {
		return archive.Opt[float64]{}
	}
	return archive.Some(*w.Temperature)
}
