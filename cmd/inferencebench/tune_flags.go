package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/inferencebench/inferencebench/campaign"
	"github.com/inferencebench/inferencebench/tuner/live"
)

// tuneFlags are the flags of `tune`. One that was not given leaves the study file's value, or
// the default, alone.
type tuneFlags struct {
	set *pflag.FlagSet

	url, model, keyEnv, engine string
	knobs                      []string
	strategy, goal, minGain    string
	slo                        []string
	budget                     time.Duration
	trials                     int
	usd, price                 float64
	concurrency                int
	rate                       float64
	arrival, isl, osl, turns   string
	think, tasks               string
	sharedPrefix               int
	ignoreEOS                  bool
	window, warmup             time.Duration
	every, items               int
	kinds                      []string
	blocks, orders             int
	seed                       uint64
	name, out, resume, metrics string
	integrity                  string
	dryRun, simulate           bool
	production                 bool
	gpu, modelConfig           string
	launcher, sshHost          string
	workload, namespace, pod   string
	agents                     campaign.Agents
}

func (f *tuneFlags) register(cmd *cobra.Command) {
	s := cmd.Flags()
	s.SortFlags = false
	f.set = s
	s.StringVarP(&f.url, "url", "u", "", "server under test, where the launch command makes it listen")
	s.StringVarP(&f.model, "model", "m", "", "model name to send; default: the only one that the server lists")
	s.StringVar(&f.keyEnv, "key-env", "", "environment variable with the bearer key")
	s.BoolVar(&f.production, "production", false, "users depend on this server: it is measured once under a small load, and nothing is changed")
	s.StringVar(&f.gpu, "gpu", "", "the server's GPU, such as h100_sxm; default: this machine's, where the server runs here")
	s.StringVar(&f.modelConfig, "model-config", "", "the model's config.json or GGUF file, where its name does not tell its shape")
	s.StringVar(&f.engine, "engine", "", "adapter whose knobs are tuned, such as vllm; default: by the launch command")
	s.StringArrayVar(&f.knobs, "knobs", nil, "a knob that may be changed, with values or without, such as '--max-num-seqs=64,128'; repeatable; default: all that the adapter has values for")
	s.StringVar(&f.strategy, "strategy", "", "search: "+strings.Join(live.Strategies(), ", ")+"; default loop")
	s.StringVar(&f.goal, "goal", "", "what to optimise: max:output_throughput, max:goodput, max:request_rate, min:ttft_p99, min:tpot_p95, min:cost_per_mtok, min:joules_per_token and the like; default max:output_throughput")
	s.StringVar(&f.minGain, "min-gain", "", "gain below which a change is not worth making, such as 2% (the default)")
	s.StringArrayVar(&f.slo, "slo", nil, "objective that must hold, such as 'ttft_p99<500ms'; repeatable")
	s.DurationVar(&f.budget, "budget", 0, "time for everything, such as 30m (the default)")
	s.IntVar(&f.trials, "trials", 0, "measurements in all, those of the proof included")
	s.Float64Var(&f.usd, "usd", 0, "US dollars that may be spent; needs --price")
	s.Float64Var(&f.price, "price", 0, "what the machine costs in US dollars an hour, all devices together")
	s.IntVarP(&f.concurrency, "concurrency", "c", 0, "users of a closed loop; default 16")
	s.Float64Var(&f.rate, "request-rate", 0, "sessions that arrive each second, in place of --concurrency")
	s.StringVar(&f.arrival, "arrival", "", "arrival process of --request-rate; default poisson")
	s.StringVar(&f.isl, "isl", "", "input length in tokens, such as 512 or lognormal(6.2,0.9)[8,4096]")
	s.StringVar(&f.osl, "osl", "", "output length in tokens")
	s.StringVar(&f.turns, "turns", "", "user turns of a session")
	s.StringVar(&f.think, "think", "", "pause before a later turn")
	s.StringVar(&f.tasks, "tasks", "", "weights of task kinds, such as chat=3,code=1")
	s.IntVar(&f.sharedPrefix, "shared-prefix", 0, "tokens of system prompt that all sessions share")
	s.BoolVar(&f.ignoreEOS, "ignore-eos", false, "ask for exactly the output length, where the engine knows how")
	s.DurationVar(&f.window, "window", 0, "how long a trial measures; default 1m")
	s.DurationVar(&f.warmup, "warmup", 0, "sent before it and not measured; default 5s")
	s.IntVar(&f.every, "checkpoint-every", 0, "sessions of load between two scored items; default 10")
	s.IntVar(&f.items, "checkpoint-items", 0, "scored items of each kind; default all")
	s.StringSliceVar(&f.kinds, "checkpoint-kinds", nil, "kinds of scored items, such as gsm8k")
	s.StringVar(&f.integrity, "integrity", "", "how launches are asked whether their speed is that of serving the model: full, small or off; default by the engine")
	s.IntVar(&f.blocks, "blocks", 0, "ABBA blocks that an acceptance needs at least; default 3")
	s.IntVar(&f.orders, "orders", 0, "arrival orders of the certification; default 3")
	s.Uint64Var(&f.seed, "seed", 0, "every random choice follows from it; default 1")
	s.StringVar(&f.metrics, "metrics-url", "", "metrics page, where discovery does not find it; none reads none")
	s.StringVar(&f.agents.Model, "agent-model", "", "a model that proposes configurations beside the search; best not the one under test")
	s.StringVar(&f.agents.Provider, "agent-provider", "openai", "API of that model: openai (any compatible server), anthropic, google, ollama")
	s.StringVar(&f.agents.URL, "agent-url", "", "base URL of that model's API; default: the provider's own")
	s.StringVar(&f.agents.KeyEnv, "agent-key-env", "", "environment variable that holds that model's key")
	s.StringVar(&f.name, "name", "", "name of the study")
	s.StringVarP(&f.out, "out", "o", "", "folder of the study; default a new one under "+live.DefaultOut+"; one that holds this study goes on")
	s.StringVar(&f.resume, "resume", "", "go on with the study in this folder")
	s.StringVar(&f.launcher, "launcher", "", "how the server is started: process (the default; docker run is one), ssh, kubernetes, or ask, which tells you what to start")
	s.StringVar(&f.sshHost, "ssh", "", "machine on which the launch command is run, as ssh knows it; sets --launcher ssh")
	s.StringVar(&f.workload, "workload", "", "Kubernetes workload whose arguments are changed, such as deployment/vllm; sets --launcher kubernetes")
	s.StringVar(&f.namespace, "namespace", "", "its namespace")
	s.StringVar(&f.pod, "container", "", "its container, where it has several")
	s.BoolVar(&f.simulate, "simulate", false, "run the launch command, under vLLM's names, in the simulated engine")
	s.BoolVar(&f.dryRun, "dry-run", false, "print the plan and the commands, and do nothing")
}

