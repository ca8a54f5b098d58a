package live

import (
	"fmt"
	"math"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/inferencebench/inferencebench/analyst/slo"
	"github.com/inferencebench/inferencebench/campaign"
	"github.com/inferencebench/inferencebench/engines"
	"github.com/inferencebench/inferencebench/tuner"
)

// File is a study as a user asks for it: the study file, or the flags of `tune`. Its JSON
// form, which holds no secret, is kept beside the journal.
type File struct {
	Name string `yaml:"name" json:"name"`
	Seed uint64 `yaml:"seed" json:"seed"`
	// Out is the folder of the study; empty makes a new one under DefaultOut.
	Out string `yaml:"out" json:"out"`

	// Engine names the adapter whose knobs are tuned; empty asks the launch command and the
	// server. Command is the launch command of the server as it runs now; empty leaves the
	// server alone: what would be tried is printed, and nothing is changed.
	Engine  string   `yaml:"engine" json:"engine,omitempty"`
	Command []string `yaml:"command" json:"command,omitempty"`
	// Simulate runs Command, under vLLM's names, in the simulated engine of this program.
	Simulate bool `yaml:"simulate" json:"simulate,omitempty"`

	// Launcher says how the server is started and stopped.
	Launcher Launcher `yaml:"launcher" json:"launcher"`

	// StartTimeout is how long a launch may take to be ready; 0 follows from the size of the
	// weights where that is known, see [launch.TimeoutFor]. KeepMemoryMB is the host memory, in
	// MiB, that must stay available: a server that takes more is stopped.
	StartTimeout campaign.Duration `yaml:"start_timeout" json:"start_timeout"`
	KeepMemoryMB int               `yaml:"keep_memory_mb" json:"keep_memory_mb"`

	Target campaign.Target `yaml:"target" json:"target"`
	// Kept stands in the record for what of Target is not written down; see [File.Record].
	Kept Kept `yaml:"-" json:"kept,omitzero"`

	// Knobs are what may be changed: names with the values to try, or none for those that the
	// adapter suggests. Empty takes every knob that the adapter has suggestions for. Nothing
	// else is ever set.
	Knobs map[string][]string `yaml:"knobs" json:"knobs,omitempty"`
	// Strategy is the search, one of Strategies.
	Strategy string `yaml:"strategy" json:"strategy"`

	// Goal is what to optimise, such as "max:output_throughput"; see [ParseGoal]. MinGain is
	// the gain below which a change is not worth making.
	Goal    string   `yaml:"goal" json:"goal"`
	MinGain float64  `yaml:"min_gain" json:"min_gain"`
	SLO     []string `yaml:"slo" json:"slo,omitempty"`

	Budget Budget `yaml:"budget" json:"budget"`
	// Price is what the machine costs in US dollars an hour, all devices together; 0: unknown.
	Price float64 `yaml:"price" json:"price,omitempty"`

	Load        Load                 `yaml:"load" json:"load"`
	Checkpoints campaign.Checkpoints `yaml:"checkpoints" json:"checkpoints"`
	// Integrity says how thoroughly each launch is asked whether its speed is that of serving
	// the model: "full", "small" for slow servers, or "off"; empty chooses by the engine.
	Integrity string           `yaml:"integrity" json:"integrity,omitempty"`
	Monitor   campaign.Monitor `yaml:"monitor" json:"monitor"`
	Protocol  Protocol         `yaml:"protocol" json:"protocol"`

	// Agents names a model that proposes configurations beside the search; without a Model none
	// does.
	Agents campaign.Agents `yaml:"agents" json:"agents,omitzero"`
}

// Budget bounds a study; 0 is no limit. See tuner.Budget.
type Budget struct {
	Time   campaign.Duration `yaml:"time" json:"time"`
	Trials int               `yaml:"trials" json:"trials,omitempty"`
	USD    float64           `yaml:"usd" json:"usd,omitempty"`
}

