package engines

// Knob is one setting of a server, as data for a search over settings.
type Knob struct {
	// Name is the flag, variable or key as it is typed, such as "--max-num-seqs".
	Name  string `yaml:"name"`
	Short string `yaml:"short"`
	// Surface is where it is set: "flag", "env", "yaml" (a key of the server's own
	// configuration file) or "request" (a field of each request); "" is flag.
	Surface string `yaml:"surface"`
	// Type is "int", "float", "bool", "enum", "string", "list" or "json".
	Type string `yaml:"type"`
	// Default is the value when it is not set, as typed, or words such as "auto".
	Default string `yaml:"default"`
	Unit    string `yaml:"unit"`
	// Min and Max bound a number, inclusive; nil where there is no bound.
	Min *float64 `yaml:"min"`
	Max *float64 `yaml:"max"`
	// Values are the allowed values of an enum.
	Values []string `yaml:"values"`
	// Search are values worth trying, as typed. It is a suggestion of this program's, not
	// of the server's makers; empty means: not worth searching.
	Search []string `yaml:"search"`
	// Effect is what it does, in a few words.
	Effect string `yaml:"effect"`
	// Relieves lists the causes that turning it can help against; see [Causes].
	Relieves []string `yaml:"relieves"`
	// Risks lists what turning it can cost; see [Risks].
	Risks []string `yaml:"risks"`
	// Live is set when it changes without a restart.
	Live bool `yaml:"live"`
	// With names settings that it needs, Excludes those that it cannot be set together with.
	With     []string `yaml:"with"`
	Excludes []string `yaml:"excludes"`
	Since    string   `yaml:"since"`
	Until    string   `yaml:"until"`
	Note     string   `yaml:"note"`
}

// Causes lists what a knob may relieve, name to meaning.
func Causes() map[string]string {
	return map[string]string{
		"prefill_bound":    "prompt processing is limited by compute",
		"decode_bound":     "token generation is limited by memory bandwidth",
		"kv_capacity":      "the KV cache is too small for the load",
		"batch_cap":        "the limit on running sequences is reached while cache is free",
		"token_budget":     "the token budget of a step is used up",
		"interference":     "prompt processing delays running generations",
		"host_bound":       "CPU work leaves the GPU idle",
		"launch_bound":     "kernel launches take longer than the kernels",
		"comm_bound":       "traffic between devices limits",
		"prefix_reuse":     "shared prefixes are computed again",
		"overload":         "more load is offered than can be served",
		"weights_capacity": "the weights do not fit",
		"streaming":        "sending each token costs too much",
		"spec_decode":      "drafted tokens cost more than they save, or too few are drafted",
		"startup":          "starting takes too long",
	}
}

// Risks lists what turning a knob may cost, name to meaning.
func Risks() map[string]string {
	return map[string]string{
		"oom":             "may run out of device memory",
		"quality":         "may change the answers",
		"latency_tail":    "may lengthen the slowest requests",
		"throughput_drop": "may lower throughput",
		"reject_requests": "may refuse requests",
		"start_failure":   "may not start",
		"correctness":     "may produce wrong answers",
		"startup_slow":    "starts more slowly",
		"context_limit":   "may shorten the longest request",
		"host_memory":     "takes host memory",
	}
}

// LogPattern is a line of the server's log that tells something.
type LogPattern struct {
	ID string `yaml:"id"` // such as "kv_size"
	// Severity is "info", "warning", "error" or "fatal".
	Severity string `yaml:"severity"`
	// Regex is in Go's syntax and matches within one line.
	Regex string `yaml:"regex"`
	// Fields name the groups of Regex in order.
	Fields []string `yaml:"fields"`
	// Means is what to make of it, one clause.
	Means string `yaml:"means"`
}

// Quirks are departures from the OpenAI API and choices within it. "yes", "no", "flag"
// (see the note) or "" (not known) where the type is a string.
type Quirks struct {
	IncludeUsage    string `yaml:"include_usage"`    // honours stream_options.include_usage
	ContinuousUsage string `yaml:"continuous_usage"` // can send usage in every chunk
	IgnoreEOS       string `yaml:"ignore_eos"`       // honours ignore_eos
	MinTokens       string `yaml:"min_tokens"`
	CachedTokens    string `yaml:"cached_tokens"` // usage tells the cached prompt tokens
	// CachedTokensFlag switches CachedTokens on.
	CachedTokensFlag string `yaml:"cached_tokens_flag"`
	// ReasoningField is the delta's field with reasoning text.
	ReasoningField string `yaml:"reasoning_field"`
	// Priority is "lower_first", "higher_first" or "" where there is no priority field.
	Priority string `yaml:"priority"`
	// CacheSalt is the request field that keeps a request's prefix cache to itself.
	CacheSalt string `yaml:"cache_salt"`
	// OverloadStatus is the status code of a full queue; 0 when not known.
	OverloadStatus int `yaml:"overload_status"`
	// RequestMetrics is the response field with the server's own timings of the request.
	RequestMetrics string `yaml:"request_metrics"`
	// ChecksModel is "no" when any model name is accepted.
	ChecksModel string `yaml:"checks_model"`
	// Notes are further traps, one sentence each.
	Notes []string `yaml:"notes"`
}
