package campaign

import (
	"fmt"
	"math"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/inferencebench/inferencebench/analyst/roofline"
	"github.com/inferencebench/inferencebench/analyst/slo"
	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/engines"
	"github.com/inferencebench/inferencebench/evals"
	"github.com/inferencebench/inferencebench/loadgen/wire"
	"github.com/inferencebench/inferencebench/tasks"
	"github.com/inferencebench/inferencebench/tasks/scenario"
)

// Problem is one thing wrong with a configuration.
type Problem struct {
	File string // campaign file, "" when the value came from elsewhere
	Line int    // 0 when the file does not have the field
	Flag string // the flag that set the value, such as "--request-rate"
	// Field is the path in the campaign file, such as "phases[0].request_rate".
	Field string
	// Message says what is wrong and what would be right.
	Message string
}

// String has the form place: field: message.
func (p Problem) String() string {
	switch {
	case p.Flag != "":
		return p.Flag + ": " + p.Message
	case p.Line > 0:
		return fmt.Sprintf("%s:%d: %s: %s", p.File, p.Line, p.Field, p.Message)
	default:
		return p.Field + ": " + p.Message
	}
}

// Problems is every problem of a configuration, as one error.
type Problems []Problem

// Error has one line a problem.
func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// limits of what one machine can be asked for by mistake.
const (
	maxConcurrency = 100_000
	maxRate        = 100_000
	maxTime        = 30 * 24 * time.Hour
)

// Validate reports every problem of the configuration as a Problems, or nil. It changes
// nothing and asks no server.
func (c *Config) Validate() error {
	v := &validator{}
	v.target(c.Target)
	v.workload(c.Workload)
	v.agents(c.Agents)
	switch {
	case c.Scenario.Name != "":
		v.scenario(c.Scenario)
	case c.Find == FindMaxRate:
		if _, err := limits(c.SLO); err != nil {
			v.add("slo", "%v", err)
		}
		v.phases(c.Phases, true)
	case c.Find == FindWeakness:
		if _, err := liveLimits(c.SLO); err != nil {
			v.add("slo", "%v", err)
		}
		if c.SearchPhases < 4 || c.SearchPhases > 10_000 {
			v.add("search_phases", "%d is outside 4 to 10000", c.SearchPhases)
		}
		v.phases(c.Phases, true)
	case c.Find != "":
		v.add("find", "%q is not known: use %s or %s", c.Find, FindMaxRate, FindWeakness)
	default:
		v.phases(c.Phases, c.Checkpoints.Only)
	}
	if c.Out == "" {
		v.add("out", "is empty: name the folder for run directories, such as %s", DefaultOut)
	}
	if strings.ContainsAny(c.Name, "/\\\x00") {
		v.add("name", "%q becomes part of a folder's name: use letters, digits and dashes", c.Name)
	}
	v.checkpoints(c.Checkpoints)
	v.metricsURL("monitor.metrics_url", c.Monitor.MetricsURL)
	v.metricsURL("monitor.gpu_page", c.Monitor.GPUPage)
	for i, u := range c.Monitor.MetricsURLs {
		v.metricsURL(fmt.Sprintf("monitor.metrics_urls[%d]", i), u)
	}
	if d := time.Duration(c.Monitor.Interval); d < 50*time.Millisecond || d > time.Hour {
		v.add("monitor.interval", "%v is outside 50ms to 1h", d)
	}
	for i, s := range c.SLO {
		if _, err := slo.Parse(s); err != nil {
			v.add(fmt.Sprintf("slo[%d]", i), "%v", err)
		}
	}
	if r := c.MaxErrorRate; r != nil && (math.IsNaN(*r) || *r < 0 || *r > 1) {
		v.add("max_error_rate", "%g is not a share between 0 and 1", *r)
	}
	if len(v.problems) > 0 {
		return v.problems
	}
	return nil
}

type validator struct{ problems Problems }

func (v *validator) add(field, format string, args ...any) {
	v.problems = append(v.problems, Problem{Field: field, Message: fmt.Sprintf(format, args...)})
}

