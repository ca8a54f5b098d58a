package probe

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"

	"github.com/goccy/go-yaml"

	"github.com/inferencebench/inferencebench/campaign"
)

// second starts another process of this program with the same campaign and returns how to
// wait for it. The campaign goes through a pipe, so that headers and keys reach no file.
func (p *prober) second(ctx context.Context, c *campaign.Config) (wait func() error, err error) {
	own := *c
	own.Name += "-second"
	own.Seed++
	text, err := yaml.Marshal(own)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, p.Self, "run", "/dev/stdin", "--quiet")
	cmd.Stdin = bytes.NewReader(text)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return func() error {
		err := cmd.Wait()
		if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() <= 2 {
			err = nil // a verdict on so short a run is not what it is for
		}
		if err != nil {
			err = fmt.Errorf("the second load generator: %w", err)
		}
		return err
	}, nil
}