// Load is the traffic of every trial. See [Traffic].
type Load struct {
	Concurrency int     `yaml:"concurrency" json:"concurrency,omitempty"`
	Rate        float64 `yaml:"request_rate" json:"request_rate,omitempty"`
	Arrival     string  `yaml:"arrival" json:"arrival,omitempty"`

	Window   campaign.Duration `yaml:"window" json:"window"`
	Warmup   campaign.Duration `yaml:"warmup" json:"warmup"`
	Sessions int               `yaml:"sessions" json:"sessions,omitempty"`

	ISL          string   `yaml:"isl" json:"isl"`
	OSL          string   `yaml:"osl" json:"osl"`
	Turns        string   `yaml:"turns" json:"turns"`
	Think        string   `yaml:"think" json:"think"`
	Tasks        string   `yaml:"tasks" json:"tasks,omitempty"`
	SharedPrefix int      `yaml:"shared_prefix" json:"shared_prefix,omitempty"`
	IgnoreEOS    bool     `yaml:"ignore_eos" json:"ignore_eos,omitempty"`
	Temperature  *float64 `yaml:"temperature" json:"temperature,omitempty"`
}

// Protocol is what of the rules a user may change. See tuner.Protocol.
type Protocol struct {
	Blocks        int     `yaml:"blocks" json:"blocks,omitempty"`
	MaxBlocks     int     `yaml:"max_blocks" json:"max_blocks,omitempty"`
	Orders        int     `yaml:"orders" json:"orders,omitempty"`
	Candidates    int     `yaml:"candidates" json:"candidates,omitempty"`
	Remeasure     int     `yaml:"remeasure" json:"remeasure,omitempty"`
	QualityMargin float64 `yaml:"quality_margin" json:"quality_margin,omitempty"`
}

// How thoroughly launches are asked.
const (
	IntegrityFull  = "full"
	IntegritySmall = "small"
	IntegrityOff   = "off"
)

// DefaultOut is the folder that holds studies.
const DefaultOut = "studies"

// The searches of a study.
const (
	StrategyLoop   = "loop"
	StrategyRandom = "random"
	StrategySobol  = "sobol"
	StrategyTPE    = "tpe"
	StrategyGP     = "gp"
	StrategyForest = "forest"
)

// Strategies lists the searches, the default first.
func Strategies() []string {
	return []string{StrategyLoop, StrategyRandom, StrategySobol, StrategyTPE, StrategyGP, StrategyForest}
}

// defaultKeepMB is the host memory that a server must leave.
const defaultKeepMB = 512

// Default is the study of a server that the user names: half an hour for more output.
func Default() *File {
	c := campaign.Default()
	f := &File{
		Name: "study", Seed: 1, Strategy: StrategyLoop, Target: c.Target, Monitor: c.Monitor, Checkpoints: c.Checkpoints,
		KeepMemoryMB: defaultKeepMB,
		Goal:         "max:output_throughput", MinGain: tuner.DefaultMinGain,
		Budget: Budget{Time: campaign.Duration(30 * time.Minute)},
		Load: Load{
			Concurrency: 16, Window: campaign.Duration(60 * time.Second), Warmup: campaign.Duration(5 * time.Second),
			ISL: campaign.DefaultISL, OSL: campaign.DefaultOSL, Turns: campaign.DefaultTurns, Think: campaign.DefaultThink,
		},
	}
	return f
}

// Demo is the built-in study of the simulated engine: its limit on running sequences is set
// too low on purpose, so that there is something to find in under three minutes.
func Demo() *File {
	f := Default()
	f.Name, f.Simulate, f.Engine = "demo", true, "vllm"
	f.Command = []string{"vllm", "serve", "meta-llama/Llama-3.1-8B-Instruct", "--max-num-seqs", "12"}
	f.Knobs = map[string][]string{
		"--max-num-seqs":           {"8", "16", "32", "64"},
		"--max-num-batched-tokens": {"512", "2048", "8192"},
		"--enable-prefix-caching":  {"true", "false"},
		"--gpu-memory-utilization": {"0.2", "0.5", "0.9"},
	}
	f.SLO = []string{"ttft_p99<2s"}
	f.Budget.Time = campaign.Duration(160 * time.Second)
	f.Load = Load{
		Concurrency: 28, Window: campaign.Duration(2 * time.Second), Warmup: campaign.Duration(400 * time.Millisecond), Sessions: 450,
		ISL: "uniform(150,450)", OSL: "48", Turns: "1", Think: "0s", SharedPrefix: 60, IgnoreEOS: true,
	}
	f.Checkpoints.Every, f.Checkpoints.Items = 6, 40
	return f
}

