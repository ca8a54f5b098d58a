package trace

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// detectCSV tells a CSV format by its header.
func detectCSV(head []string) (Format, decoder, error) {
	at := map[string]int{}
	for i, h := range head {
		at[strings.ToLower(strings.TrimSpace(h))] = i
	}
	has := func(names ...string) bool {
		for _, n := range names {
			if _, ok := at[n]; !ok {
				return false
			}
		}
		return true
	}
	c := columns{at: at, width: len(head)}
	switch {
	case has("timestamp", "contexttokens", "generatedtokens"):
		return Azure, c.azure(), nil
	case has("timestamp", "request tokens", "response tokens"):
		return BurstGPT, c.burst(), nil
	case has("num_prefill_tokens", "num_decode_tokens"):
		return Etalon, c.etalon(), nil
	}
	return "", nil, fmt.Errorf("the columns %.200q are of no known trace; known are Azure (TIMESTAMP,ContextTokens,GeneratedTokens), BurstGPT (Timestamp,…,Request tokens,Response tokens) and Etalon (num_prefill_tokens,num_decode_tokens)", strings.Join(head, ","))
}

// columns finds fields by the name in the header.
type columns struct {
	at    map[string]int
	width int
}

// row splits a line and checks its width.
func (c columns) row(text []byte) ([]string, error) {
	rec, err := fields(text)
	if err != nil {
		return nil, err
	}
	if len(rec) != c.width {
		return nil, fmt.Errorf("%d columns; the header has %d", len(rec), c.width)
	}
	return rec, nil
}

// count reads a whole number of tokens; "128.0" is one too.
func (c columns) count(rec []string, name string) (int, error) {
	s := strings.TrimSpace(rec[c.at[name]])
	if n, err := strconv.Atoi(s); err == nil {
		return n, nil
	}
	x, err := strconv.ParseFloat(s, 64)
	if err != nil || x != math.Trunc(x) || math.Abs(x) > maxTokens {
		return 0, fmt.Errorf("column %s: %q is not a whole number", name, s)
	}
	return int(x), nil
}

func (c columns) azure() decoder {
	_, images := c.at["numimages"]
	return func(text []byte, yield func(Row) bool) error {
		rec, err := c.row(text)
		if err != nil {
			return err
		}
		t, err := stamp(rec[c.at["timestamp"]])
		if err != nil {
			return err
		}
		row := Row{At: t.Sub(time.Unix(0, 0)), Timed: true, Cached: -1}
		if row.In, err = c.count(rec, "contexttokens"); err != nil {
			return err
		}
		if row.Out, err = c.count(rec, "generatedtokens"); err != nil {
			return err
		}
		if images {
			if row.Images, err = c.count(rec, "numimages"); err != nil {
				return err
			}
		}
		yield(row)
		return nil
	}
}

// stamp reads a date and time with any number of fractional digits, with or without a
// zone.
func stamp(s string) (time.Time, error) {
	s = strings.TrimSpace(s)
	for _, layout := range []string{"2006-01-02 15:04:05", "2006-01-02 15:04:05Z07:00", time.RFC3339, "2006-01-02T15:04:05"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("%.60q is not a date and time", s)
}

func (c columns) burst() decoder {
	return func(text []byte, yield func(Row) bool) error {
		rec, err := c.row(text)
		if err != nil {
			return err
		}
		s, err := strconv.ParseFloat(strings.TrimSpace(rec[c.at["timestamp"]]), 64)
		if err != nil || math.Abs(s) > maxAt.Seconds() || math.IsNaN(s) {
			return fmt.Errorf("column timestamp: %q is not a number of seconds", rec[c.at["timestamp"]])
		}
		row := Row{At: time.Duration(s * float64(time.Second)), Timed: true, Cached: -1}
		if row.In, err = c.count(rec, "request tokens"); err != nil {
			return err
		}
		if row.Out, err = c.count(rec, "response tokens"); err != nil {
			return err
		}
		row.Failed = row.Out == 0
		if i, ok := c.at["model"]; ok {
			row.Type = rec[i]
		}
		if i, ok := c.at["session id"]; ok {
			row.Session = strings.TrimSpace(rec[i])
		}
		yield(row)
		return nil
	}
}

func (c columns) etalon() decoder {
	return func(text []byte, yield func(Row) bool) error {
		rec, err := c.row(text)
		if err != nil {
			return err
		}
		row := Row{Cached: -1}
		if row.In, err = c.count(rec, "num_prefill_tokens"); err != nil {
			return err
		}
		if row.Out, err = c.count(rec, "num_decode_tokens"); err != nil {
			return err
		}
		yield(row)
		return nil
	}
}
