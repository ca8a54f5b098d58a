// Package export writes a run's analysis in formats that other programs and people read:
// Markdown, CSV, JUnit, the result file of vLLM's benchmark, the llm-d Benchmark Report,
// and Parquet. [Formats] lists them; the schemas of this project's own files come from
// [Schemas].
//
// A number that the analysis withholds is left out or left empty in every format, with
// its reason where the format has room; it is never written as zero. Text from outside is
// escaped for the format. Writers keep no state and may be used from any goroutine; runs
// of any size are read as streams.
package export

import (
	"fmt"
	"io"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/report/export/parquet"
)

// Format is one way to write a run.
type Format struct {
	Name string // as a user types it
	File string // the usual file name
	Text string // what it is, one line
	// Write writes the run. The error is one of reading the run's files or of the writer.
	Write func(w io.Writer, run *archive.Run, a *archive.Analysis) error
}

// Formats lists the formats, in the order they are shown to users.
func Formats() []Format {
	return []Format{
		{"markdown", "report.md", "summary for a pull request or a wiki page", Markdown},
		{"csv", "metrics.csv", "every metric with its interval, one statistic a row", CSV},
		{"requests-csv", "requests.csv", "every request, one a row", RequestsCSV},
		{"junit", "junit.xml", "objectives and validity gates as test cases", JUnit},
		{"vllm", "vllm.json", "result file of vLLM's benchmark, by its definitions", VLLM},
		{"vllm-detailed", "vllm-detailed.json", "the same with one entry a request", VLLMDetailed},
		{"llm-d", "benchmark-report.json", "llm-d Benchmark Report " + llmdVersion, LLMD},
		{"parquet", parquet.RequestsFile, "every request as Apache Parquet", func(w io.Writer, run *archive.Run, _ *archive.Analysis) error { return parquet.Requests(w, run) }},
		{"parquet-series", parquet.SeriesFile, "telemetry as Apache Parquet, one value a row", func(w io.Writer, run *archive.Run, _ *archive.Analysis) error { return parquet.Series(w, run) }},
	}
}

// Lookup returns the format of a name. The error lists the names.
func Lookup(name string) (Format, error) {
	names := ""
	for _, f := range Formats() {
		if f.Name == name {
			return f, nil
		}
		names += " " + f.Name
	}
	return Format{}, fmt.Errorf("no format %q: use one of%s", name, names)
}

// metric returns the metric of an id over a scope.
func metric(a *archive.Analysis, scope, id string) (*archive.Metric, bool) {
	for i := range a.Metrics {
		if a.Metrics[i].ID == id && a.Metrics[i].Scope == scope {
			return &a.Metrics[i], true
		}
	}
	return nil, false
}