// Load reads a study file over the defaults. Errors are of type *campaign.FileError.
func LoadFile(path string) (*File, *campaign.Document, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil, fmt.Errorf("study file: %w", err)
	}
	if info.Size() > 1<<20 {
		return nil, nil, fmt.Errorf("study file %s: larger than 1 MiB; is it a study file?", path)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, fmt.Errorf("study file: %w", err)
	}
	return Parse(path, b)
}

// Parse is LoadFile for bytes that are already read; path is for messages.
func Parse(path string, b []byte) (*File, *campaign.Document, error) {
	f := Default()
	d, err := campaign.Decode("study", path, b, f)
	if err != nil {
		return nil, nil, err
	}
	return f, d, nil
}

// Resolve settles what belongs together: a rate is an open loop, and leaves the default
// concurrency behind. It is called once, before Validate.
func (f *File) Resolve() {
	if f.Load.Rate > 0 && f.Load.Concurrency == Default().Load.Concurrency {
		f.Load.Concurrency = 0
	}
	f.Target.Price = f.Price
	if f.Target.URL == "" && !f.Simulate {
		f.Target.URL = addressOf(f.Command, f.Engine)
	}
}

// addressOf is where a launch command makes a server listen: at the port that it names, or at
// the engine's own; "" where neither is known.
func addressOf(argv []string, engine string) string {
	if len(argv) == 0 {
		return ""
	}
	if engine == "" {
		engine = EngineOf(argv)
	}
	port := ""
	if a, ok := engines.Lookup(engine); ok && a.Launch.Port > 0 {
		port = strconv.Itoa(a.Launch.Port)
	}
	for i, word := range argv {
		if v, ok := strings.CutPrefix(word, "--port="); ok {
			port = v
		} else if word == "--port" && i+1 < len(argv) {
			port = argv[i+1]
		}
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return ""
	}
	return "http://127.0.0.1:" + port
}

// Validate reports every problem as a campaign.Problems, or nil. It starts nothing.
func (f *File) Validate() error {
	var ps campaign.Problems
	add := func(field, format string, a ...any) {
		ps = append(ps, campaign.Problem{Field: field, Message: fmt.Sprintf(format, a...)})
	}
	if !slices.Contains(Strategies(), f.Strategy) {
		add("strategy", "%q is no search; use one of %s", f.Strategy, strings.Join(Strategies(), ", "))
	}
	if _, _, err := ParseGoal(f.Goal); err != nil {
		add("goal", "%v", err)
	}
	for i, s := range f.SLO {
		if _, err := slo.Parse(s); err != nil {
			add(fmt.Sprintf("slo[%d]", i), "%v", err)
		}
	}
	if f.MinGain < 0 || f.MinGain >= 1 || math.IsNaN(f.MinGain) {
		add("min_gain", "%g is not between 0 and 1; 0.02 is 2 %%", f.MinGain)
	}
	if f.Price < 0 || math.IsNaN(f.Price) {
		add("price", "%g is not an amount in US dollars an hour", f.Price)
	}
	if !slices.Contains([]string{"", IntegrityFull, IntegritySmall, IntegrityOff}, f.Integrity) {
		add("integrity", "%q is none of full, small and off", f.Integrity)
	}
	if a := f.Agents; a.Turns != 0 || a.Calls < 0 || a.Tokens < 0 || a.USD < 0 || a.Model != "" && a.Provider == "" {
		add("agents", "a model that proposes needs a provider (openai, anthropic, google, ollama) and limits of 0 (none) or more, and writes no turns")
	}
	f.Launcher.validate(f, add)
	f.validateBudget(add)
	f.validateLoad(add)
	if f.Simulate && len(f.Command) == 0 {
		add("command", "a simulation needs the launch command to simulate")
	}
	switch {
	case f.Target.URL != "" || f.Simulate:
	case len(f.Command) == 0 && f.Launcher.Kind != LaunchKubernetes:
		add("target.url", "neither a server's address nor a launch command is given")
	default:
		add("target.url", "where does the launch command make the server listen? Give its address, such as http://127.0.0.1:8000")
	}
	if f.StartTimeout < 0 || f.KeepMemoryMB < 0 || f.KeepMemoryMB > 1<<24 {
		add("start_timeout", "%v and %d MiB of memory are no guards", time.Duration(f.StartTimeout), f.KeepMemoryMB)
	}
	if f.Target.URL != "" {
		if u, err := url.Parse(f.Target.URL); err != nil || u.Host == "" {
			add("target.url", "%q is no address such as http://127.0.0.1:8000", f.Target.URL)
		}
	}
	if len(ps) > 0 {
		return ps
	}
	return nil
}