// file joins defaults, study file and flags into one valid study.
func (f *tuneFlags) file(files, command []string) (*live.File, error) {
	if f.resume != "" {
		return f.resumed(files, command)
	}
	file, locate := live.Default(), func(err error) error { return err }
	switch {
	case len(files) == 1:
		read, doc, err := live.LoadFile(files[0])
		if err != nil {
			if errors.Is(err, os.ErrNotExist) {
				return nil, fmt.Errorf("%w\nTry: inferencebench init --study %s", err, files[0])
			}
			return nil, err
		}
		file, locate = read, doc.Locate
	case len(command) == 0 && f.url == "" && f.workload == "":
		file = live.Demo()
	}
	if len(command) > 0 {
		file.Command = command
	}
	if err := f.apply(file); err != nil {
		return nil, err
	}
	file.Resolve()
	if err := file.Validate(); err != nil {
		return nil, locate(err)
	}
	return file, nil
}

// resumed reads back the question of a study's folder.
func (f *tuneFlags) resumed(files, command []string) (*live.File, error) {
	given := 0
	f.set.Visit(func(g *pflag.Flag) {
		if g.Name != "resume" && g.Name != "dry-run" && g.Name != "format" && g.Name != "quiet" {
			given++
		}
	})
	if given+len(files)+len(command) > 0 {
		return nil, errors.New("--resume goes on with the same question: leave the other flags, the file and the command out")
	}
	b, err := os.ReadFile(filepath.Join(f.resume, live.FileFile))
	if err != nil {
		return nil, fmt.Errorf("--resume %s: no study is there: %w", f.resume, err)
	}
	file := &live.File{}
	if err := json.Unmarshal(b, file); err != nil {
		return nil, fmt.Errorf("--resume %s: %w", f.resume, err)
	}
	file.Out = f.resume
	if err := file.Recall(os.Getenv); err != nil {
		return nil, fmt.Errorf("--resume %s: %w", f.resume, err)
	}
	return file, file.Validate()
}

