package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/inferencebench/inferencebench/tuner"
	"github.com/inferencebench/inferencebench/tuner/journal"
	"github.com/inferencebench/inferencebench/tuner/live"
)

// smallStudy tunes the simulated engine in trials of a fifth of a second.
func smallStudy(out string) []string {
	return []string{
		"tune", "--simulate", "--out", out, "--trials", "30", "--budget", "10m", "--strategy", "random", "--knobs", "--max-num-seqs=2,8",
		"--concurrency", "8", "--window", "200ms", "--warmup", "50ms", "--isl", "64", "--osl", "16", "--turns", "1", "--think", "0s", "--ignore-eos",
		"--checkpoint-every", "4", "--integrity", "off", "--", "vllm", "serve", "meta-llama/Llama-3.1-8B-Instruct", "--max-num-seqs", "3",
	}
}

// awaitTrials waits until a journal has n lines, and returns its whole lines.
func awaitTrials(t *testing.T, dir string, n int) []byte {
	t.Helper()
	deadline := time.After(60 * time.Second)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		b, err := os.ReadFile(filepath.Join(dir, live.JournalFile))
		if err == nil && bytes.Count(b, []byte("\n")) >= n {
			return b[:bytes.LastIndexByte(b, '\n')+1]
		}
		select {
		case <-deadline:
			t.Fatal("the study measured nothing for a minute")
		case <-tick.C:
		}
	}
}

// A study whose process is killed outright goes on where it stood: what was measured stays,
// byte for byte, and the study comes to its answer.
func TestTuneGoesOnAfterAKill(t *testing.T) {
	bin, dir := program(t), filepath.Join(t.TempDir(), "study")
	cmd := exec.Command(bin, smallStudy(dir)...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	before := awaitTrials(t, dir, 4)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	journalPath := filepath.Join(dir, live.JournalFile)
	f, err := os.OpenFile(journalPath, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"n":5,"role":"se`); err != nil { // and a line was being written
		t.Fatal(err)
	}
	f.Close()

	var stdout, stderr bytes.Buffer
	if code := execute(t.Context(), []string{"tune", "--resume", dir}, &stdout, &stderr); code != exitOK {
		t.Fatalf("exit code %d\n%s%s", code, stdout.String(), stderr.String())
	}
	after, err := os.ReadFile(journalPath)
	if err != nil {
		t.Fatal(err)
	}
	if n := min(len(before), bytes.LastIndexByte(after, '\n')+1); !bytes.Equal(after[:n], before[:n]) || len(after) <= len(before) {
		t.Error("what was measured before the kill is not in the journal as it was")
	}
	if !strings.Contains(stdout.String(), "Answer:") || !strings.Contains(stderr.String(), "Resumed:") {
		t.Errorf("printed:\n%s%s", stdout.String(), stderr.String())
	}
	var res tuner.Result
	b, err := os.ReadFile(filepath.Join(dir, live.ResultFile))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &res); err != nil || (res.Decision != tuner.Change && res.Decision != tuner.Keep) {
		t.Errorf("result %+v, %v", res, err)
	}
	page, err := os.ReadFile(filepath.Join(dir, live.PageFile))
	if err != nil || !bytes.Contains(page, []byte("Every measurement")) {
		t.Errorf("no page: %v", err)
	}
}

// Ctrl-C leaves a journal that can be read, says how to go on, and has its own exit code.
func TestTuneInterrupted(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "study")
	ctx, cancel := context.WithCancelCause(t.Context())
	var stdout, stderr bytes.Buffer
	code := make(chan int, 1)
	go func() { code <- execute(ctx, smallStudy(dir), &stdout, &stderr) }()
	awaitTrials(t, dir, 3)
	cancel(errors.New("stopped by interrupt"))
	if got := <-code; got != exitInterrupted {
		t.Errorf("exit code %d, want %d\n%s", got, exitInterrupted, stderr.String())
	}
	if !strings.Contains(stderr.String(), "stopped by interrupt") || !strings.Contains(stderr.String(), "--resume "+dir) {
		t.Errorf("printed:\n%s", stderr.String())
	}
	if _, trials, err := journal.Read(filepath.Join(dir, live.JournalFile)); err != nil || len(trials) < 2 {
		t.Errorf("%d trials, %v", len(trials), err)
	}
}

// The file that `init --study` writes is valid, and names every field.
func TestStudyTemplate(t *testing.T) {
	f, _, err := live.Parse("study.yaml", studyTemplate)
	if err != nil {
		t.Fatal(err)
	}
	f.Resolve()
	if err := f.Validate(); err != nil {
		t.Fatal(err)
	}
	if _, err := live.Prepare(t.TempDir(), f, live.Environment{Now: time.Now}); err != nil {
		t.Fatal(err)
	}
	for _, group := range []reflect.Type{reflect.TypeFor[live.File](), reflect.TypeFor[live.Load](), reflect.TypeFor[live.Budget](), reflect.TypeFor[live.Protocol]()} {
		for field := range group.Fields() {
			if tag := field.Tag.Get("yaml"); tag != "" && tag != "-" && !bytes.Contains(studyTemplate, []byte(tag+":")) {
				t.Errorf("the study file says nothing of %s", tag)
			}
		}
	}
}

// A server that the study started itself is gone after Ctrl-C, and also when the study's own
// process is killed outright, so that the study can go on.
func TestTuneLeavesNoServer(t *testing.T) {
	bin := program(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	gone := func() {
		t.Helper()
		deadline := time.Now().Add(20 * time.Second)
		for {
			c, err := net.DialTimeout("tcp", addr, time.Second)
			if err != nil {
				return
			}
			c.Close()
			if time.Now().After(deadline) {
				t.Fatal("a server is left")
			}
			runtime.Gosched()
		}
	}
	dir := filepath.Join(t.TempDir(), "study")
	args := smallStudy(dir)
	args = append(args[:slices.Index(args, "--")], "--simulate=false", "--engine", "vllm", "--url", "http://"+addr, "--",
		bin, "sim", "--listen", addr, "--", "meta-llama/Llama-3.1-8B-Instruct", "--max-num-seqs", "3")
	cmd := exec.Command(bin, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	awaitTrials(t, dir, 2)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	gone()

	ctx, cancel := context.WithCancelCause(t.Context())
	var stdout bytes.Buffer
	stderr.Reset()
	code := make(chan int, 1)
	go func() { code <- execute(ctx, []string{"tune", "--resume", dir}, &stdout, &stderr) }()
	awaitTrials(t, dir, 4)
	cancel(errors.New("stopped by interrupt"))
	if got := <-code; got != exitInterrupted {
		t.Errorf("exit code %d, want %d\n%s", got, exitInterrupted, stderr.String())
	}
	gone()
}
