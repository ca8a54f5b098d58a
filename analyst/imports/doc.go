// Package imports reads the result files of other benchmark tools, so that their runs can
// be analyzed, compared and reported like our own: vLLM's and SGLang's serving
// benchmarks, AIPerf, guidellm, and a plain CSV of a sweep.
//
// A file that holds what happened to each request becomes raw records, and every metric is
// computed from them as usual. A file that holds only figures becomes an analysis of those
// figures as the tool gives them, without intervals, and a percentile that so few requests
// cannot support is withheld. Either way [Imported].Cannot says what the file cannot
// support: most record no intended send times, no engine metrics and no client health.
//
// Files are hostile input: sizes are bounded, and an error names the file, the line where
// there is one, and what was expected. Functions are safe for concurrent use.
package imports

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/inferencebench/inferencebench/archive"
)

// MaxFile is the largest file that Read takes, in bytes.
const MaxFile = 512 << 20

// ErrUnknown is returned for a file that is none of the formats.
var ErrUnknown = errors.New("not a result file that can be imported (vLLM bench JSON, SGLang JSONL, AIPerf JSON or JSONL, guidellm JSON, sweep CSV)")

// Imported is one run of another tool.
type Imported struct {
	// Format is "vllm", "sglang", "aiperf", "guidellm" or "sweep-csv".
	Format   string
	Manifest archive.Manifest
	// Requests are raw records, where the file has them.
	Requests []archive.Request
	// Analysis holds the tool's own figures; nil when Requests are there.
	Analysis *archive.Analysis
	// Cannot says what the file cannot support.
	Cannot []archive.Annotation
}

// Read reads a result file: one run, or several where the format holds several.
func Read(path string) ([]*Imported, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, MaxFile+1))
	if err != nil {
		return nil, err
	}
	if len(data) > MaxFile {
		return nil, fmt.Errorf("%s: larger than %d MiB: export without per-request details", path, MaxFile>>20)
	}
	when := time.Time{}
	if info, err := f.Stat(); err == nil {
		when = info.ModTime()
	}
	return Parse(path, data, when)
}

// Parse reads the content of a result file. The name is used in errors and to name runs;
// when is the time of a run whose file does not tell it.
func Parse(name string, data []byte, when time.Time) ([]*Imported, error) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	var out []*Imported
	var err error
	switch trimmed := bytes.TrimSpace(data); {
	case len(trimmed) == 0:
		return nil, fmt.Errorf("%s: the file is empty", name)
	case trimmed[0] == '{':
		out, err = parseJSON(name, data)
	case trimmed[0] == '[':
		return nil, fmt.Errorf("%s: %w", name, ErrUnknown)
	default:
		out, err = parseSweep(name, data)
	}
	if err != nil {
		return nil, err
	}
	for i, im := range out {
		m := &im.Manifest
		if m.Epoch.IsZero() {
			m.Epoch = when
		}
		base := strings.TrimSuffix(filepath.Base(name), filepath.Ext(name))
		if len(out) > 1 {
			base = fmt.Sprintf("%s-%d", base, i+1)
		}
		m.Schema, m.State = archive.SchemaVersion, archive.StateComplete
		m.Name = base
		m.ID = "imported-" + im.Format + "-" + clean(base)
		m.Tool = archive.Tool{Version: "imported from " + im.Format}
		m.Notes = append(m.Notes, im.Cannot...)
		if !m.Started.Known() {
			m.Started = 1
		}
		if im.Analysis != nil {
			im.Analysis.Run, im.Analysis.State, im.Analysis.Schema = m.ID, m.State, archive.SchemaVersion
			im.Analysis.Annotations = append(im.Analysis.Annotations, im.Cannot...)
		}
	}
	return out, nil
}

// clean keeps what may stand in a folder's name.
func clean(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_', r == '.':
			return r
		}
		return '-'
	}, s)
	return strings.Trim(s[:min(len(s), 80)], "-.")
}

// Save writes the run as a run directory, which must not exist. analyze computes the
// analysis of raw records; figures without records keep the analysis they came with.
func (im *Imported) Save(dir string, analyze func(*archive.Run) (*archive.Analysis, error)) error {
	m := im.Manifest
	w, err := archive.Create(dir, m)
	if err != nil {
		return err
	}
	for i := range im.Requests {
		w.Request(&im.Requests[i])
	}
	if err := w.Close(m); err != nil {
		return err
	}
	a := im.Analysis
	if a == nil {
		run, err := archive.Open(dir)
		if err != nil {
			return err
		}
		if a, err = analyze(run); err != nil {
			return err
		}
		a.Annotations = append(a.Annotations, im.Cannot...)
	}
	return archive.WriteAnalysis(dir, a)
}