// apply puts the flags that were given over the study.
func (f *tuneFlags) apply(file *live.File) error {
	var err error
	on := func(name string, set func()) {
		if f.set.Changed(name) {
			set()
		}
	}
	d := func(v time.Duration) campaign.Duration { return campaign.Duration(v) }
	on("url", func() { file.Target.URL = f.url })
	on("model", func() { file.Target.Model = f.model })
	on("key-env", func() { file.Target.KeyEnv = f.keyEnv })
	on("production", func() { file.Target.Production = f.production })
	on("gpu", func() { file.Target.GPU = f.gpu })
	on("model-config", func() { file.Target.ModelConfig = f.modelConfig })
	on("engine", func() { file.Engine = f.engine })
	on("knobs", func() { file.Knobs, err = parseKnobs(f.knobs) })
	on("strategy", func() { file.Strategy = f.strategy })
	on("goal", func() { file.Goal = f.goal })
	on("slo", func() { file.SLO = f.slo })
	on("budget", func() { file.Budget.Time = d(f.budget) })
	on("trials", func() { file.Budget.Trials = f.trials })
	on("usd", func() { file.Budget.USD = f.usd })
	on("price", func() { file.Price = f.price })
	on("concurrency", func() { file.Load.Concurrency = f.concurrency })
	on("request-rate", func() { file.Load.Rate = f.rate })
	on("arrival", func() { file.Load.Arrival = f.arrival })
	on("isl", func() { file.Load.ISL = f.isl })
	on("osl", func() { file.Load.OSL = f.osl })
	on("turns", func() { file.Load.Turns = f.turns })
	on("think", func() { file.Load.Think = f.think })
	on("tasks", func() { file.Load.Tasks = f.tasks })
	on("shared-prefix", func() { file.Load.SharedPrefix = f.sharedPrefix })
	on("ignore-eos", func() { file.Load.IgnoreEOS = f.ignoreEOS })
	on("window", func() { file.Load.Window = d(f.window) })
	on("warmup", func() { file.Load.Warmup = d(f.warmup) })
	on("checkpoint-every", func() { file.Checkpoints.Every = f.every })
	on("checkpoint-items", func() { file.Checkpoints.Items = f.items })
	on("checkpoint-kinds", func() { file.Checkpoints.Kinds = f.kinds })
	on("integrity", func() { file.Integrity = f.integrity })
	on("blocks", func() { file.Protocol.Blocks = f.blocks })
	on("orders", func() { file.Protocol.Orders = f.orders })
	on("seed", func() { file.Seed = f.seed })
	on("metrics-url", func() { file.Monitor.MetricsURL = f.metrics })
	on("agent-model", func() {
		if file.Agents.Model = f.agents.Model; file.Agents.Provider == "" {
			file.Agents.Provider = f.agents.Provider
		}
	})
	on("agent-provider", func() { file.Agents.Provider = f.agents.Provider })
	on("agent-url", func() { file.Agents.URL = f.agents.URL })
	on("agent-key-env", func() { file.Agents.KeyEnv = f.agents.KeyEnv })
	on("name", func() { file.Name = f.name })
	on("out", func() { file.Out = f.out })
	on("launcher", func() { file.Launcher.Kind = f.launcher })
	on("ssh", func() {
		file.Launcher.Kind, file.Launcher.SSH = live.LaunchSSH, []string{"ssh", "-tt", "--", f.sshHost}
	})
	on("workload", func() { file.Launcher.Kind, file.Launcher.Workload = live.LaunchKubernetes, f.workload })
	on("namespace", func() { file.Launcher.Namespace = f.namespace })
	on("container", func() { file.Launcher.Container = f.pod })
	on("simulate", func() { file.Simulate = f.simulate })
	if err != nil {
		return err
	}
	if f.set.Changed("min-gain") {
		file.MinGain, err = parseShare(f.minGain)
	}
	return err
}

// parseKnobs reads "--name=v1,v2" and "--name".
func parseKnobs(list []string) (map[string][]string, error) {
	out := map[string][]string{}
	for _, s := range list {
		name, values, ok := strings.Cut(s, "=")
		if name == "" || ok && values == "" {
			return nil, fmt.Errorf("--knobs %q: write a knob's name, and values behind = where they are to be yours, such as '--max-num-seqs=64,128'", s)
		}
		out[name] = nil
		if ok {
			out[name] = strings.Split(values, ",")
		}
	}
	return out, nil
}

// parseShare reads "2%" and "0.02".
func parseShare(s string) (float64, error) {
	text, percent := strings.CutSuffix(strings.TrimSpace(s), "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil {
		return 0, fmt.Errorf("--min-gain %q: write a share such as 2%% or 0.02", s)
	}
	if percent {
		v /= 100
	}
	return v, nil
}
