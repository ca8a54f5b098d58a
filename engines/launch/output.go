package launch

import (
	"bufio"
	"errors"
	"io"
	"os"
	"regexp"
	"strings"
	"sync"

	"github.com/inferencebench/inferencebench/engines"
)

// Bounds of what is kept of a server's output.
const (
	maxLine = 16 << 10
	maxLog  = 32 << 20 // bytes of one log file
	tail    = 40       // lines kept in memory
)

// output reads what a server writes, keeps the last lines and the first that a pattern
// calls fatal, and writes everything to a log file until that is full.
type output struct {
	patterns []pattern
	file     io.WriteCloser // nil: none

	mu      sync.Mutex
	last    []string
	fatal   string // the first fatal line
	means   string
	memory  bool // it says that memory ran out
	written int64
}

type pattern struct {
	re     *regexp.Regexp
	means  string
	memory bool
}

// newOutput compiles the fatal ones of the patterns. A pattern that does not compile is a
// fault of the adapter's data, which is tested.
func newOutput(patterns []engines.LogPattern, file io.WriteCloser) (*output, error) {
	o := &output{file: file}
	for _, p := range patterns {
		if p.Severity != "fatal" {
			continue
		}
		re, err := regexp.Compile(p.Regex)
		if err != nil {
			return nil, err
		}
		o.patterns = append(o.patterns, pattern{re: re, means: p.Means, memory: aboutMemory(p.ID)})
	}
	return o, nil
}

// aboutMemory reports whether a log pattern tells that memory ran out.
func aboutMemory(id string) bool {
	switch id {
	case "no_memory", "oom_killer", "kv_none", "kv_too_small", "free_memory_low":
		return true
	}
	return strings.HasSuffix(id, "oom")
}

// read takes lines until the pipe ends. The file is closed then.
func (o *output) read(r io.Reader) {
	in := bufio.NewReaderSize(r, maxLine)
	for {
		line, err := in.ReadSlice('\n')
		if len(line) > 0 {
			o.line(line)
		}
		// A line longer than the buffer comes in pieces, each a line of its own.
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			break
		}
	}
	if o.file != nil {
		o.file.Close()
	}
}

func (o *output) line(raw []byte) {
	text := strings.ToValidUTF8(strings.TrimRight(string(raw), "\r\n"), "\uFFFD")
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.file != nil && o.written+int64(len(raw)) <= maxLog {
		n, _ := o.file.Write(raw) // a full disk loses log lines, not the study
		o.written += int64(n)
	}
	if strings.TrimSpace(text) == "" {
		return
	}
	if len(o.last) == tail {
		o.last = append(o.last[:0], o.last[1:]...)
	}
	o.last = append(o.last, text)
	// A line about memory says more than the general ones that follow from it.
	if o.memory {
		return
	}
	for _, p := range o.patterns {
		if (o.fatal == "" || p.memory) && p.re.MatchString(text) {
			o.fatal, o.means, o.memory = text, p.means, p.memory
		}
	}
}

// why is the line that tells most about an end, what it means, and whether memory ran out.
func (o *output) why() (line, means string, memory bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.fatal != "" {
		return o.fatal, o.means, o.memory
	}
	for i := len(o.last) - 1; i >= 0; i-- {
		if l := strings.ToLower(o.last[i]); strings.Contains(l, "error") || strings.Contains(l, "fail") || strings.Contains(l, "invalid") {
			return o.last[i], "", false
		}
	}
	if n := len(o.last); n > 0 {
		return o.last[n-1], "", false
	}
	return "", "", false
}

// create opens a new log file; "" is none.
func create(path string) (io.WriteCloser, error) {
	if path == "" {
		return nil, nil
	}
	return os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o644)
}
