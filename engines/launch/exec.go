package launch

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// maxOutput bounds what Exec keeps of a command's output.
const maxOutput = 4 << 20

// Exec is the Run of this machine.
func Exec(ctx context.Context, argv []string, stdin []byte) ([]byte, error) {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.WaitDelay = 10 * time.Second
	if stdin != nil {
		cmd.Stdin = bytes.NewReader(stdin)
	}
	var out, errs limited
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		text := strings.TrimSpace(errs.String())
		if i := strings.LastIndexByte(text, '\n'); i >= 0 {
			text = text[i+1:]
		}
		if text == "" {
			return out.Bytes(), fmt.Errorf("%s: %w", argv[0], err)
		}
		return out.Bytes(), fmt.Errorf("%s: %s", argv[0], text)
	}
	return out.Bytes(), nil
}

// limited keeps the beginning of what is written to it.
type limited struct{ bytes.Buffer }

func (l *limited) Write(p []byte) (int, error) {
	if room := maxOutput - l.Len(); room > 0 {
		l.Buffer.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

// Help is what a server's command says of its flags: the output of argv with --help, however
// it ends. It is bounded in size, and in time by ctx.
func Help(ctx context.Context, argv []string) string {
	cmd := exec.CommandContext(ctx, argv[0], append(argv[1:len(argv):len(argv)], "--help")...)
	cmd.WaitDelay = 2 * time.Second
	var out limited
	cmd.Stdout, cmd.Stderr = &out, &out
	_ = cmd.Run() // some exit with an error after printing it
	return out.String()
}

// Mentions reports whether a help text has a flag as a word of its own.
func Mentions(help, flag string) bool {
	for rest := help; ; {
		i := strings.Index(rest, flag)
		if i < 0 {
			return false
		}
		end := i + len(flag)
		before := i == 0 || !wordByte(rest[i-1])
		after := end == len(rest) || !wordByte(rest[end])
		if before && after {
			return true
		}
		rest = rest[end:]
	}
}

func wordByte(c byte) bool {
	return c == '-' || c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}
