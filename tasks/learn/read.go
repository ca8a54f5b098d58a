package learn

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// maxLine bounds one line of a log, in bytes.
const maxLine = 16 << 20

// LineError names the line of a log that cannot be used.
type LineError struct {
	File string
	Line int
	Msg  string
}

// Error is "file:line: message".
func (e *LineError) Error() string { return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Msg) }

// Records streams the requests of one log. Lines that hold no request are skipped: in a
// server's own log most lines are about something else. A line that should hold one and
// cannot be read yields a *LineError, which quotes nothing of the line, and reading goes
// on.
func Records(name string, r io.Reader) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		br := bufio.NewReaderSize(r, 64<<10)
		var head map[string]int
		for n := 1; ; n++ {
			text, err := readLine(br)
			if n == 1 {
				text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
			}
			text = bytes.TrimRight(text, "\r\n")
			if err != nil && !errors.Is(err, io.EOF) {
				yield(Record{}, &LineError{name, n, err.Error()})
				return
			}
			if len(bytes.TrimSpace(text)) > 0 {
				if head == nil && n == 1 {
					head = header(text)
					if head != nil {
						continue
					}
				}
				if !one(name, n, text, head, yield) {
					return
				}
			}
			if err != nil {
				return
			}
		}
	}
}

func readLine(r *bufio.Reader) ([]byte, error) {
	var buf []byte
	for {
		part, err := r.ReadSlice('\n')
		buf = append(buf, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return buf, err
		}
		if len(buf) > maxLine {
			return nil, fmt.Errorf("longer than %d bytes", maxLine)
		}
	}
}

func one(name string, n int, text []byte, head map[string]int, yield func(Record, error) bool) bool {
	switch {
	case text[0] == '{':
		return jsonLine(name, n, text, yield)
	case head != nil:
		rec, err := csvLine(text, head)
		if err != nil {
			return yield(Record{}, &LineError{name, n, err.Error()})
		}
		return yield(rec, nil)
	}
	if rec, ok := vllmLine(string(text)); ok {
		return yield(rec, nil)
	}
	return true
}

// fresh is a record in which nothing is known.
func fresh() Record { return Record{In: -1, Out: -1, Cached: -1, Latency: -1} }

// header reads a CSV header; nil when the line is none.
func header(text []byte) map[string]int {
	if text[0] == '{' {
		return nil
	}
	rec, err := csv.NewReader(bytes.NewReader(text)).Read()
	if err != nil {
		return nil
	}
	at := map[string]int{}
	for i, h := range rec {
		at[strings.ToLower(strings.NewReplacer(" ", "_", "-", "_").Replace(strings.TrimSpace(h)))] = i
	}
	if first(at, inKeys) < 0 && first(at, []string{"prompt", "messages", "input"}) < 0 {
		return nil
	}
	return at
}

var (
	inKeys      = []string{"prompt_tokens", "input_tokens", "context_tokens", "contexttokens", "tokens_in", "in"}
	outKeys     = []string{"completion_tokens", "output_tokens", "generated_tokens", "generatedtokens", "tokens_out", "out"}
	timeKeys    = []string{"timestamp", "time", "starttime", "start_time", "created_at", "created", "ts", "@timestamp", "date"}
	sessionKeys = []string{"session_id", "session", "conversation_id", "chat_id", "thread_id"}
	userKeys    = []string{"user", "user_id", "end_user"}
	latencyKeys = []string{"latency_ms", "duration_ms", "response_time_ms"}
)

func first(at map[string]int, names []string) int {
	for _, n := range names {
		if i, ok := at[n]; ok {
			return i
		}
	}
	return -1
}

