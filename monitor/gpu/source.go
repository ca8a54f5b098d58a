package gpu

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os/exec"
	"time"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/engines"
	"github.com/inferencebench/inferencebench/engines/expo"
)

// Source is a telemetry source of several GPUs at once. It is used by one goroutine at a
// time.
type Source struct {
	target  string
	visible string
	fetch   func(ctx context.Context) ([]Reading, error)

	last map[string]map[string]float64
	same int // readings in a row that were the same to the last digit
}

// staleAfter is how many readings in a row must be the same until the exporter counts as
// slower than we read: temperatures and powers of a GPU that works never stand still.
const staleAfter = 4

// Page reads the page of a DCGM or AMD exporter at url; which of them, it tells by the
// names. visible picks the GPUs that count, as for Used.
func Page(client *http.Client, url string, header http.Header, visible string) *Source {
	return &Source{target: engines.Redact(url), visible: visible, fetch: func(ctx context.Context) ([]Reading, error) {
		b, err := get(ctx, client, url, header)
		if err != nil {
			return nil, err
		}
		p := expo.Parse(b)
		if rs := FromDCGM(p); len(rs) > 0 {
			return rs, nil
		}
		if rs := FromAMD(p); len(rs) > 0 {
			return rs, nil
		}
		return nil, errors.New("the page has no series of a DCGM or AMD exporter")
	}}
}

// SMICommands are the commands that print a table of GPUs, the last resort where neither a
// driver library nor an exporter can be read.
func SMICommands() [][]string {
	return [][]string{
		{"nvidia-smi", "--format=csv", "--query-gpu=index,uuid,pci.bus_id,name,utilization.gpu,utilization.memory,memory.used,memory.total,power.draw,enforced.power.limit,clocks.sm,clocks.max.sm,temperature.gpu,clocks_throttle_reasons.active"},
		{"amd-smi", "metric", "--csv", "--usage", "--power", "--temperature", "--clock", "--mem-usage"},
	}
}

// Command reads the table that a command prints. The command is run anew for each reading
// and ended when ctx is done.
func Command(argv []string, visible string) *Source {
	return &Source{target: argv[0], visible: visible, fetch: func(ctx context.Context) ([]Reading, error) {
		cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
		var out limited
		cmd.Stdout = &out
		cmd.WaitDelay = time.Second
		if err := cmd.Run(); err != nil {
			return nil, fmt.Errorf("%s: %w", argv[0], err)
		}
		rs, err := FromCSV(out.b.Bytes())
		if len(rs) > 0 {
			err = nil // a row that does not fit is not worth losing the others
		}
		return rs, err
	}}
}

// Kind is archive.SourceGPU.
func (s *Source) Kind() string { return archive.SourceGPU }

// Target is the page's address without credentials, or the command's name. The samples
// themselves carry the GPU's.
func (s *Source) Target() string { return s.target }

// ReadEach reads every GPU that counts, by its target.
func (s *Source) ReadEach(ctx context.Context) (map[string]map[string]float64, error) {
	rs, err := s.fetch(ctx)
	if err != nil {
		return nil, err
	}
	used := Used(rs, s.visible)
	if len(used) == 0 {
		return nil, fmt.Errorf("none of %d GPUs is among those that the server uses (%q)", len(rs), s.visible)
	}
	out := make(map[string]map[string]float64, len(used))
	for _, r := range used {
		out[r.Target()] = r.Values
	}
	s.same++
	if !maps.EqualFunc(s.last, out, maps.Equal[map[string]float64]) {
		s.same = 0
	}
	s.last = out
	return out, nil
}

// Annotations says when the exporter takes readings less often than it is read: what
// happens in between is not seen, and a window may rest on one old reading.
func (s *Source) Annotations() []archive.Annotation {
	if s.same < staleAfter {
		return nil
	}
	return []archive.Annotation{{
		Code:    "stale_exporter",
		Message: fmt.Sprintf("the last %d readings of the GPUs are the same to the last digit: the exporter takes readings less often than it is read; set its interval to 1 s (dcgm-exporter: -c 1000)", s.same+1),
	}}
}

// Read is the number of GPUs read; ReadEach reads them.
func (s *Source) Read(ctx context.Context) (map[string]float64, error) {
	each, err := s.ReadEach(ctx)
	if err != nil {
		return nil, err
	}
	return map[string]float64{"gpus": float64(len(each))}, nil
}

// Describe says what the GPUs are that count.
func (s *Source) Describe(ctx context.Context) ([]archive.GPU, error) {
	rs, err := s.fetch(ctx)
	if err != nil {
		return nil, err
	}
	var out []archive.GPU
	for _, r := range Used(rs, s.visible) {
		g := archive.GPU{Index: r.Index, UUID: r.Target(), Name: r.Name}
		if v, ok := r.Values["memory_total_bytes"]; ok {
			g.MemoryMB = int64(v) >> 20
		}
		if v, ok := r.Values["power_limit_watts"]; ok {
			g.PowerW = archive.Some(v)
		}
		out = append(out, g)
	}
	return out, nil
}

func get(ctx context.Context, client *http.Client, at string, header http.Header) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return nil, errors.New("the exporter's address is not a URL")
	}
	if header != nil {
		req.Header = header.Clone()
	}
	req.Header.Set("Accept", "text/plain;version=0.0.4;q=1,*/*;q=0.1")
	resp, err := client.Do(req)
	if err != nil {
		var ue *url.Error
		if errors.As(err, &ue) {
			err = ue.Err // the outer text repeats the address
		}
		return nil, fmt.Errorf("read exporter page: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("read exporter page: status %d", resp.StatusCode)
	}
	return io.ReadAll(io.LimitReader(resp.Body, expo.MaxPage+1))
}

// limited keeps the start of what is written to it.
type limited struct{ b bytes.Buffer }

func (l *limited) Write(p []byte) (int, error) {
	if room := maxTable - l.b.Len(); room > 0 {
		l.b.Write(p[:min(len(p), room)])
	}
	return len(p), nil
}
