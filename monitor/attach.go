package monitor

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os/exec"
	"slices"
	"strings"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/engines"
	"github.com/inferencebench/inferencebench/monitor/gpu"
	"github.com/inferencebench/inferencebench/monitor/kvevents"
	"github.com/inferencebench/inferencebench/monitor/logs"
	"github.com/inferencebench/inferencebench/monitor/node"
	"github.com/inferencebench/inferencebench/monitor/nvml"
	"github.com/inferencebench/inferencebench/monitor/otlp"
	"github.com/inferencebench/inferencebench/monitor/proc"
	"github.com/inferencebench/inferencebench/monitor/slots"
)

// Wanted says what to watch of one server and the machine.
type Wanted struct {
	// Client and Header reach the server; a key is in the header.
	Client *http.Client
	Header http.Header
	// Server is what a probe found. MetricsURLs are further pages with the same names, such
	// as those of several engines behind one address.
	Server      engines.Identity
	MetricsURLs []string
	// Counters are the load generator's own numbers; may be nil.
	Counters func() ClientCounters
	// NoGPU leaves GPUs out. GPUPage is the page of a DCGM or AMD exporter, for GPUs of
	// another machine; "" reads this machine's.
	NoGPU   bool
	GPUPage string
	// GPUs picks the GPUs that count, as indices or UUIDs; "" means those that the server's
	// process sees where that can be told, and all otherwise.
	GPUs string
	// HostPages are the pages of node exporters, for the machines that the server runs on.
	HostPages []string
	// Log is the server's log: a path, journald:UNIT or docker:NAME; "" for none.
	Log string
	// Traces is the address to take request spans in at, such as "127.0.0.1:4318"; "" for
	// none.
	Traces string
	// KVEvents is where the server publishes what happens to its cache's blocks:
	// "tcp://HOST:PORT", or "listen:ADDRESS" for a server that connects to us; "" for none.
	KVEvents string
}

// Attached is what can be watched, and what cannot and why.
type Attached struct {
	Sources  []Source
	Watchers []Watcher
	GPUs     []archive.GPU
	Notes    []archive.Annotation
}

// Attach finds everything that there is to watch. A part that is not there is a note; an
// error is a mistake in what was asked for.
func Attach(ctx context.Context, w Wanted) (Attached, error) {
	var a Attached
	a.Sources = append(a.Sources, NewHost(), NewClient(w.Counters))
	pages := w.MetricsURLs
	if w.Server.MetricsURL != "" {
		pages = append([]string{w.Server.MetricsURL}, pages...)
	}
	for _, page := range pages {
		a.Sources = append(a.Sources, NewEngine(w.Client, page, headerFor(page, w), w.Server.Adapter))
	}
	for _, page := range w.HostPages {
		a.Sources = append(a.Sources, node.New(w.Client, page, headerFor(page, w)))
	}
	a.slots(ctx, w)
	pid, local := proc.Find(proc.Root, w.Server.Base)
	switch {
	case w.Server.Simulated:
		// The simulated engine shares this process or imitates another: its own would mislead.
	case local:
		a.Sources = append(a.Sources, proc.New(proc.Root, pid))
	default:
		a.note("no_server_process", "the server's process is not on this machine or may not be seen: its processor time is unknown")
	}
	if !w.NoGPU && !w.Server.Simulated {
		a.gpus(ctx, w, pid, local)
	}
	if w.Log != "" {
		l, err := logs.Open(w.Log, w.Server.Adapter)
		if err != nil {
			return Attached{}, err
		}
		a.Watchers = append(a.Watchers, l)
	}
	if w.Traces != "" {
		r, err := otlp.Listen(w.Traces)
		if err != nil {
			return Attached{}, err
		}
		a.Watchers = append(a.Watchers, r)
		a.note("traces", "takes request spans in at http://%s/v1/traces", r.Addr())
	}
	if w.KVEvents != "" {
		k, err := kvevents.Open(w.KVEvents)
		if err != nil {
			return Attached{}, err
		}
		a.Sources, a.Watchers = append(a.Sources, k), append(a.Watchers, k)
	}
	return a, nil
}

