// Package datasets fetches the public item sets that the project does not ship, checks
// them against known checksums and keeps them in a cache folder.
package datasets

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Dataset is one public file at one version.
type Dataset struct {
	Name    string // what users call it
	File    string // its name in the cache
	URL     string // pinned to a commit
	SHA256  string // of the file as served
	Bytes   int64
	Licence string
	About   string // one line
}

// Known returns the datasets that Pull can fetch, by name.
func Known() []Dataset {
	return []Dataset{
		{
			Name: "gsm8k", File: "gsm8k-test.jsonl", Bytes: 749738, Licence: "MIT, Copyright (c) 2021 OpenAI",
			URL:    "https://raw.githubusercontent.com/openai/grade-school-math/3101c7d5072418e28b9008a6636bde82a006892c/grade_school_math/data/test.jsonl",
			SHA256: "3730d312f6e3440559ace48831e51066acaca737f6eabec99bccb9e4b3c39d14",
			About:  "1,319 grade-school maths problems",
		},
		{
			Name: "humaneval", File: "HumanEval.jsonl.gz", Bytes: 44877, Licence: "MIT, Copyright (c) OpenAI",
			URL:    "https://raw.githubusercontent.com/openai/human-eval/6d43fb980f9fee3c892a914eda09951f772ad10d/data/HumanEval.jsonl.gz",
			SHA256: "b796127e635a67f93fb35c04f4cb03cf06f38c8072ee7cee8833d7bee06979ef",
			About:  "164 Python functions with tests",
		},
	}
}

// Lookup returns the dataset of a name; the error lists the names there are.
func Lookup(name string) (Dataset, error) {
	all := Known()
	if i := slices.IndexFunc(all, func(d Dataset) bool { return d.Name == name }); i >= 0 {
		return all[i], nil
	}
	names := make([]string, len(all))
	for i, d := range all {
		names[i] = d.Name
	}
	return Dataset{}, fmt.Errorf("unknown dataset %.40q: known are %s", name, strings.Join(names, ", "))
}

// Dir is the cache folder: $INFERENCEBENCH_CACHE, or inferencebench below the user's
// cache folder.
func Dir() (string, error) {
	if dir := os.Getenv("INFERENCEBENCH_CACHE"); dir != "" {
		return filepath.Join(dir, "datasets"), nil
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no cache folder: %w; set INFERENCEBENCH_CACHE", err)
	}
	return filepath.Join(dir, "inferencebench", "datasets"), nil
}

// Cached returns the path of a dataset in dir when it is there and its checksum is right.
func (d Dataset) Cached(dir string) (string, bool) {
	path := filepath.Join(dir, d.File)
	f, err := os.Open(path)
	if err != nil {
		return path, false
	}
	defer f.Close()
	sum, err := checksum(io.LimitReader(f, d.Bytes+1))
	return path, err == nil && sum == d.SHA256
}

// UnreachableError means that the dataset could not be fetched; it tells how to get it by
// hand.
type UnreachableError struct {
	Dataset Dataset
	Path    string
	Err     error
}

func (e *UnreachableError) Error() string {
	return fmt.Sprintf("fetch dataset %s: %v; without a network here, fetch %s elsewhere and put it at %s, or give the file's path to the run", e.Dataset.Name, e.Err, e.Dataset.URL, e.Path)
}

func (e *UnreachableError) Unwrap() error { return e.Err }

// Pull returns the path of the dataset in dir and fetches it first when it is not there.
// A file with a wrong checksum is never left behind under the dataset's name. It is safe
// for concurrent use, by several processes as well.
func Pull(ctx context.Context, client *http.Client, d Dataset, dir string) (string, error) {
	path, ok := d.Cached(dir)
	if ok {
		return path, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("cache folder: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, d.URL, nil)
	if err != nil {
		return "", fmt.Errorf("fetch dataset %s: %w", d.Name, err)
	}
	resp, err := client.Do(req)
	if err != nil {
		return "", &UnreachableError{d, path, err}
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return "", &UnreachableError{d, path, fmt.Errorf("the server answers %s", resp.Status)}
	}
	return path, d.store(resp.Body, dir, path)
}

// store writes the body beside its place, checks it and moves it there.
func (d Dataset) store(body io.Reader, dir, path string) error {
	tmp, err := os.CreateTemp(dir, d.File+".part-*")
	if err != nil {
		return fmt.Errorf("cache folder: %w", err)
	}
	defer os.Remove(tmp.Name())
	sum, err := checksum(io.TeeReader(io.LimitReader(body, d.Bytes+1), tmp))
	if err := errors.Join(err, tmp.Sync(), tmp.Close()); err != nil {
		return &UnreachableError{d, path, err}
	}
	if sum != d.SHA256 {
		return fmt.Errorf("dataset %s: what %s serves has checksum %s, not %s; nothing was kept", d.Name, d.URL, sum, d.SHA256)
	}
	if err := os.Chmod(tmp.Name(), 0o644); err != nil && !errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("cache folder: %w", err)
	}
	if err := os.Rename(tmp.Name(), path); err != nil {
		return fmt.Errorf("cache folder: %w", err)
	}
	return nil
}

func checksum(r io.Reader) (string, error) {
	h := sha256.New()
	if _, err := io.Copy(h, r); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