func (v *validator) target(t Target) {
	if t.URL != "" {
		if _, err := engines.NormalizeBase(t.URL); err != nil {
			v.add("target.url", "%v", err)
		}
	}
	if !slices.Contains(Endpoints(), t.Endpoint) {
		v.add("target.endpoint", "%q is not known: use %s", t.Endpoint, strings.Join(Endpoints(), ", "))
	}
	if t.Client != "" && t.Client != string(wire.EngineEventLoop) {
		v.add("target.client", "%q is not known: leave it empty for net/http, or use %s", t.Client, wire.EngineEventLoop)
	}
	if t.HTTP2 < 0 || t.HTTP2 > 10_000 {
		v.add("target.http2", "%d connections are outside 0 (HTTP/1.1) to 10000", t.HTTP2)
	}
	if t.CAFile != "" {
		if _, err := os.Stat(t.CAFile); err != nil {
			v.add("target.ca_file", "%v", err)
		}
	}
	if t.Proxy != "" && t.Proxy != "env" {
		if u, err := url.Parse(t.Proxy); err != nil || u.Host == "" {
			v.add("target.proxy", "not a proxy URL such as http://host:3128; use env to take the environment's")
		}
	}
	if t.GPU != "" {
		if _, ok := roofline.FindDevice(t.GPU); !ok {
			v.add("target.gpu", "%q is not in the device table; it knows %s", t.GPU, deviceNames())
		}
	}
	if t.TensorParallel < 0 || t.TensorParallel > 1024 {
		v.add("target.tensor_parallel", "%d devices; 0 takes what the server tells", t.TensorParallel)
	}
	if t.ModelConfig != "" {
		if _, err := ReadModel(t.ModelConfig); err != nil {
			v.add("target.model_config", "%v", err)
		}
	}
	if math.IsNaN(t.Carbon) || t.Carbon < 0 || t.Carbon > 1e4 {
		v.add("target.carbon_intensity", "%g is no number of grams of CO2 a kilowatt-hour; grids have 0 to 1,000", t.Carbon)
	}
	if math.IsNaN(t.Price) || t.Price < 0 || t.Price > 1e6 {
		v.add("target.price", "%g is no price in US dollars an hour", t.Price)
	}
	if t.Retries < 0 || t.Retries > 100 {
		v.add("target.retries", "%d is outside 0 to 100", t.Retries)
	}
	if t.ContextLimit < 0 {
		v.add("target.context_limit", "%d tokens; 0 takes what the server tells", t.ContextLimit)
	}
	for _, limit := range []struct {
		name string
		d    Duration
	}{
		{"connect", t.Timeouts.Connect},
		{"first_token", t.Timeouts.FirstToken},
		{"idle", t.Timeouts.Idle},
		{"total", t.Timeouts.Total},
	} {
		if limit.d < 0 {
			v.add("target.timeouts."+limit.name, "%v is negative; 0 is no limit", time.Duration(limit.d))
		}
	}
}

// Endpoints are the APIs that a campaign can speak.
func Endpoints() []string {
	return []string{
		string(wire.EndpointChat), string(wire.EndpointCompletions), string(wire.EndpointResponses), string(wire.EndpointMessages),
		string(wire.EndpointOllama), string(wire.EndpointTGI), string(wire.EndpointTriton),
	}
}

func (v *validator) workload(w Workload) {
	if w.Model != "" {
		if _, err := readModel(w.Model); err != nil {
			v.add("workload.model", "%v", err)
		}
	}
	for _, length := range []struct{ field, s string }{{"isl", w.ISL}, {"osl", w.OSL}, {"turns", w.Turns}} {
		if _, err := tasks.ParseLength(length.s); err != nil {
			v.add("workload."+length.field, "%v", err)
		}
	}
	if _, err := tasks.ParsePause(w.Think); err != nil {
		v.add("workload.think", "%v", err)
	}
	if w.Tasks != "" {
		if _, err := tasks.ParseMix(w.Tasks); err != nil {
			v.add("workload.tasks", "%v", err)
		}
	}
	if _, err := w.counter(); err != nil {
		v.add("workload.tokenizer", "%v (a tokenizer.json, or none)", err)
	}
	if w.SharedPrefix < 0 {
		v.add("workload.shared_prefix", "%d tokens is negative", w.SharedPrefix)
	}
	if t := w.Temperature; t != nil && (math.IsNaN(*t) || *t < 0 || *t > 2) {
		v.add("workload.temperature", "%g is outside 0 to 2", *t)
	}
}

