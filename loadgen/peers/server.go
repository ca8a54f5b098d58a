//go:build linux

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/inferencebench/inferencebench/loadgen/null"
)

// serve is the server's process: it prints its address and runs until its input ends. Its
// priority is above that of the clients where that is allowed, so that a client which
// fills the machine distorts its own figures and not the server.
func serve() error {
	_ = unix.Setpriority(unix.PRIO_PROCESS, 0, -10) // needs rights; the journal shows what it did without
	s, err := null.Start()
	if err != nil {
		return err
	}
	defer s.Close()
	fmt.Println(s.URL())
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// server is the null server in a process of its own.
type server struct {
	cmd *exec.Cmd
	in  io.Closer
	url string
}

func startServer(ctx context.Context) (*server, error) {
	cmd := exec.CommandContext(ctx, os.Args[0], "server") //nolint:gosec // this program itself
	cmd.Stderr = os.Stderr
	cmd.Env = append(os.Environ(), "GOMAXPROCS=2")
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		_ = in.Close()
		_ = cmd.Wait()
		return nil, fmt.Errorf("the server did not start: %w", err)
	}
	return &server{cmd: cmd, in: in, url: strings.TrimSpace(line)}, nil
}

func (s *server) stop() {
	_ = s.in.Close()
	_ = s.cmd.Wait()
}

// get reads one of the server's own pages into v, nil for none.
func (s *server) get(ctx context.Context, path string, v any) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+path, nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if v == nil {
		return nil
	}
	return json.NewDecoder(resp.Body).Decode(v)
}

// journal ends the server's journal and returns it.
func (s *server) journal(ctx context.Context) ([]null.Entry, error) {
	var entries []null.Entry
	err := s.get(ctx, "/journal", &entries)
	return entries, err
}
