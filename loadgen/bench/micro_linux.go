package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	openai "github.com/sashabaranov/go-openai"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/loadgen"
	"github.com/inferencebench/inferencebench/loadgen/arrival"
	"github.com/inferencebench/inferencebench/loadgen/delta"
	"github.com/inferencebench/inferencebench/loadgen/sse"
	"github.com/inferencebench/inferencebench/loadgen/wire"
	"github.com/inferencebench/inferencebench/tasks"
)

// event is one event of 258 bytes, as servers of this kind send.
const event = `data: {"id":"chatcmpl-0123456789abcdef0123456789abcdef","object":"chat.completion.chunk","created":1764500000,"model":"meta-llama/Llama-3.1-8B-Instruct","choices":[{"index":0,"delta":{"content":" token"},"logprobs":null,"finish_reason":null}]}` + "\n\n"

const batch = 64

var stream = []byte(strings.Repeat(event, batch))

// scanned reads the stream once by our scanner and decoder.
func scanned(s *sse.Scanner, c *delta.Decoder, d *delta.Delta) int {
	n := 0
	s.Feed(stream)
	for s.Next() {
		if c.Decode(s.Event(), s.Data(), d) == nil && d.Bearing {
			n++
		}
	}
	return n
}

// nsOf returns the nanoseconds that one event costs: the least of many short rounds, so
// that what else the machine does falls out.
func nsOf(f func() int) float64 {
	const rounds = 2000
	best := time.Duration(1 << 62)
	for range rounds {
		start := time.Now()
		if f() != batch {
			return math.NaN() // the stream was not read whole
		}
		best = min(best, time.Since(start))
	}
	return float64(best) / batch
}

func scannerNs() float64 {
	var s sse.Scanner
	var c delta.Decoder
	var d delta.Delta
	return nsOf(func() int { return scanned(&s, &c, &d) })
}

// microFloor is the scanner against counting.
func microFloor() (float64, error) {
	floor := nsOf(func() int { return bytes.Count(stream, []byte("\n\n")) })
	return scannerNs() / floor, nil
}

// microOpenAI is go-openai's reader against the scanner, both from memory.
func microOpenAI() (float64, error) {
	ns := nsOf(func() int {
		cfg := openai.DefaultConfig("none")
		cfg.HTTPClient = canned{}
		s, err := openai.NewClientWithConfig(cfg).CreateChatCompletionStream(context.Background(), openai.ChatCompletionRequest{Model: "m"})
		if err != nil {
			return -1
		}
		for n := 0; ; n++ {
			if _, err := s.Recv(); errors.Is(err, io.EOF) {
				return n
			} else if err != nil {
				return -1
			}
		}
	})
	return ns / scannerNs(), nil
}

// canned answers every request with the stream.
type canned struct{}

func (canned) Do(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(stream))}, nil
}

func microAllocs() (float64, error) {
	var s sse.Scanner
	var c delta.Decoder
	var d delta.Delta
	scanned(&s, &c, &d)
	return testing.AllocsPerRun(1000, func() { scanned(&s, &c, &d) }) / batch, nil
}

// microPacing is the lateness of time.Sleep against that of our pacer, at a quantile.
func microPacing(q float64) func() (float64, error) {
	return func() (float64, error) {
		clock := archive.NewRunClock()
		late := func(until func(at archive.Instant) error) (float64, error) {
			const n = 1000
			v := make([]float64, n)
			start := clock.Now().Add(5 * time.Millisecond)
			for i := range v {
				due := start.Add(time.Duration(i) * time.Millisecond)
				if err := until(due); err != nil {
					return 0, err
				}
				v[i] = float64(clock.Now().Sub(due))
			}
			slices.Sort(v)
			return max(1, v[int(q*(n-1))]), nil
		}
		sleep, err := late(func(at archive.Instant) error {
			time.Sleep(at.Sub(clock.Now()))
			return nil
		})
		if err != nil {
			return 0, err
		}
		pacer, closePacer := newPacer(clock)
		defer closePacer()
		ours, err := late(func(at archive.Instant) error { return pacer.Until(context.Background(), at) })
		return sleep / ours, err
	}
}

