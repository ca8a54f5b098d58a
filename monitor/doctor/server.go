package doctor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/engines"
	"github.com/inferencebench/inferencebench/engines/expo"
	"github.com/inferencebench/inferencebench/monitor"
)

// Options say what to look at.
type Options struct {
	// Client, Base and Header reach the server; with Base "" only this machine is looked
	// at. A key is in Header. Base is as engines.NormalizeBase makes it.
	Client *http.Client
	Base   string
	Header http.Header
	// Model is the model that is to be used; "" for whatever there is.
	Model string
	// Streams is how many requests are to be open at once; 0 when it is not known.
	Streams int
	// Wanted is what the run is to watch; its Server is filled in here.
	Wanted monitor.Wanted
}

// Examine looks at the server and the machine. The error is the context's; a server that
// cannot be used is a failed check.
func Examine(ctx context.Context, o Options) (*Report, error) {
	r := &Report{Host: monitor.DescribeHost()}
	if o.Base != "" {
		if err := r.server(ctx, o); err != nil {
			return nil, err
		}
	}
	r.machine(o.Streams)
	return r, ctx.Err()
}

func (r *Report) add(id, group string, state State, found, fix string) {
	r.Checks = append(r.Checks, Check{ID: id, Group: group, State: state, Found: found, Fix: fix})
}

func (r *Report) server(ctx context.Context, o Options) error {
	r.Server = archive.Server{URL: engines.Redact(o.Base)}
	id, err := engines.Probe(ctx, o.Client, o.Base, o.Header)
	if err != nil {
		if pe, ok := errors.AsType[*engines.ProbeError](err); ok {
			r.Server.Engine = engines.Unknown
			r.add("server", "server", Fail, pe.Message, pe.Hint)
			return nil
		}
		return err
	}
	r.Models = id.Models
	m, err := id.Choose(o.Model)
	r.Server = id.Server(m.ID)
	switch {
	case err != nil:
		r.add("model", "server", Warn, err.Error(), "")
	default:
		r.add("server", "server", OK, fmt.Sprintf("answers; recognised as %s", id.Adapter.Title), "")
	}
	if id.Engine == engines.Unknown {
		r.add("engine", "server", Warn, "the server is not one that this program knows: conclusions rest on what the client sees", "")
	}
	for _, n := range id.Notes {
		if n.Code != "no_metrics" {
			r.add(n.Code, "server", Warn, n.Message, "")
		}
	}
	if err := r.signals(ctx, o, &id); err != nil {
		return err
	}
	r.quirks(id.Adapter)
	w := o.Wanted
	w.Client, w.Header, w.Server, w.Log, w.Traces, w.KVEvents = o.Client, o.Header, id, "", "", ""
	got, err := monitor.Attach(ctx, w)
	if err != nil {
		return err
	}
	r.GPUs = got.GPUs
	r.routes(ctx, id.MetricsURL, got.Sources)
	for _, n := range got.Notes {
		group := "gpu"
		if n.Code == "no_server_process" || n.Code == "no_slots" {
			group = "server"
		}
		r.add(n.Code, group, Unknown, n.Message, "")
	}
	for _, g := range got.GPUs {
		r.add("gpu", "gpu", OK, fmt.Sprintf("%s (%s), driver %s", g.Name, g.UUID, g.Driver), "")
	}
	r.temperatures(ctx, got.Sources)
	return nil
}

// signals compares what the server shows with what it could.
func (r *Report) signals(ctx context.Context, o Options, id *engines.Identity) error {
	a := id.Adapter
	matched := map[string]string{}
	if id.MetricsURL != "" {
		b, err := fetch(ctx, o.Client, id.MetricsURL, o.Header)
		if err != nil {
			r.add("metrics", "server", Warn, "the metrics page cannot be read: "+err.Error(), "")
		} else {
			matched = a.Read(expo.Read(b)).Matched
			r.add("metrics", "server", OK, fmt.Sprintf("metrics page with %d signals", len(matched)), "")
		}
	} else {
		found, fix := "no metrics page", ""
		switch {
		case a.Metrics.Switch != "":
			fix = "start the server with " + a.Metrics.Switch
		case a.Metrics.Format == "none":
			found = "this server has no metrics page"
		case a.Metrics.Note != "":
			fix = a.Metrics.Note
		}
		r.add("metrics", "server", Warn, found, fix)
	}
	for _, s := range engines.Canonical() {
		out := Signal{Name: s.Name, Means: s.Means, State: Absent}
		cands := a.Sources[s.Name]
		switch from, ok := matched[s.Name]; {
		case ok:
			out.State, out.From = Seen, from
			if i := slices.IndexFunc(cands, func(c engines.Candidate) bool { return c.Metric == from }); i >= 0 {
				out.Note = cands[i].Note
			}
		case len(cands) > 0:
			out.State = Off
			out.Fix = fixFor(a, s.Name, cands, id.MetricsURL == "")
		case !slices.Contains(a.Absent, s.Name) && a.Tier != "black_box":
			continue // nothing is known about it
		}
		r.Signals = append(r.Signals, out)
	}
	return nil
}