func (v *validator) checkpoints(c Checkpoints) {
	if !c.Enabled {
		if c.Only {
			v.add("checkpoints.only", "checkpoints are off, so nothing would be sent")
		}
		return
	}
	if c.Every < 0 || c.every() == 0 && c.Boundary == 0 {
		v.add("checkpoints.every", "%d: one item every N sessions of load, with N at least 1 (or turn checkpoints off)", c.Every)
	}
	if math.IsNaN(c.Share) || c.Share < 0 || c.Share > 0.5 {
		v.add("checkpoints.share", "%g is not a share between 0 and 0.5 (more than that is an evaluation: see only)", c.Share)
	}
	if c.Boundary < 0 || c.Boundary > 10_000 {
		v.add("checkpoints.boundary", "%d items are outside 0 to 10000", c.Boundary)
	}
	if c.Resume != "" {
		if _, err := archive.Open(c.Resume); err != nil {
			v.add("checkpoints.resume", "%v", err)
		}
	}
	if len(c.Kinds) == 0 {
		v.add("checkpoints.kinds", "is empty: choose of %s, or turn checkpoints off", strings.Join(evals.Kinds(), ", "))
	}
	for i, kind := range c.Kinds {
		switch {
		case kind != "all" && !slices.Contains(evals.Kinds(), kind):
			v.add("checkpoints.kinds", "%q is not known: use %s", kind, strings.Join(evals.Kinds(), ", "))
		case slices.Contains(c.Kinds[:i], kind):
			v.add("checkpoints.kinds", "%q stands there twice", kind)
		}
	}
	if c.Determinism < 0 || c.Determinism > 1000 {
		v.add("checkpoints.determinism", "%d repeats are outside 0 to 1000", c.Determinism)
	}
	if c.Items < 0 {
		v.add("checkpoints.items", "%d is negative; 0 takes all", c.Items)
	}
	if c.GSM8K != "" {
		if _, err := os.Stat(c.GSM8K); err != nil {
			v.add("checkpoints.gsm8k", "%v", err)
		}
	}
	if c.HumanEval != "" {
		if _, err := os.Stat(c.HumanEval); err != nil {
			v.add("checkpoints.humaneval", "%v", err)
		}
	}
}

// metricsURL checks an address of a metrics page.
func (v *validator) metricsURL(field, raw string) {
	if raw == "" || raw == "none" {
		return
	}
	if u, err := url.Parse(raw); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		v.add(field, "not the address of a metrics page, such as http://host:8000/metrics (or none)")
	}
}

func (v *validator) phases(ps []Phase, ends bool) {
	if len(ps) == 0 {
		v.add("phases", "is empty: a campaign needs at least one phase")
	}
	seen := map[string]bool{}
	for i, p := range ps {
		at := func(f string) string { return fmt.Sprintf("phases[%d].%s", i, f) }
		switch {
		case p.Name == "":
			v.add(at("name"), "is empty")
		case seen[p.Name]:
			v.add(at("name"), "%q is used twice: metrics are shown by phase name", p.Name)
		}
		seen[p.Name] = true
		v.shape(p, at)
		if p.Requests < 0 {
			v.add(at("requests"), "%d is negative", p.Requests)
		}
		if d := time.Duration(p.Duration); d < 0 || d > maxTime {
			v.add(at("duration"), "%v is outside 0 to %v", d, maxTime)
		}
		if p.Requests <= 0 && p.Duration <= 0 && p.Trace == nil && p.Replay == nil && !ends {
			v.add(at("duration"), "the phase never ends: give a duration such as 60s or a number of requests above 0")
		}
		if p.Warmup.Requests < 0 || p.Warmup.Duration < 0 {
			v.add(at("warmup"), "%v is negative", p.Warmup)
		}
		if p.Warmup.Duration > 0 && p.Duration > 0 && p.Warmup.Duration >= time.Duration(p.Duration) {
			v.add(at("warmup"), "%v leaves nothing of the phase's %v to measure", p.Warmup.Duration, time.Duration(p.Duration))
		}
		if p.Drain < 0 {
			v.add(at("drain"), "%v is negative", time.Duration(p.Drain))
		}
	}
}

