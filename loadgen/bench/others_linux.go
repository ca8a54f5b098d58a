package main

import (
	"bufio"
	"bytes"
	"context"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/url"
	"strconv"

	jsonv2pkg "github.com/go-json-experiment/json"
	openai "github.com/sashabaranov/go-openai"
	"golang.org/x/sys/unix"

	"github.com/inferencebench/inferencebench/loadgen/null"
)

const body = `{"model":"null","messages":[{"role":"user","content":"x"}],"stream":true,"stream_options":{"include_usage":true}}`

// request is the bytes of a request for the floors.
func (r *run) request() (addr string, bytes []byte, err error) {
	u, err := url.Parse(r.url)
	if err != nil {
		return "", nil, err
	}
	return u.Host, fmt.Appendf(nil, "POST %s/v1/chat/completions HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", u.Path, u.Host, len(body), body), nil
}

var end = []byte("0\r\n\r\n")

// floorGo is a goroutine for each stream that reads and counts, and does nothing else.
func floorGo(r *run) error {
	addr, req, err := r.request()
	if err != nil {
		return err
	}
	conns := make([]net.Conn, r.streams)
	bufs := make([][]byte, r.streams)
	for i := range conns {
		if conns[i], err = net.Dial("tcp", addr); err != nil {
			return err
		}
		defer conns[i].Close()
		bufs[i] = make([]byte, 8<<10)
	}
	return r.each(func(i int) error {
		if _, err := conns[i].Write(req); err != nil {
			return err
		}
		for {
			n, err := conns[i].Read(bufs[i])
			if err != nil {
				return err
			}
			r.count(bufs[i][:n])
			if bytes.HasSuffix(bufs[i][:n], end) {
				return nil
			}
		}
	})
}

// count adds the events of a read to the total while the window is open.
func (r *run) count(p []byte) {
	n := int64(bytes.Count(p, []byte("\n\n")))
	if r.open.Load() == 1 {
		r.total.Add(n)
	}
}

// floorEpoll is one thread that reads all streams and counts, and does nothing else.
func floorEpoll(r *run) error {
	addr, req, err := r.request()
	if err != nil {
		return err
	}
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		return err
	}
	p, err := strconv.Atoi(port)
	if err != nil {
		return err
	}
	ep, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return err
	}
	defer unix.Close(ep) //nolint:errcheck // nothing is written
	for range r.streams {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return err
		}
		defer unix.Close(fd) //nolint:errcheck // nothing is lost
		if err := unix.Connect(fd, &unix.SockaddrInet4{Port: p, Addr: [4]byte{127, 0, 0, 1}}); err != nil {
			return err
		}
		if err := unix.SetNonblock(fd, true); err != nil {
			return err
		}
		if err := unix.EpollCtl(ep, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(fd)}); err != nil {
			return err
		}
		if _, err := unix.Write(fd, req); err != nil {
			return err
		}
	}
	events, buf := make([]unix.EpollEvent, 512), make([]byte, 64<<10)
	for r.stop.Err() == nil {
		n, err := unix.EpollWait(ep, events, 100)
		if err != nil && !errors.Is(err, unix.EINTR) {
			return err
		}
		for _, ev := range events[:max(0, n)] {
			got, err := unix.Read(int(ev.Fd), buf)
			if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EINTR) {
				continue
			}
			if err != nil || got == 0 {
				return fmt.Errorf("floor: %w", errors.Join(err, io.ErrUnexpectedEOF))
			}
			r.count(buf[:got])
			if bytes.HasSuffix(buf[:got], end) {
				if _, err := unix.Write(int(ev.Fd), req); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func transport() *http.Transport {
	return &http.Transport{MaxIdleConnsPerHost: math.MaxInt, DisableCompression: true}
}

// goOpenAI reads with the stream reader of github.com/sashabaranov/go-openai.
func goOpenAI(r *run) error {
	cfg := openai.DefaultConfig("none")
	cfg.BaseURL = r.url + "/v1"
	cfg.HTTPClient = &http.Client{Transport: transport()}
	c := openai.NewClientWithConfig(cfg)
	logs := make([]stampLog, r.streams)
	return r.each(func(i int) error {
		s, err := c.CreateChatCompletionStream(context.Background(), openai.ChatCompletionRequest{
			Model: "null", Messages: []openai.ChatCompletionMessage{{Role: "user", Content: "x"}}, StreamOptions: &openai.StreamOptions{IncludeUsage: true},
		})
		if err != nil {
			return err
		}
		defer s.Close()
		for {
			chunk, err := s.Recv()
			at := r.clock.Now()
			if errors.Is(err, io.EOF) {
				r.flush(&logs[i], r.errs)
				return nil
			}
			if err != nil {
				return err
			}
			if len(chunk.Choices) > 0 {
				logs[i].text(r, at, chunk.Choices[0].Delta.Content)
			}
		}
	})
}

// text notes a chunk whose text is a stamp.
func (l *stampLog) text(r *run, at int64, s string) {
	if r.counting && s != "" {
		l.at = append(l.at, at)
		return
	}
	if v, err := strconv.ParseInt(s, 10, 64); err == nil && v >= null.StampBase {
		l.add(at, v-null.StampBase)
	}
}

// chunk is the small structure that JSON readers decode into.
type chunk struct {
	Choices []struct {
		Delta struct {
			Content string `json:"content"`
		} `json:"delta"`
		FinishReason *string `json:"finish_reason"`
	} `json:"choices"`
}

// decoding reads lines with bufio and decodes each event as JSON.
func decoding(r *run, unmarshal func([]byte, *chunk) error) error {
	c := &http.Client{Transport: transport()}
	logs := make([]stampLog, r.streams)
	return r.each(func(i int) error {
		resp, err := c.Post(r.url+"/v1/chat/completions", "application/json", bytes.NewReader([]byte(body)))
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		lines := bufio.NewScanner(resp.Body)
		lines.Buffer(make([]byte, 8<<10), 1<<20)
		for lines.Scan() {
			data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data: "))
			if !ok || string(data) == "[DONE]" {
				continue
			}
			var ev chunk
			if err := unmarshal(data, &ev); err != nil {
				return err
			}
			at := r.clock.Now()
			if len(ev.Choices) > 0 {
				logs[i].text(r, at, ev.Choices[0].Delta.Content)
			}
		}
		r.flush(&logs[i], r.errs)
		return lines.Err()
	})
}

func jsonV1(r *run) error {
	return decoding(r, func(b []byte, c *chunk) error { return stdjson.Unmarshal(b, c) })
}

func jsonV2(r *run) error {
	return decoding(r, func(b []byte, c *chunk) error { return jsonv2pkg.Unmarshal(b, c) })
}
