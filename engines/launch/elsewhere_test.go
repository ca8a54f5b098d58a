package launch_test

import (
	"context"
	"encoding/json"
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
	answers map[string]string
	fail    map[string]error
}

func (r *recorder) run(_ context.Context, argv []string) ([]byte, error) {
	line := strings.Join(argv, " ")
	r.asked = append(r.asked, line)
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
		got, box := launch.Containerise(strings.Fields(c.in), "ib1", r.run)
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
	_, box := launch.Containerise([]string{"docker", "run", "img"}, "x", r.run)
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

const deployment = `{"spec":{"template":{"spec":{"containers":[
 {"name":"proxy","args":["x"]},
 {"name":"vllm","args":["--model","m","--max-num-seqs","8"],"env":[{"name":"HF_TOKEN","valueFrom":{"secretKeyRef":{"name":"hf","key":"token"}}},{"name":"A","value":"1"}]}]}}}}`

// A workload gets arguments and environment as a whole, and later exactly what it had.
func TestWorkload(t *testing.T) {
	r := &recorder{answers: map[string]string{" get ": deployment}}
	w := &launch.Workload{Namespace: "lab", Name: "deployment/vllm", Container: "vllm", Run: r.run}
	args, err := w.Arguments(t.Context())
	if err != nil || strings.Join(args, " ") != "--model m --max-num-seqs 8" {
		t.Fatalf("%v, %v", args, err)
	}
	if err := w.Set(t.Context(), []string{"--model", "m", "--max-num-seqs", "64"}, []string{"A=2"}, time.Minute); err != nil {
		t.Fatal(err)
	}
	if err := w.Restore(t.Context(), time.Minute); err != nil {
		t.Fatal(err)
	}
	if len(r.asked) != 5 || !strings.HasPrefix(r.asked[1], "kubectl --namespace lab patch deployment/vllm --type strategic --patch ") || r.asked[2] != "kubectl --namespace lab rollout status deployment/vllm --timeout 60s" {
		t.Fatalf("asked %q", r.asked)
	}
	for i, want := range map[int]string{
		1: `[{"args":["--model","m","--max-num-seqs","64"],"env":[{"$patch":"replace"},{"name":"HF_TOKEN","valueFrom":{"secretKeyRef":{"name":"hf","key":"token"}}},{"name":"A","value":"2"}],"name":"vllm"}]`,
		3: `[{"args":["--model","m","--max-num-seqs","8"],"env":[{"$patch":"replace"},{"name":"HF_TOKEN","valueFrom":{"secretKeyRef":{"name":"hf","key":"token"}}},{"name":"A","value":"1"}],"name":"vllm"}]`,
	} {
		patch := r.asked[i][strings.Index(r.asked[i], "--patch ")+8:]
		if !json.Valid([]byte(patch)) || !strings.Contains(patch, want) {
			t.Errorf("patch %d is %s; want containers %s", i, patch, want)
		}
	}
}

func TestWorkloadFailures(t *testing.T) {
	r := &recorder{answers: map[string]string{" get ": deployment}, fail: map[string]error{"rollout": errors.New("timed out waiting for the condition")}}
	w := &launch.Workload{Name: "deployment/vllm", Container: "vllm", Run: r.run}
	if f, ok := errors.AsType[*launch.Failure](w.Set(t.Context(), nil, nil, time.Second)); !ok || f.Kind != launch.StartTimeout {
		t.Errorf("pods that never get ready: %v", f)
	}
	for _, bad := range []*launch.Workload{
		{Name: "vllm", Run: r.run}, {Name: "--all/x", Run: r.run}, {Name: "deployment/vllm", Run: r.run}, {Name: "deployment/vllm", Container: "none", Run: r.run},
	} {
		if _, err := bad.Arguments(t.Context()); err == nil {
			t.Errorf("%s %s was accepted", bad.Name, bad.Container)
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