// headerFor is what may be sent to a page: the server's headers, which may hold its key, go
// to the server's own host alone.
func headerFor(page string, w Wanted) http.Header {
	p, err1 := url.Parse(page)
	s, err2 := url.Parse(w.Server.Base)
	if err1 != nil || err2 != nil || !strings.EqualFold(p.Hostname(), s.Hostname()) {
		return nil
	}
	return w.Header
}

func (a *Attached) note(code, format string, args ...any) {
	a.Notes = append(a.Notes, archive.Annotation{Code: code, Message: fmt.Sprintf(format, args...)})
}

// slots adds llama.cpp's slots, where the server shows them.
func (a *Attached) slots(ctx context.Context, w Wanted) {
	if w.Server.Adapter == nil || w.Server.Adapter.Name != "llama_cpp" {
		return
	}
	s := slots.New(w.Client, w.Server.Base, w.Header)
	if _, err := s.Read(ctx); err != nil {
		a.note("no_slots", "the cache use of llama.cpp is unknown: %v", err)
		return
	}
	a.Sources = append(a.Sources, s)
}

// gpus adds the GPUs by the best way there is: an exporter that was named, the driver's
// library, a command.
func (a *Attached) gpus(ctx context.Context, w Wanted, pid int, local bool) {
	visible := w.GPUs
	if visible == "" && local {
		for _, name := range []string{"CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"} {
			if v, ok := proc.Env(proc.Root, pid, name); ok {
				visible = v
				a.note("gpus_used", "the server sees the GPUs %q (%s); only those count", v, name)
				break
			}
		}
	}
	if w.GPUPage != "" {
		a.page(ctx, gpu.Page(w.Client, w.GPUPage, headerFor(w.GPUPage, w), visible))
		return
	}
	found, xid, note := nvml.OpenAll()
	if xid != nil && len(found) > 0 {
		a.Watchers = append(a.Watchers, xid)
	}
	if len(found) > 0 {
		var sources []Source
		var gpus []archive.GPU
		for _, g := range found {
			sources, gpus = append(sources, g), append(gpus, g.GPU())
		}
		rs := make([]gpu.Reading, len(gpus))
		for i, g := range gpus {
			rs[i] = gpu.Reading{Index: g.Index, UUID: g.UUID, Name: fmt.Sprint(i)}
		}
		if visible == "" && local {
			rs = a.occupied(rs, sources, proc.Tree(proc.Root, pid))
		}
		for _, r := range gpu.Used(rs, visible) {
			var i int
			_, _ = fmt.Sscan(r.Name, &i)
			a.Sources, a.GPUs = append(a.Sources, sources[i]), append(a.GPUs, gpus[i])
		}
		if len(a.GPUs) == 0 {
			a.note("no_gpus_used", "none of %d GPUs is among those that the server uses (%q)", len(gpus), visible)
		}
		return
	}
	for _, argv := range gpu.SMICommands() {
		if _, err := exec.LookPath(argv[0]); err == nil {
			a.page(ctx, gpu.Command(argv, visible))
			return
		}
	}
	if note != "" {
		a.note("no_gpu", "%s", note)
	}
}

// occupied keeps the GPUs that one of the processes computes on; all of them where none is
// seen to, such as a server in a container of its own.
func (a *Attached) occupied(rs []gpu.Reading, sources []Source, pids []int) []gpu.Reading {
	var used []gpu.Reading
	for i, s := range sources {
		p, ok := s.(interface{ Processes() ([]int, bool) })
		if !ok {
			continue
		}
		on, ok := p.Processes()
		if ok && slices.ContainsFunc(on, func(pid int) bool { return slices.Contains(pids, pid) }) {
			used = append(used, rs[i])
		}
	}
	if len(used) == 0 {
		return rs
	}
	if len(used) < len(rs) {
		a.note("gpus_used", "the server's processes compute on %d of %d GPUs; only those count", len(used), len(rs))
	}
	return used
}

// page adds GPUs that are read together.
func (a *Attached) page(ctx context.Context, s *gpu.Source) {
	gpus, err := s.Describe(ctx)
	if err != nil {
		a.note("no_gpu", "no GPU telemetry from %s: %v", s.Target(), err)
		return
	}
	a.GPUs = gpus
	a.Sources = append(a.Sources, s)
}
