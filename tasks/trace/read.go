package trace

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"strings"
)

// Format names a trace format.
type Format string

// The formats of request traces.
const (
	Azure    Format = "azure"
	BurstGPT Format = "burstgpt"
	Etalon   Format = "etalon"
	Mooncake Format = "mooncake"
	Bailian  Format = "bailian"
	GHCP     Format = "ghcp"
	Native   Format = "native"
)

// Trace is a trace in memory, in order of time.
type Trace struct {
	Name   string
	Format Format
	Rows   []Row
	// OutOfOrder counts rows that were earlier than the row before them in the file.
	OutOfOrder int
}

// maxRows bounds a trace that is held in memory.
const maxRows = 20_000_000

// Load reads a whole file. The first bad line is the error, a *LineError, and nothing is
// returned with it. Rows are sorted by time, and the first is at 0.
func Load(path string) (*Trace, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("trace: %w", err)
	}
	defer f.Close()
	return Read(path, f)
}

// Read is Load from a stream that errors call name.
func Read(name string, r io.Reader) (*Trace, error) {
	t := &Trace{Name: name}
	var last Row
	for row, err := range Rows(name, r, &t.Format) {
		if err != nil {
			return nil, err
		}
		if len(t.Rows) == maxRows {
			return nil, fmt.Errorf("%s: more than %d requests; cut the trace into parts", name, maxRows)
		}
		if len(t.Rows) > 0 && row.At < last.At {
			t.OutOfOrder++
		}
		last = row
		t.Rows = append(t.Rows, row)
	}
	if len(t.Rows) == 0 {
		return nil, fmt.Errorf("%s: no requests in it", name)
	}
	slices.SortStableFunc(t.Rows, func(a, b Row) int {
		switch {
		case a.At < b.At:
			return -1
		case a.At > b.At:
			return 1
		}
		return 0
	})
	origin := t.Rows[0].At
	for i := range t.Rows {
		t.Rows[i].At -= origin
	}
	return t, nil
}

// Rows streams the rows of a trace in file order. A bad line yields a *LineError and
// iteration goes on with the next; a stream that cannot be read or recognised yields an
// error and ends. format, when not nil, is set before the first row.
func Rows(name string, r io.Reader, format *Format) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		for p, err := range parts(name, r, 0) {
			if err != nil {
				if !yield(Row{}, err) {
					return
				}
				continue
			}
			if !readPart(p, format, yield) {
				return
			}
		}
	}
}

// decoder makes the rows of one line.
type decoder func(text []byte, yield func(Row) bool) error

func readPart(p part, format *Format, yield func(Row, error) bool) bool {
	var dec decoder
	session := 0
	for l, err := range lines(p.r) {
		if err != nil {
			return yield(Row{}, &LineError{p.name, l.n, err.Error()})
		}
		if dec == nil {
			f, d, header, err := detect(l.text, &session, p.name)
			if err != nil {
				return yield(Row{}, &LineError{p.name, l.n, err.Error()})
			}
			dec = d
			if format != nil {
				*format = f
			}
			if header {
				continue
			}
		}
		more := true
		err = dec(l.text, func(row Row) bool {
			if err := row.check(); err != nil {
				more = yield(Row{}, &LineError{p.name, l.n, err.Error()})
			} else {
				more = yield(row, nil)
			}
			return more
		})
		if err != nil {
			more = yield(Row{}, &LineError{p.name, l.n, err.Error()})
		}
		if !more {
			return false
		}
	}
	return true
}

// detect tells the format by the first line.
func detect(text []byte, session *int, file string) (Format, decoder, bool, error) {
	if len(text) > 0 && text[0] == '{' {
		f, d, err := detectJSON(text, session, file)
		return f, d, false, err
	}
	head, err := fields(text)
	if err != nil {
		return "", nil, false, fmt.Errorf("neither JSON nor a CSV header: %w", err)
	}
	f, d, err := detectCSV(head)
	return f, d, true, err
}

// fields splits one line of CSV.
func fields(text []byte) ([]string, error) {
	s := string(text)
	if !strings.Contains(s, `"`) {
		return strings.Split(s, ","), nil
	}
	c := csv.NewReader(strings.NewReader(s))
	rec, err := c.Read()
	if err != nil {
		var pe *csv.ParseError
		if errors.As(err, &pe) {
			return nil, fmt.Errorf("column %d: %w", pe.Column, pe.Err)
		}
		return nil, err
	}
	return rec, nil
}