// routes counts what other routes than the metrics page tell, such as llama.cpp's slots.
func (r *Report) routes(ctx context.Context, page string, sources []monitor.Source) {
	for _, s := range sources {
		if s.Kind() != archive.SourceEngine || s.Target() == engines.Redact(page) {
			continue
		}
		v, err := s.Read(ctx)
		if err != nil {
			continue
		}
		for i := range r.Signals {
			if _, ok := v[r.Signals[i].Name]; ok && r.Signals[i].State != Seen {
				r.Signals[i].State, r.Signals[i].From, r.Signals[i].Fix = Seen, s.Target(), ""
			}
		}
	}
}

// fixFor says how a signal that the server could show is switched on.
func fixFor(a *engines.Adapter, name string, cands []engines.Candidate, noPage bool) string {
	if noPage && a.Metrics.Switch != "" {
		return "start the server with " + a.Metrics.Switch
	}
	for _, ad := range a.Advice {
		if ad.Missing == name {
			return ad.Do
		}
	}
	for _, c := range cands {
		switch {
		case c.Needs != "":
			return "start the server with " + c.Needs
		case c.Until != "":
			return "this release does not tell it any more: " + c.Until
		case c.Since != "":
			return "there since " + c.Since
		}
	}
	return "appears with the first request that uses it, or this release does not have it"
}

func (r *Report) quirks(a *engines.Adapter) {
	q := a.Quirks
	if q.IncludeUsage == "no" {
		r.Quirks = append(r.Quirks, "streams carry no token counts: they are unknown unless --tokenizer names a tokenizer.json")
	}
	if q.IgnoreEOS == "no" {
		r.Quirks = append(r.Quirks, "answers cannot be forced to a length: ignore_eos is not honoured")
	}
	if q.CachedTokens == "flag" {
		r.Quirks = append(r.Quirks, "cached prompt tokens are told only with "+q.CachedTokensFlag)
	}
	if q.OverloadStatus != 0 {
		r.Quirks = append(r.Quirks, fmt.Sprintf("a full queue answers with status %d", q.OverloadStatus))
	}
	r.Quirks = append(r.Quirks, q.Notes...)
}

// temperatures reads the GPUs once.
func (r *Report) temperatures(ctx context.Context, sources []monitor.Source) {
	for _, s := range sources {
		if s.Kind() != archive.SourceGPU {
			continue
		}
		v, err := s.Read(ctx)
		switch {
		case err != nil:
			r.add("gpu_read", "gpu", Warn, fmt.Sprintf("GPU %s cannot be read: %v", s.Target(), err), "")
		case v["throttle_thermal"] > 0 || v["throttle_hardware"] > 0:
			r.add("gpu_throttle", "gpu", Warn, fmt.Sprintf("GPU %s already lowers its clocks, at %.0f °C", s.Target(), v["temperature_celsius"]), "let it cool down, and look at its cooling")
		case v["util_percent"] > 5:
			r.add("gpu_busy", "gpu", Warn, fmt.Sprintf("GPU %s is %.0f %% busy before the run", s.Target(), v["util_percent"]), "end what else uses it, or measure with that in mind")
		}
	}
}

func fetch(ctx context.Context, client *http.Client, at string, header http.Header) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return nil, errors.New("its address is not a URL")
	}
	if header != nil {
		req.Header = header.Clone()
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, errors.New("no answer")
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("status %d", resp.StatusCode)
	}
	return io.ReadAll(io.LimitReader(resp.Body, expo.MaxPage+1))
}

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }
