package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/inferencebench/inferencebench/campaign"
	"github.com/inferencebench/inferencebench/engines"
	"github.com/inferencebench/inferencebench/report/mcp"
	"github.com/inferencebench/inferencebench/tuner/live"
)

// mcpTarget is what a target of the tools stands for.
type mcpTarget struct {
	campaign campaign.Target
	study    *live.File // nil: never changed
}

// open reads what the flags name. Every problem is reported, joined.
func (f *mcpFlags) open() ([]*mcp.Target, error) {
	var out []*mcp.Target
	var errs []error
	for _, s := range f.targets {
		name, what, ok := strings.Cut(s, "=")
		if !ok {
			errs = append(errs, fmt.Errorf("--target %q: give NAME=URL or NAME=campaign.yaml", s))
			continue
		}
		t, err := readTarget(what)
		if err != nil {
			errs = append(errs, fmt.Errorf("--target %s: %w", name, err))
			continue
		}
		out = append(out, &mcp.Target{Name: name, Ref: &mcpTarget{campaign: t}})
	}
	for _, s := range f.studies {
		name, path, ok := strings.Cut(s, "=")
		if !ok {
			errs = append(errs, fmt.Errorf("--study %q: give NAME=study.yaml", s))
			continue
		}
		t, err := readStudy(name, path)
		if err != nil {
			errs = append(errs, fmt.Errorf("--study %s: %w", name, err))
			continue
		}
		out = append(out, t)
	}
	if len(f.targets)+len(f.studies) == 0 {
		demo := live.Demo()
		demo.Resolve()
		t, err := tunable("simulator", demo)
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	l := f.limits
	if l.Time <= 0 || l.Requests <= 0 || l.Concurrency <= 0 || !(l.Rate > 0) || l.Duration <= 0 {
		errs = append(errs, errors.New("budget, requests and ceilings must be above 0"))
	}
	return out, errors.Join(errs...)
}

// readTarget reads a URL, or the target of a campaign file.
func readTarget(what string) (campaign.Target, error) {
	if !strings.HasSuffix(what, ".yaml") && !strings.HasSuffix(what, ".yml") {
		if _, err := engines.NormalizeBase(what); err != nil {
			return campaign.Target{}, err
		}
		t := campaign.Default().Target
		t.URL = what
		return t, nil
	}
	file, err := campaign.Load(what, campaign.Default())
	if err != nil {
		return campaign.Target{}, err
	}
	if file.Config.Target.URL == "" {
		return campaign.Target{}, fmt.Errorf("%s names no target.url", what)
	}
	return file.Config.Target, nil
}

func readStudy(name, path string) (*mcp.Target, error) {
	file, doc, err := live.LoadFile(path)
	if err != nil {
		return nil, err
	}
	file.Resolve()
	if err := file.Validate(); err != nil {
		return nil, doc.Locate(err)
	}
	if len(file.Command) == 0 {
		return nil, fmt.Errorf("%s has no launch command; name the server by --target to have it measured only", path)
	}
	return tunable(name, file)
}

// tunable is the target of a study file.
func tunable(name string, file *live.File) (*mcp.Target, error) {
	tmp, err := os.MkdirTemp("", "inferencebench-mcp-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(tmp)
	own, err := copyFile(file)
	if err != nil {
		return nil, err
	}
	setup, err := live.Prepare(filepath.Join(tmp, "study"), own, live.Environment{Now: time.Now})
	if err != nil {
		return nil, err
	}
	t := &mcp.Target{
		Name: name, Simulated: file.Simulate, Tunable: true, Goal: file.Goal, SLO: file.SLO, Knobs: map[string][]string{},
		Ref: &mcpTarget{campaign: file.Target, study: file},
	}
	for _, d := range setup.Space.Dims {
		for _, v := range d.Values {
			if v != "" {
				t.Knobs[d.Name] = append(t.Knobs[d.Name], v)
			}
		}
	}
	return t, nil
}

// copyFile is a study file that may be changed without changing the first.
func copyFile(f *live.File) (*live.File, error) {
	b, err := json.Marshal(f)
	if err != nil {
		return nil, err
	}
	var out live.File
	if err := json.Unmarshal(b, &out); err != nil {
		return nil, err
	}
	out.Target = f.Target // its JSON form lacks headers and proxy
	return &out, nil
}
