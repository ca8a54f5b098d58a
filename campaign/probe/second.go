package probe

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/goccy/go-yaml"

	"github.com/inferencebench/inferencebench/campaign"
)

// second starts another process of this program with the same campaign and returns how to
// wait for it. Its campaign file is removed afterwards; keys stay in the environment.
func (p *prober) second(ctx context.Context, c *campaign.Config) (wait func() error, err error) {
	own := *c
	own.Name += "-second"
	own.Seed++
	text, err := yaml.Marshal(own)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(own.Out, 0o755); err != nil {
		return nil, err
	}
	path := filepath.Join(own.Out, ".second.yaml")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, p.Self, "run", path, "--quiet")
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(err, os.Remove(path))
	}
	return func() error {
		err := cmd.Wait()
		if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() <= 2 {
			err = nil // a verdict on so short a run is not what it is for
		}
		if err != nil {
			err = fmt.Errorf("the second load generator: %w", err)
		}
		return errors.Join(err, os.Remove(path))
	}, nil
}
