package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/inferencebench/inferencebench/sim"
	"github.com/inferencebench/inferencebench/sim/faults"
	"github.com/inferencebench/inferencebench/sim/server"
)

func newSim() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "sim",
		Short: "serve the simulated engine, or play its faults",
		Long: `Serves the simulated engine over HTTP until it is stopped. It speaks the OpenAI API and
prints metrics under vLLM's names, and says in every reply that it is a simulation. The
flags are named as vLLM's; a configuration that would not start there does not start here.`,
		Args: args(cobra.NoArgs),
	}
	var c server.Config
	var addr, gpu, model string
	var noPrefix bool
	s := cmd.Flags()
	s.StringVar(&addr, "listen", "127.0.0.1:8000", "address to listen on")
	s.StringVar(&gpu, "gpu", "h100_sxm", "device: "+strings.Join(sim.GPUNames(), ", "))
	s.StringVar(&model, "model", "Llama-3.1-8B-Instruct", "model: "+strings.Join(sim.ModelNames(), ", "))
	s.StringVar(&c.ModelName, "served-model-name", "", "model name in the API; default: the model's own")
	s.IntVar(&c.Sim.TensorParallel, "tensor-parallel-size", 0, "GPUs that share each layer; default 1")
	s.StringVar(&c.Sim.Quantization, "quantization", "", "weights: fp8, int8, int4 or fp4; default 16 bits")
	s.StringVar(&c.Sim.KVCacheDType, "kv-cache-dtype", "", "auto or fp8")
	s.IntVar(&c.Sim.MaxModelLen, "max-model-len", 0, "longest context in tokens; default: the model's")
	s.IntVar(&c.Sim.MaxNumSeqs, "max-num-seqs", 0, "running requests; default: by the device")
	s.IntVar(&c.Sim.MaxNumBatchedTokens, "max-num-batched-tokens", 0, "tokens a step; default: by the device")
	s.IntVar(&c.Sim.BlockSize, "block-size", 0, "tokens a KV block; default 16")
	s.Float64Var(&c.Sim.GPUMemoryUtilization, "gpu-memory-utilization", 0, "share of device memory to use; default 0.92")
	s.BoolVar(&noPrefix, "no-enable-prefix-caching", false, "recompute shared prefixes")
	s.BoolVar(&c.Sim.EnforceEager, "enforce-eager", false, "launch every kernel of every step")
	s.Float64Var(&c.Speed, "speed", 1, "simulated seconds a second")
	s.Uint64Var(&c.Sim.Seed, "seed", 1, "seed of replies and noise")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		var err error
		if c.Sim.GPU, err = sim.LookupGPU(gpu); err != nil {
			return withCode(exitUsage, fmt.Errorf("--gpu: %w", err))
		}
		if c.Sim.Model, err = sim.LookupModel(model); err != nil {
			return withCode(exitUsage, fmt.Errorf("--model: %w", err))
		}
		if noPrefix {
			c.Sim.EnablePrefixCaching = sim.Off
		}
		srv, err := server.New(c)
		if err != nil {
			return withCode(exitUsage, err)
		}
		url, err := srv.Start(addr)
		if err != nil {
			return withCode(exitUsage, err)
		}
		fmt.Fprintf(cmd.OutOrStdout(), "ready %s (a simulation)\n", url)
		<-cmd.Context().Done()
		return srv.Close()
	}
	cmd.AddCommand(newFaults())
	return cmd
}

func newFaults() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "faults",
		Short: "conditions with a known cause, to test a diagnosis on",
		Args:  args(cobra.NoArgs),
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newFaultsList(), newFaultsRun())
	return cmd
}

func newFaultsList() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "list the conditions, each with its true cause",
		Args:  args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "ID\tCAUSE\tCONDITION")
			for _, c := range faults.Conditions() {
				cause := c.Cause
				if cause == "" {
					cause = "(healthy)"
				}
				fmt.Fprintf(w, "%s\t%s\t%s\n", c.ID, cause, c.Name)
			}
			return w.Flush()
		},
	}
}

func newFaultsRun() *cobra.Command {
	var out, severity string
	var seed uint64
	var duration time.Duration
	severities := map[string]faults.Severity{"low": faults.Low, "mid": faults.Mid, "high": faults.High}
	cmd := &cobra.Command{
		Use:   "run ID",
		Short: "play a condition offline into a run directory, and diagnose it",
		Args:  args(cobra.ExactArgs(1)),
	}
	cmd.Flags().StringVar(&out, "out", "runs", "folder for the run directory")
	cmd.Flags().StringVar(&severity, "severity", "mid", "low, mid or high")
	cmd.Flags().Uint64Var(&seed, "seed", 1, "seed")
	cmd.Flags().DurationVar(&duration, "duration", 90*time.Second, "simulated time")
	cmd.RunE = func(cmd *cobra.Command, argv []string) error {
		s, ok := severities[severity]
		if !ok {
			return withCode(exitUsage, fmt.Errorf("--severity %q: use low, mid or high", severity))
		}
		if _, err := faults.Lookup(argv[0]); err != nil {
			return withCode(exitUsage, fmt.Errorf("%w\nTry: inferencebench sim faults list", err))
		}
		run, err := faults.Play(cmd.Context(), argv[0], faults.Options{Severity: s, Seed: seed, Duration: duration})
		if err != nil {
			return err
		}
		dir := filepath.Join(out, fmt.Sprintf("fault-%s-%s-%d", argv[0], severity, seed))
		if err := run.Write(dir); err != nil {
			return withCode(exitUsage, err)
		}
		truth, err := json.MarshalIndent(run.Truth, "", "  ")
		if err != nil {
			return err
		}
		o := newOutput(cmd, "text", false)
		if _, err := finish(dir, nil, o); err != nil {
			return err
		}
		fmt.Fprintf(o.out, "Truth:  %s\n", truth)
		return nil
	}
	return cmd
}
