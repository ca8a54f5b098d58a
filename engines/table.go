package engines

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/goccy/go-yaml"
)

// The names of adapters that code refers to.
const (
	Generic = "generic" // any server that speaks the OpenAI API
	Unknown = "unknown" // what a server that is not recognised is called in a manifest
)

//go:embed data/*.yaml data/knobs/*.yaml data/common/*.yaml
var data embed.FS

// loaded reads the embedded data at most once.
var loaded = sync.OnceValue(func() []*Adapter {
	out, err := load(data, "data")
	if err != nil {
		// The data is compiled in and tested: this is a fault of the build.
		panic(fmt.Sprintf("engines: embedded data: %v", err))
	}
	return out
})

// Table returns every adapter, sorted by name, the generic one last. The slice is the
// caller's; the adapters are shared.
func Table() []*Adapter { return slices.Clone(loaded()) }

// Lookup returns the adapter with this name.
func Lookup(name string) (*Adapter, bool) {
	for _, a := range loaded() {
		if a.Name == name {
			return a, true
		}
	}
	return nil, false
}

// CommonLogs returns the log patterns that hold for any server and for the kernel.
func CommonLogs() []LogPattern { return slices.Clone(commonLogs()) }

var commonLogs = sync.OnceValue(func() []LogPattern {
	var out struct {
		Logs []LogPattern `yaml:"logs"`
	}
	b, err := fs.ReadFile(data, "data/common/logs.yaml")
	if err == nil {
		err = yaml.UnmarshalWithOptions(b, &out, yaml.Strict())
	}
	if err != nil {
		panic(fmt.Sprintf("engines: embedded data: %v", err))
	}
	return out.Logs
})

// load reads and checks all adapters of a folder.
func load(fsys fs.FS, dir string) ([]*Adapter, error) {
	files, err := fs.Glob(fsys, path.Join(dir, "*.yaml"))
	if err != nil {
		return nil, err
	}
	var out []*Adapter
	for _, f := range files {
		b, err := fs.ReadFile(fsys, f)
		if err != nil {
			return nil, err
		}
		a := new(Adapter)
		if err := yaml.UnmarshalWithOptions(b, a, yaml.Strict()); err != nil {
			return nil, fmt.Errorf("%s: %w", f, err)
		}
		if b, err := fs.ReadFile(fsys, path.Join(dir, "knobs", path.Base(f))); err == nil {
			more := struct {
				Knobs []Knob `yaml:"knobs"`
			}{}
			if err := yaml.UnmarshalWithOptions(b, &more, yaml.Strict()); err != nil {
				return nil, fmt.Errorf("knobs of %s: %w", f, err)
			}
			a.Knobs = append(a.Knobs, more.Knobs...)
		}
		if err := a.check(strings.TrimSuffix(path.Base(f), ".yaml")); err != nil {
			return nil, fmt.Errorf("%s: %w", f, err)
		}
		out = append(out, a)
	}
	for _, a := range out {
		if err := a.inherit(out); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(out, func(a, b *Adapter) int {
		if g := (a.Name == Generic); g != (b.Name == Generic) {
			if g {
				return 1
			}
			return -1
		}
		return strings.Compare(a.Name, b.Name)
	})
	return out, nil
}

// inherit fills what a has none of from the adapter that it is like.
func (a *Adapter) inherit(all []*Adapter) error {
	if a.Like == "" {
		return nil
	}
	i := slices.IndexFunc(all, func(o *Adapter) bool { return o.Name == a.Like })
	if i < 0 || all[i].Like != "" {
		return fmt.Errorf("adapter %s is like %q, which is no adapter with data of its own", a.Name, a.Like)
	}
	o := all[i]
	if a.Sources == nil {
		a.Sources = o.Sources
	}
	if a.Absent == nil {
		a.Absent = o.Absent
	}
	if a.Settings == nil {
		a.Settings = o.Settings
	}
	if a.Knobs == nil {
		a.Knobs = o.Knobs
	}
	if a.Logs == nil {
		a.Logs = o.Logs
	}
	return nil
}

// check reports everything that is wrong with an adapter's data.
func (a *Adapter) check(file string) error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if a.Name != file {
		bad("name %q is not the file's name %q", a.Name, file)
	}
	if a.Title == "" || a.About == "" {
		bad("title and about must be set")
	}
	oneOf := func(what, got string, allowed ...string) {
		if !slices.Contains(allowed, got) {
			bad("%s %q is none of %v", what, got, allowed)
		}
	}
	oneOf("tier", a.Tier, "full", "partial", "black_box")
	oneOf("metrics.format", a.Metrics.Format, "prometheus", "json", "none")
	canon := canonicalByName()
	for name, cands := range a.Sources {
		if _, ok := canon[name]; !ok {
			bad("signal %q is not canonical", name)
		}
		if len(cands) == 0 {
			bad("signal %q has no candidate", name)
		}
		if slices.Contains(a.Absent, name) {
			bad("signal %q is both offered and absent", name)
		}
		for _, c := range cands {
			oneOf("type of "+c.Metric, c.Type, "gauge", "counter", "histogram", "sum", "label", "label_product", "ratio", "product")
			oneOf("agg of "+c.Metric, c.Agg, "", "sum", "max", "mean")
			if c.Metric == "" {
				bad("signal %q has a candidate without metric", name)
			}
			if (c.Type == "label" || c.Type == "label_product") == (len(c.Labels) == 0) || (c.Type == "ratio" || c.Type == "product") == (c.Over == "") {
				bad("candidate %q of %q: labels go with the types label and label_product, over with ratio and product", c.Metric, name)
			}
		}
	}
	for _, name := range a.Absent {
		if _, ok := canon[name]; !ok {
			bad("absent signal %q is not canonical", name)
		}
	}
	for _, s := range a.Settings {
		if s.Name == "" || (s.Path == "") == (s.Metric == "") || (s.Path == "") != (s.Key == "") || (s.Metric == "") != (s.Label == "" && !s.Value) {
			bad("setting %q needs path and key, or metric and label or value", s.Name)
		}
	}
	for _, ad := range a.Advice {
		if _, ok := canon[ad.Missing]; !ok || ad.Do == "" {
			bad("advice for %q needs a canonical signal and what to do", ad.Missing)
		}
	}
	for i := range a.Knobs {
		errs = append(errs, a.Knobs[i].check())
		if slices.ContainsFunc(a.Knobs[:i], func(o Knob) bool { return o.Name == a.Knobs[i].Name }) {
			bad("knob %s is there twice", a.Knobs[i].Name)
		}
		for _, x := range a.Knobs[i].Excludes {
			if !slices.ContainsFunc(a.Knobs, func(o Knob) bool { return o.Name == x && slices.Contains(o.Excludes, a.Knobs[i].Name) }) {
				bad("knob %s excludes %s, which is no knob or does not exclude it", a.Knobs[i].Name, x)
			}
		}
	}
	for _, l := range a.Logs {
		if err := l.check(); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
