// Package parquet writes the records of a run as Apache Parquet: one file of requests and
// one of telemetry samples, for DuckDB, pandas, Spark and the like. It is a package of
// its own because the library behind it is heavy.
//
// Times are columns of 64-bit integers in nanoseconds since the run's epoch, as in the
// JSON files; a fact that is not known is null. Writers stream: memory is bounded by one
// row group. A run whose lines cannot all be read is written without those lines.
package parquet

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	pq "github.com/parquet-go/parquet-go"

	"github.com/inferencebench/inferencebench/archive"
)

// The usual names of the two files.
const (
	RequestsFile = "requests.parquet"
	SeriesFile   = "series.parquet"
)

// batch is how many rows are handed to the writer at once, and group how many make a row
// group.
const (
	batch = 256
	group = 20_000
)

// Request is one row of the requests file. The columns carry the names of the JSON
// fields, joined by underscores.
type Request struct {
	ID           string  `parquet:"id"`
	Session      string  `parquet:"session,dict"`
	Turn         int32   `parquet:"turn"`
	Phase        string  `parquet:"phase,dict"`
	Task         string  `parquet:"task,dict"`
	Kind         string  `parquet:"kind,dict"`
	Status       string  `parquet:"status,dict"`
	ErrorKind    *string `parquet:"error_kind,optional,dict"`
	ErrorMessage *string `parquet:"error_message,optional"`
	HTTPStatus   *int32  `parquet:"http_status,optional"`

	Intended *int64 `parquet:"t_int,optional"`
	Send     *int64 `parquet:"t_send,optional"`
	Headers  *int64 `parquet:"t_headers,optional"`
	First    *int64 `parquet:"t_first,optional"`
	Answer   *int64 `parquet:"t_answer,optional"`
	Last     *int64 `parquet:"t_last,optional"`
	Done     *int64 `parquet:"t_done,optional"`

	ChunkTimes  []int64 `parquet:"chunks_t"`
	ChunkTokens []int32 `parquet:"chunks_tokens"`
	Coalesced   int32   `parquet:"chunks_coalesced"`

	Prompt     *int32 `parquet:"usage_prompt,optional"`
	Completion *int32 `parquet:"usage_completion,optional"`
	Reasoning  *int32 `parquet:"usage_reasoning,optional"`
	Cached     *int32 `parquet:"usage_cached,optional"`
	Source     string `parquet:"usage_source,dict"`

	AskedPrompt *int32 `parquet:"asked_prompt_tokens,optional"`
	AskedMax    *int32 `parquet:"asked_max_tokens,optional"`

	Finish     string `parquet:"finish,dict"`
	Text       string `parquet:"text"`
	TextSHA256 string `parquet:"text_sha256"`
	Item       string `parquet:"item,dict"`
}

// Sample is one row of the series file: one value of one source at one instant.
type Sample struct {
	T      int64   `parquet:"t,delta"`
	Source string  `parquet:"source,dict"`
	Target string  `parquet:"target,dict"`
	Name   string  `parquet:"name,dict"`
	Value  float64 `parquet:"value"`
}

// Requests writes every request of the run. On an error what was written is no valid
// file: write to a temporary name and rename it.
func Requests(w io.Writer, run *archive.Run) error {
	rows := newRows[Request](w)
	for r, err := range run.Requests() {
		if err != nil {
			if isLine(err) {
				continue
			}
			return fmt.Errorf("parquet: %w", err)
		}
		if err := rows.add(request(r)); err != nil {
			return err
		}
	}
	return rows.close()
}

// Series writes every value of every sample, one a row, names in order within a sample.
func Series(w io.Writer, run *archive.Run) error {
	rows := newRows[Sample](w)
	for s, err := range run.Samples() {
		if err != nil {
			if isLine(err) {
				continue
			}
			return fmt.Errorf("parquet: %w", err)
		}
		for _, name := range slices.Sorted(maps.Keys(s.Values)) {
			if err := rows.add(Sample{int64(s.T), s.Source, s.Target, name, s.Values[name]}); err != nil {
				return err
			}
		}
	}
	return rows.close()
}

func isLine(err error) bool {
	var l *archive.LineError
	return errors.As(err, &l)
}

// rows batches rows for the generic writer and ends a row group every group rows.
type rows[T any] struct {
	w   *pq.GenericWriter[T]
	buf []T
	n   int
}

func newRows[T any](w io.Writer) *rows[T] {
	return &rows[T]{w: pq.NewGenericWriter[T](w, pq.Compression(&pq.Zstd)), buf: make([]T, 0, batch)}
}

func (r *rows[T]) add(v T) error {
	r.buf = append(r.buf, v)
	if len(r.buf) < batch {
		return nil
	}
	return r.flush()
}

func (r *rows[T]) flush() error {
	if _, err := r.w.Write(r.buf); err != nil {
		return fmt.Errorf("parquet: %w", err)
	}
	r.n += len(r.buf)
	r.buf = r.buf[:0]
	if r.n >= group {
		r.n = 0
		if err := r.w.Flush(); err != nil {
			return fmt.Errorf("parquet: %w", err)
		}
	}
	return nil
}

func (r *rows[T]) close() error {
	if err := r.flush(); err != nil {
		return err
	}
	if err := r.w.Close(); err != nil {
		return fmt.Errorf("parquet: %w", err)
	}
	return nil
}

func request(r *archive.Request) Request {
	out := Request{
		ID: r.ID, Session: r.Session, Turn: int32(r.Turn), Phase: r.Phase, Task: r.Task, Kind: string(r.Kind), Status: string(r.Status),
		Intended: at(r.T.Intended), Send: at(r.T.Send), Headers: at(r.T.Headers), First: at(r.T.First), Answer: at(r.T.Answer), Last: at(r.T.Last), Done: at(r.T.Done),
		ChunkTokens: r.Chunks.Tokens, Coalesced: int32(r.Chunks.Coalesced),
		Prompt: count(r.Usage.Prompt), Completion: count(r.Usage.Completion), Reasoning: count(r.Usage.Reasoning), Cached: count(r.Usage.Cached), Source: string(r.Usage.Source),
		AskedPrompt: count(r.Asked.PromptTokens), AskedMax: count(r.Asked.MaxTokens),
		Finish: r.Finish, Text: r.Text, TextSHA256: r.TextSHA256, Item: r.Item,
	}
	for _, t := range r.Chunks.T {
		out.ChunkTimes = append(out.ChunkTimes, int64(t))
	}
	if r.Error != nil {
		out.ErrorKind, out.ErrorMessage, out.HTTPStatus = &r.Error.Kind, &r.Error.Message, count(r.Error.HTTPStatus)
	}
	return out
}

func at(i archive.Instant) *int64 {
	if !i.Known() {
		return nil
	}
	n := int64(i)
	return &n
}

func count(o archive.Opt[int]) *int32 {
	v, ok := o.Get()
	if !ok {
		return nil
	}
	n := int32(min(max(v, -1<<31), 1<<31-1)) //nolint:gosec // bounded on the same line
	return &n
}