func csvLine(text []byte, at map[string]int) (Record, error) {
	f, err := csv.NewReader(bytes.NewReader(text)).Read()
	if err != nil {
		return Record{}, errors.New("not a row of CSV")
	}
	get := func(names []string) string {
		if i := first(at, names); i >= 0 && i < len(f) {
			return strings.TrimSpace(f[i])
		}
		return ""
	}
	rec := fresh()
	rec.Session, rec.User, rec.Model, rec.Prompt = get(sessionKeys), get(userKeys), get([]string{"model"}), get([]string{"prompt", "input"})
	rec.System = get([]string{"system", "system_prompt"})
	if s := get(timeKeys); s != "" {
		if rec.At, err = when(s); err != nil {
			return Record{}, err
		}
	}
	for _, c := range []struct {
		keys []string
		into *int
	}{{inKeys, &rec.In}, {outKeys, &rec.Out}, {[]string{"cached_tokens"}, &rec.Cached}} {
		if s := get(c.keys); s != "" {
			x, err := strconv.ParseFloat(s, 64)
			if err != nil || !(x >= 0 && x < 1e9) {
				return Record{}, fmt.Errorf("column %s is not a number of tokens", c.keys[0])
			}
			*c.into = int(x)
		}
	}
	if s := get(latencyKeys); s != "" {
		if x, err := strconv.ParseFloat(s, 64); err == nil && x >= 0 && x < 1e9 {
			rec.Latency = time.Duration(x * float64(time.Millisecond))
		}
	}
	if s := get([]string{"status", "http_status"}); s != "" {
		rec.Failed = s != "ok" && s != "success" && s != "200"
	}
	return rec, nil
}

// when reads a time: RFC 3339 and its relatives, or seconds, milliseconds, microseconds or
// nanoseconds since 1970. The error does not quote the text.
func when(s string) (time.Time, error) {
	for _, layout := range []string{time.RFC3339, "2006-01-02 15:04:05", "2006-01-02 15:04:05Z07:00", "2006-01-02T15:04:05"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t, nil
		}
	}
	x, err := strconv.ParseFloat(s, 64)
	if err != nil || !(x > 0 && x < 1e19) {
		return time.Time{}, errors.New("the time is neither RFC 3339 nor a number since 1970")
	}
	switch {
	case x < 1e11:
		return time.UnixMicro(int64(x * 1e6)), nil
	case x < 1e14:
		return time.UnixMicro(int64(x * 1e3)), nil
	case x < 1e17:
		return time.UnixMicro(int64(x)), nil
	}
	return time.Unix(0, int64(x)), nil
}

var (
	vllmRequest = regexp.MustCompile(`^(?:[A-Z]+ )?(\d\d-\d\d \d\d:\d\d:\d\d) .*?Received request ([\w-]+): prompt: (['"])`)
	vllmIDs     = regexp.MustCompile(`prompt_token_ids: \[([\d, ]*)\]`)
)

// vllmLine reads the line that vLLM writes for each request with --enable-log-requests.
// It has the prompt but not the length of the answer, and a date without a year.
func vllmLine(text string) (Record, bool) {
	m := vllmRequest.FindStringSubmatchIndex(text)
	if m == nil {
		return Record{}, false
	}
	rec := fresh()
	if t, err := time.Parse("01-02 15:04:05", text[m[2]:m[3]]); err == nil {
		rec.At = t.AddDate(2000, 0, 0)
	}
	quote, rest := text[m[6]:m[7]], text[m[7]:]
	if end := strings.Index(rest, quote+", params:"); end >= 0 {
		rec.Prompt = strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\'`, "'", `\"`, `"`, `\\`, `\`).Replace(rest[:end])
	}
	if ids := vllmIDs.FindStringSubmatch(text); ids != nil && ids[1] != "" {
		rec.In = strings.Count(ids[1], ",") + 1
	}
	return rec, true
}

// jsonLine reads a line of OpenAI-style, LiteLLM or OTLP JSON.
func jsonLine(name string, n int, text []byte, yield func(Record, error) bool) bool {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var o map[string]any
	if err := d.Decode(&o); err != nil {
		return yield(Record{}, &LineError{name, n, "not a JSON object"})
	}
	if spans, ok := o["resourceSpans"]; ok {
		for _, s := range otlpSpans(spans) {
			if rec, ok := otlpRecord(s); ok && !yield(rec, nil) {
				return false
			}
		}
		return true
	}
	rec, ok, err := chatRecord(o)
	if err != nil {
		return yield(Record{}, &LineError{name, n, err.Error()})
	}
	return !ok || yield(rec, nil)
}