// shape checks what makes the load of a phase.
func (v *validator) shape(p Phase, at func(string) string) {
	closed, open := p.Concurrency != 0, p.Rate != 0
	switch {
	case p.Trace != nil:
		v.trace(*p.Trace, at)
		if closed || open {
			v.add(at("trace"), "a trace brings its own arrivals: leave concurrency and request_rate out")
		}
	case p.Replay != nil:
		v.replay(*p.Replay, at)
		if open {
			v.add(at("replay"), "a replay brings its own arrivals: leave request_rate out")
		}
	case closed && open:
		v.add(at("request_rate"), "concurrency %d and request_rate %g are both set: a phase is a closed loop or an open one (max_in_flight bounds an open loop)", p.Concurrency, p.Rate)
	case !closed && !open:
		v.add(at("concurrency"), "neither concurrency nor request_rate nor trace nor replay is set, so the phase sends nothing")
	}
	if p.Concurrency < 0 || p.Concurrency > maxConcurrency {
		v.add(at("concurrency"), "%d is outside 1 to %d", p.Concurrency, maxConcurrency)
	}
	if math.IsNaN(p.Rate) || p.Rate < 0 || p.Rate > maxRate {
		v.add(at("request_rate"), "%g is not above 0 and at most %d sessions a second", p.Rate, maxRate)
	}
	if !open && p.Arrival != "" {
		v.add(at("arrival"), "%q belongs to an open loop: set request_rate", p.Arrival)
	}
	if open && p.Rate > 0 {
		if _, err := p.process(0); err != nil {
			v.add(at("arrival"), "%v", err)
		}
	}
	if p.MaxInFlight < 0 {
		v.add(at("max_in_flight"), "%d is negative; 0 is no bound", p.MaxInFlight)
	}
	if closed && p.MaxInFlight > 0 {
		v.add(at("max_in_flight"), "only bounds an open loop; this phase has a concurrency")
	}
}

func (v *validator) scenario(sc Scenario) {
	s, err := scenario.Lookup(sc.Name)
	if err != nil {
		v.add("scenario.name", "%v", err)
		return
	}
	if _, err := s.Build(sc.size(0, "")); err != nil {
		v.add("scenario", "%v", err)
	}
}

func (v *validator) agents(a Agents) {
	if math.IsNaN(a.Turns) || a.Turns < 0 || a.Turns > 1 {
		v.add("agents.turns", "%g is not a share between 0 and 1", a.Turns)
	}
	if a.Turns > 0 && (a.Provider == "" || a.Model == "") {
		v.add("agents.model", "a share of turns needs a provider (openai, anthropic, google, ollama) and a model to write them")
	}
	if a.Calls < 0 || a.Tokens < 0 || a.USD < 0 {
		v.add("agents.calls", "limits are 0 (none) or more")
	}
}

func (v *validator) trace(t Trace, at func(string) string) {
	if _, err := os.Stat(t.File); err != nil {
		v.add(at("trace.file"), "%v", err)
	}
	if math.IsNaN(t.Speed) || t.Speed < 0 || t.Speed > 1e6 {
		v.add(at("trace.speed"), "%g is not a factor of time above 0", t.Speed)
	}
	if t.From < 0 || t.To < 0 || t.To > 0 && t.To <= t.From {
		v.add(at("trace.to"), "%v to %v is no part of a trace", time.Duration(t.From), time.Duration(t.To))
	}
	if t.Limit < 0 || t.MaxIn < 0 || t.MaxOut < 0 {
		v.add(at("trace.limit"), "limits are 0 (none) or more")
	}
}

func (v *validator) replay(r Replay, at func(string) string) {
	if _, err := os.Stat(r.File); err != nil {
		v.add(at("replay.file"), "%v", err)
	}
	if r.History != "" && r.History != HistorySame && r.History != HistoryLive {
		v.add(at("replay.history"), "%q is not known: use %s or %s", r.History, HistorySame, HistoryLive)
	}
	if math.IsNaN(r.Speed) || r.Speed < 0 || r.Speed > 1e6 {
		v.add(at("replay.speed"), "%g is not a factor of time above 0", r.Speed)
	}
}

// Resolve fills in what a phase of a file may leave out. It is called once, before
// Validate.
func (c *Config) Resolve() {
	for i := range c.Phases {
		p := &c.Phases[i]
		if p.Name == "" {
			p.Name = fmt.Sprintf("phase-%d", i+1)
		}
		if p.Rate != 0 && p.Arrival == "" {
			p.Arrival = DefaultArrival
		}
		if p.Drain == 0 {
			p.Drain = DefaultDrain
		}
	}
}

func deviceNames() string {
	var names []string
	for _, d := range roofline.Devices() {
		names = append(names, d.Name)
	}
	return strings.Join(names, ", ")
}
