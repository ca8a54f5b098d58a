package main

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/inferencebench/inferencebench/report/mcp"
)

// rpc is one session by hand: lines of JSON-RPC in, lines out.
type rpc struct {
	t   *testing.T
	in  io.Writer
	out *bufio.Scanner
	id  int
}

// call calls a tool and returns its text, and whether it is an error.
func (r *rpc) call(tool, args string) (string, bool) {
	r.t.Helper()
	text := r.send("tools/call", `{"name":"`+tool+`","arguments":`+args+`}`)
	var got struct {
		Content []struct{ Text string }
		IsError bool
	}
	if err := json.Unmarshal(text, &got); err != nil || len(got.Content) != 1 {
		r.t.Fatalf("%s: %v in %.300s", tool, err, text)
	}
	return got.Content[0].Text, got.IsError
}

func (r *rpc) send(method, params string) json.RawMessage {
	r.t.Helper()
	r.id++
	req, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": r.id, "method": method, "params": json.RawMessage(params)})
	if err != nil {
		r.t.Fatal(err)
	}
	if _, err := r.in.Write(append(req, '\n')); err != nil {
		r.t.Fatal(err)
	}
	for r.out.Scan() {
		var m struct {
			ID     int
			Result json.RawMessage
			Error  json.RawMessage
		}
		if err := json.Unmarshal(r.out.Bytes(), &m); err != nil {
			r.t.Fatalf("a line that is not the protocol's: %.200s", r.out.Text())
		}
		if m.ID == r.id && m.Error == nil {
			return m.Result
		}
		if m.ID == r.id {
			r.t.Fatalf("%s: %s", method, m.Error)
		}
	}
	r.t.Fatal("the server left")
	return nil
}

// TestMCPSession drives the verb over its standard input and output, on the simulated
// engine: run, analyze, compare, and refusals. Only protocol may come out.
func TestMCPSession(t *testing.T) {
	if testing.Short() {
		t.Skip("two runs of a second each")
	}
	dir := t.TempDir()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	f := &mcpFlags{runs: filepath.Join(dir, "runs"), limits: mcp.DefaultLimits()}
	done := make(chan error, 1)
	go func() {
		done <- serveMCP(t.Context(), f, inR, outW, io.Discard)
		outW.Close()
	}()
	sc := bufio.NewScanner(outR)
	sc.Buffer(nil, 4<<20)
	r := &rpc{t: t, in: inW, out: sc}
	r.send("initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"hand","version":"1"}}`)
	if _, err := io.WriteString(inW, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"); err != nil {
		t.Fatal(err)
	}
	var names []string
	for range 2 {
		text, bad := r.call("run", `{"target":"simulator","concurrency":2,"seconds":1,"isl":"64","osl":"8","seed":3}`)
		var s mcp.Summary
		if err := json.Unmarshal([]byte(text), &s); err != nil || bad || s.OK == 0 || !s.Simulated {
			t.Fatalf("run: error %v, %v, %+v", bad, err, s)
		}
		names = append(names, s.Run)
	}
	if text, bad := r.call("analyze", `{"run":"`+names[0]+`","slo":["ttft_p50<1ns"]}`); bad || !strings.Contains(text, `"expr":"ttft_p50\u003c1ns"`) {
		t.Errorf("analyze: error %v, %.300s", bad, text)
	}
	if text, bad := r.call("compare", `{"base":"`+names[0]+`","heads":["`+names[1]+`"]}`); bad || !strings.Contains(text, `"gate"`) {
		t.Errorf("compare: error %v, %.300s", bad, text)
	}
	for tool, args := range map[string]string{
		"run":     `{"target":"elsewhere","concurrency":2,"seconds":1}`,
		"analyze": `{"run":"../runs"}`,
		"trial":   `{"target":"simulator","proposals":[{"config":{"--model":"x"},"hypothesis":"h","gain_low":0,"gain_high":1,"falsifier":"f"}]}`,
	} {
		if text, bad := r.call(tool, args); !bad || !strings.Contains(text, `"code":"not_allowed"`) {
			t.Errorf("%s %s: error %v, %s; want it refused", tool, args, bad, text)
		}
	}
	if text, bad := r.call("run", `{"target":"simulator","concurrency":2,"seconds":1,"isl":"nonsense"}`); !bad || !strings.Contains(text, `"code":"bad_input"`) {
		t.Errorf("a length that is none: error %v, %s", bad, text)
	}
	inW.Close()
	go func() { _, _ = io.Copy(io.Discard, outR) }()
	if err := <-done; err != nil {
		t.Errorf("after the client left: %v", err)
	}
}

// TestMCPFlags wants each mistake named before a client is served.
func TestMCPFlags(t *testing.T) {
	dir := t.TempDir()
	empty := filepath.Join(dir, "study.yaml")
	if err := os.WriteFile(empty, []byte("target: {url: http://127.0.0.1:1}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct{ name, want string }{
		{"--target=http://host:8000", "NAME=URL"},
		{"--target=a=ftp://host", "--target a"},
		{"--target=a=missing.yaml", "--target a"},
		{"--target=a b=http://host:8000", "name is"},
		{"--study=lab=" + empty, "launch command"},
		{"--study=lab", "NAME=study.yaml"},
		{"--budget=-1s", "above 0"},
	} {
		var msg strings.Builder
		if code := execute(t.Context(), []string{"mcp", "--runs", dir, row.name}, io.Discard, &msg); code != exitUsage || !strings.Contains(msg.String(), row.want) {
			t.Errorf("mcp %s: code %d, %q; want %d and %q", row.name, code, msg.String(), exitUsage, row.want)
		}
	}
}
