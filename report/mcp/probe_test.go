package mcp

import (
	"context"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// prober is a stage that can carry out experiments.
type prober struct {
	stage
	limit time.Duration
}

func (p *prober) Probe(_ context.Context, t *Target, probe string, limit time.Duration) ([]ProbeResult, int, error) {
	p.limit = limit
	out := make([]ProbeResult, 30)
	for i := range out {
		out[i] = ProbeResult{probe, "confirmed", t.Name + strings.Repeat(" long", 500)}
	}
	return out, 12, nil
}

func TestProbeWithinBounds(t *testing.T) {
	p := &prober{}
	srv, err := New(Config{Targets: []*Target{{Name: "prod"}}, Runs: t.TempDir(), Limits: DefaultLimits(), Actions: p})
	if err != nil {
		t.Fatal(err)
	}
	a, b := sdk.NewInMemoryTransports()
	ss, err := srv.Connect(t.Context(), a, nil)
	if err != nil {
		t.Fatal(err)
	}
	cs, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), b, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cs.Close(); _ = ss.Wait() })
	got, f := call[Probes](t, cs, "probe", args{"target": "prod", "probe": "P4"})
	if f != nil || len(got.Results) != 20 || got.Left.Requests != DefaultLimits().Requests-12 || p.limit != DefaultLimits().Duration {
		t.Errorf("probe = %d results, left %+v, limit %v, %v", len(got.Results), got.Left, p.limit, f)
	}
	if _, f := call[Probes](t, cs, "probe", args{"target": "elsewhere"}); f == nil || f.Code != NotAllowed {
		t.Errorf("probe of another target: %v; want %s", f, NotAllowed)
	}
}
