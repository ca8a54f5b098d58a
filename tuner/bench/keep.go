package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/inferencebench/inferencebench/tuner/landscape"
)

// kept returns what an earlier run of the same program with the same options found on a
// landscape, or else compares, and keeps it in the folder of the tables. So a comparison
// that was interrupted goes on, and several processes can share one. Without a folder
// nothing is kept.
func kept(ctx context.Context, o options, spec *landscape.Spec) (*row, error) {
	if o.cache == "" {
		return compare(ctx, o, spec)
	}
	id, err := identity(o)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(o.cache, fmt.Sprintf("%s-studies-%x.json", spec.Name, id[:8]))
	r := &row{}
	if raw, err := os.ReadFile(path); err == nil && json.Unmarshal(raw, r) == nil && len(r.Outcomes) == len(o.strategies) {
		r.spec = spec
		return r, nil
	}
	if r, err = compare(ctx, o, spec); err != nil {
		return nil, err
	}
	raw, err := json.Marshal(r)
	if err == nil {
		err = os.MkdirAll(o.cache, 0o755)
	}
	if err == nil {
		err = os.WriteFile(path+".new", raw, 0o644)
	}
	if err == nil {
		err = os.Rename(path+".new", path)
	}
	if err != nil {
		return nil, fmt.Errorf("keep the studies of %s: %w", spec.Name, err)
	}
	return r, nil
}

// identity tells programs and options apart that may come to different figures: it is the
// hash of the program's file and of the options that matter.
func identity(o options) ([]byte, error) {
	path, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("which program this is: %w", err)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read the program: %w", err)
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return nil, fmt.Errorf("read the program: %w", err)
	}
	fmt.Fprintf(h, "%d %d %s %q", o.seeds, o.first, o.budget, o.strategies)
	return h.Sum(nil), nil
}
