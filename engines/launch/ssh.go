package launch

import (
	"context"
	"strings"
)

// Over is a command that runs argv on another machine, through an ssh command such as
// ["ssh", "-tt", "gpu1"]. A remote shell joins and splits what ssh is given, so that every
// word is quoted for it: the server sees exactly the words of argv.
//
// With -tt the remote command ends when the local ssh does.
func Over(ssh, env, argv []string) []string {
	out := append([]string{}, ssh...)
	if len(env) > 0 {
		out = append(out, "env")
		for _, e := range env {
			out = append(out, Quote(e))
		}
	}
	for _, w := range argv {
		out = append(out, Quote(w))
	}
	return out
}

// Through is a Run whose commands are executed on the machine that an ssh command reaches.
func Through(ssh []string, run Run) Run {
	return func(ctx context.Context, argv []string, stdin []byte) ([]byte, error) {
		return run(ctx, Over(ssh, nil, argv), stdin)
	}
}

// Quote is a word as a POSIX shell must be given it to see that word and nothing else.
func Quote(word string) string {
	if word != "" && word[0] != '=' && strings.IndexFunc(word, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-+=/.,:@%", r))
	}) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
