package launch_test

import (
	"context"
	"errors"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/inferencebench/inferencebench/engines/launch"
)

// recorder is a Run that keeps what it was asked and answers by the verb.
type recorder struct {
	asked   []string
	stdin   []string // what each was given to read
	answers map[string]string
	fail    map[string]error
}

func (r *recorder) run(_ context.Context, argv []string, stdin []byte) ([]byte, error) {
	line := strings.Join(argv, " ")
	r.asked, r.stdin = append(r.asked, line), append(r.stdin, string(stdin))
	for verb, err := range r.fail {
		if strings.Contains(line, verb) {
			return nil, err
		}
	}
	for verb, out := range r.answers {
		if strings.Contains(line, verb) {
			return []byte(out), nil
		}
	}
	return nil, nil
}

func TestContainerise(t *testing.T) {
	for _, c := range []struct{ why, in, want, name string }{
		{"a name is given and the container vanishes", "docker run --gpus all -p 8000:8000 vllm/vllm-openai --model m", "docker run --name ib1 --rm --gpus all -p 8000:8000 vllm/vllm-openai --model m", "ib1"},
		{"a name that is there is kept, and it stays in the foreground", "podman run -d --rm --name mine img", "podman run --rm --name mine img", "mine"},
		{"flags of the server are not those of docker", "docker run img --name other --rm", "docker run --name ib1 --rm img --name other --rm", "ib1"},
		{"a detach with a value is one too", "docker run --detach=true img", "docker run --name ib1 --rm img", "ib1"},
		{"a -d of the server stays", "docker run -p 1:1 img serve -d 5 --rm", "docker run --name ib1 --rm -p 1:1 img serve -d 5 --rm", "ib1"},
		{"another command is left alone", "vllm serve m", "vllm serve m", ""},
	} {
		r := &recorder{}
		got, box := launch.Containerise(strings.Fields(c.in), "ib1", "", r.run)
		if diff := cmp.Diff(c.want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%s: %s", c.why, diff)
		}
		if (box == nil) != (c.name == "") || box != nil && box.Name != c.name {
			t.Errorf("%s: container %+v; want %q", c.why, box, c.name)
		}
		if box == nil {
			continue
		}
		if err := box.Stop(t.Context(), 5*time.Second); err != nil || len(r.asked) != 1 || !strings.HasSuffix(r.asked[0], "stop --time 5 "+c.name) {
			t.Errorf("%s: stop asked %q, %v", c.why, r.asked, err)
		}
	}
}

// A container that does not stop is removed; one that is gone is no error.
func TestContainerStop(t *testing.T) {
	r := &recorder{fail: map[string]error{" stop ": errors.New("timed out")}}
	_, box := launch.Containerise([]string{"docker", "run", "img"}, "x", "", r.run)
	if err := box.Stop(t.Context(), time.Second); err != nil || len(r.asked) != 2 || r.asked[1] != "docker rm --force x" {
		t.Errorf("asked %q, %v", r.asked, err)
	}
	r.fail = map[string]error{" stop ": errors.New("Error: No such container: x")}
	if err := box.Stop(t.Context(), time.Second); err != nil {
		t.Errorf("a container that is gone: %v", err)
	}
}

// Whatever a word holds, the remote shell sees that word. A real shell is asked.
func TestQuote(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no POSIX shell here")
	}
	for _, word := range []string{"plain", "", "two words", "$(id)", "`id`", "a'b", `a"b`, "x;y|z&", "*", "~", "a\nb", "-n", "=x", "#c", `back\slash`, "é"} {
		out, err := exec.Command(sh, "-c", "printf %s "+launch.Quote(word)).Output()
		if word == "-n" { // printf of some shells reads it as a flag
			continue
		}
		if err != nil || string(out) != word {
			t.Errorf("%q became %q (%v)", word, out, err)
		}
	}
	got := launch.Over([]string{"ssh", "-tt", "gpu1"}, []string{"A=b c"}, []string{"vllm", "serve", "m; reboot"})
	if diff := cmp.Diff([]string{"ssh", "-tt", "gpu1", "env", "'A=b c'", "vllm", "serve", "'m; reboot'"}, got); diff != "" {
		t.Error(diff)
	}
}

// What a killed study left behind is found by its label and stopped, and nothing else is.
func TestLeftovers(t *testing.T) {
	got, _ := launch.Containerise([]string{"docker", "run", "img"}, "x", "5ca1ab1e", nil)
	if diff := cmp.Diff("docker run --name x --rm --label inferencebench.study=5ca1ab1e img", strings.Join(got, " ")); diff != "" {
		t.Error(diff)
	}
	r := &recorder{answers: map[string]string{" ps ": "0a1b2c\r\n3d4e\r\n"}}
	run := launch.Through([]string{"ssh", "-tt", "gpu1"}, r.run)
	ids, err := launch.Leftovers(t.Context(), "docker", "5ca1ab1e", time.Second, run)
	if err != nil || strings.Join(ids, " ") != "0a1b2c 3d4e" {
		t.Fatalf("stopped %v, %v", ids, err)
	}
	want := []string{
		"ssh -tt gpu1 docker ps --all --quiet --filter label=inferencebench.study=5ca1ab1e",
		"ssh -tt gpu1 docker stop --time 1 0a1b2c", "ssh -tt gpu1 docker stop --time 1 3d4e",
	}
	if diff := cmp.Diff(want, r.asked); diff != "" {
		t.Error(diff)
	}
	for _, bad := range []string{"--all", "not an id"} {
		r := &recorder{answers: map[string]string{" ps ": bad}}
		if _, err := launch.Leftovers(t.Context(), "docker", "5ca1ab1e", time.Second, r.run); err == nil || len(r.asked) != 1 {
			t.Errorf("an answer of %q: asked %q, %v", bad, r.asked, err)
		}
	}
}

func TestMentions(t *testing.T) {
	help := "options:\n  --max-num-seqs N\n  -fa, --flash-attn [on|off]\n  --no-x"
	for flag, want := range map[string]bool{"--max-num-seqs": true, "--max-num": false, "-fa": true, "--flash-attn": true, "-f": false, "--x": false} {
		if got := launch.Mentions(help, flag); got != want {
			t.Errorf("Mentions(%q) = %v", flag, got)
		}
	}
}