// omission loads a server that stands still for 300 ms in every 2 s with 1,000 requests a
// second over 8 connections, and holds the P99 from the intended times against the true
// one: of the requests planned at an even rate, those that fall into a stall wait for its
// end, so that 1 % wait longer than stall - 0.01 * period.
func omission() (float64, error) {
	srv, err := startServer("stalls")
	if err != nil {
		return 0, err
	}
	defer srv.stop()
	clock := archive.NewRunClock()
	c, err := wire.New(wire.Config{BaseURL: srv.url + "/c1-g0-f0-b1", Model: "null", Clock: clock, MaxConns: 8})
	if err != nil {
		return 0, err
	}
	defer c.Close()
	var mu sync.Mutex
	var late []time.Duration
	failed := 0
	id := 0
	source := tasks.SourceFunc(func(uint64) tasks.Session { return &oneTurn{} })
	err = loadgen.Run(context.Background(), loadgen.Config{
		Sender: c, Clock: clock, Event: func(archive.Event) {}, NewID: func() string { mu.Lock(); defer mu.Unlock(); id++; return strconv.Itoa(id) },
		Record: func(rec *archive.Request) {
			mu.Lock()
			defer mu.Unlock()
			if rec.Status != archive.StatusOK {
				failed++
				return
			}
			late = append(late, rec.T.First.Sub(rec.T.Intended))
		},
	}, []loadgen.Phase{{Name: "stalls", Source: source, Rate: 1000, Arrival: arrival.Constant{Rate: 1000}, Duration: 10 * time.Second, Warmup: loadgen.Warmup{Duration: time.Second}}})
	if err != nil {
		return 0, err
	}
	if failed > 0 || len(late) < 5000 {
		return 0, fmt.Errorf("%d requests came, %d failed", len(late), failed)
	}
	slices.Sort(late)
	reported := late[len(late)*99/100]
	truth := stallFor - stallEvery/100
	return float64(reported) / float64(truth), nil
}

type oneTurn struct{ done bool }

func (o *oneTurn) Next(string) (tasks.Turn, bool) {
	if o.done {
		return tasks.Turn{}, false
	}
	o.done = true
	return tasks.Turn{Kind: archive.KindLoad, Task: "null", User: "x", MaxTokens: 1}, true
}

// againstTool is our requests a second of processor time against those of a tool, where it
// is installed: on a core of its own that is requests a second, and on a busy machine it
// stays what it is.
func againstTool(tool, kind string) func() (float64, error) {
	return func() (float64, error) {
		path, err := exec.LookPath(tool)
		if err != nil {
			return 0, fmt.Errorf("%s is not installed", tool)
		}
		srv, err := startServer()
		if err != nil {
			return 0, err
		}
		defer srv.stop()
		url := srv.url + "/c0-g0-f0-b1/v1/chat/completions"
		args := map[string][]string{"wrk": {"-t1", "-c64", "-d2s", url}, "hey": {"-cpus", "1", "-c", "64", "-z", "2s", url}}[tool]
		if ts, err := exec.LookPath("taskset"); err == nil {
			path, args = ts, append([]string{"-c", "1", path}, args...)
		}
		cmd := exec.Command(path, args...) //nolint:gosec // a tool by its name
		b, err := cmd.CombinedOutput()
		if err != nil {
			return 0, fmt.Errorf("%s: %w", tool, err)
		}
		m := requestsPerSecond.FindSubmatch(b)
		if m == nil {
			return 0, fmt.Errorf("%s printed no rate", tool)
		}
		rate, err := strconv.ParseFloat(string(m[1]), 64)
		if err != nil {
			return 0, err
		}
		used := (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
		got, err := srv.run(plain(kind), 2*time.Second)
		if err != nil {
			return 0, err
		}
		return float64(got.Requests) / got.CPU / (2 * rate / used), nil
	}
}

var requestsPerSecond = regexp.MustCompile(`Requests/sec:\s*([0-9.]+)`)