func (f *File) validateBudget(add func(string, string, ...any)) {
	b := f.Budget
	if b.Time < 0 || b.Trials < 0 || b.USD < 0 {
		add("budget", "less than nothing")
	}
	if b.Time == 0 && b.Trials == 0 && b.USD == 0 {
		add("budget", "is empty: give time, trials or usd")
	}
	if b.USD > 0 && f.Price <= 0 {
		add("budget.usd", "needs price, what an hour of the machine costs")
	}
	p := f.Protocol
	if p.Blocks != 0 && p.Blocks < tuner.DefaultBlocks {
		add("protocol.blocks", "%d ABBA blocks prove nothing; use %d or more", p.Blocks, tuner.DefaultBlocks)
	}
	if p.MaxBlocks != 0 && p.MaxBlocks < max(p.Blocks, tuner.DefaultBlocks) {
		add("protocol.max_blocks", "%d is fewer than the least number of blocks", p.MaxBlocks)
	}
	if p.Orders < 0 || p.Candidates < 0 || p.Remeasure < 0 {
		add("protocol", "a number below 0")
	}
	if p.QualityMargin < 0 || p.QualityMargin >= 1 {
		add("protocol.quality_margin", "%g is not between 0 and 1; 0.02 is 2 points", p.QualityMargin)
	}
}

// The bounds of a trial's window of rung 1.
const (
	minWindow = 200 * time.Millisecond
	maxWindow = 6 * time.Hour
)

func (f *File) validateLoad(add func(string, string, ...any)) {
	l := f.Load
	switch {
	case l.Concurrency > 0 && l.Rate > 0:
		add("load.request_rate", "concurrency %d and request_rate %g are both set: the load is a closed loop or an open one", l.Concurrency, l.Rate)
	case l.Concurrency <= 0 && !(l.Rate > 0):
		add("load.concurrency", "neither concurrency nor request_rate is above 0, so trials send nothing")
	case l.Concurrency > maxSessions:
		add("load.concurrency", "%d is more than %d", l.Concurrency, maxSessions)
	}
	if l.Arrival != "" && l.Rate <= 0 {
		add("load.arrival", "%q belongs to an open loop: set request_rate", l.Arrival)
	}
	if w := time.Duration(l.Window); w < minWindow || w > maxWindow {
		add("load.window", "%v is outside %v to %v", w, minWindow, maxWindow)
	}
	if l.Warmup < 0 || time.Duration(l.Warmup) > maxWindow {
		add("load.warmup", "%v is no time to warm up", time.Duration(l.Warmup))
	}
	if l.Sessions < 0 || l.Sessions > maxSessions {
		add("load.sessions", "%d is outside 0 (estimated) to %d", l.Sessions, maxSessions)
	}
	t := f.traffic()
	if _, err := t.source(f.Seed, ""); err != nil {
		field, msg, ok := strings.Cut(err.Error(), ": ")
		if !ok {
			field, msg = "load", err.Error()
		}
		add(field, "%s", msg)
	}
}

// traffic is the load as it is frozen.
func (f *File) traffic() Traffic {
	l := f.Load
	w := campaign.Workload{
		ISL: l.ISL, OSL: l.OSL, Turns: l.Turns, Think: l.Think, Tasks: l.Tasks, SharedPrefix: l.SharedPrefix,
		IgnoreEOS: l.IgnoreEOS, Temperature: l.Temperature,
	}
	return Traffic{
		Workload: w, Checkpoints: f.Checkpoints, Concurrency: l.Concurrency, Rate: l.Rate, Arrival: l.Arrival,
		Window: time.Duration(l.Window), Warmup: time.Duration(l.Warmup), Sessions: l.Sessions,
	}
}
