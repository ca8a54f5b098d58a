package launch_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/inferencebench/inferencebench/engines"
	"github.com/inferencebench/inferencebench/engines/launch"
)

func adapter(t *testing.T, name string) *engines.Adapter {
	t.Helper()
	a, ok := engines.Lookup(name)
	if !ok {
		t.Fatalf("no adapter %s", name)
	}
	return a
}

func TestCommand(t *testing.T) {
	for _, c := range []struct {
		why, engine, base string
		values            map[string]string
		want              string
	}{
		{"a setting of the base is replaced, not given twice", "vllm", "vllm serve m --max-num-seqs 8 --port 1", map[string]string{"--max-num-seqs": "64"}, "vllm serve m --port 1 --max-num-seqs 64"},
		{"so is one that is joined by =", "vllm", "vllm serve m --max-num-seqs=8", map[string]string{"--max-num-seqs": "64"}, "vllm serve m --max-num-seqs 64"},
		{"and one that is written with underscores", "vllm", "vllm serve m --max_num_seqs 8", map[string]string{"--max-num-seqs": "64"}, "vllm serve m --max-num-seqs 64"},
		{"and one under its short name", "llama_cpp", "llama-server -t 4 -m x.gguf", map[string]string{"--threads": "2"}, "llama-server -m x.gguf --threads 2"},
		{"a switch is negated by --no-", "vllm", "vllm serve m --enable-prefix-caching --port 1", map[string]string{"--enable-prefix-caching": "false"}, "vllm serve m --port 1 --no-enable-prefix-caching"},
		{"a negation of the base goes", "vllm", "vllm serve m --no-enable-prefix-caching", map[string]string{"--enable-prefix-caching": "true"}, "vllm serve m --enable-prefix-caching"},
		{"SGLang has no negation: the switch is left out", "sglang", "python -m sglang.launch_server --enable-mixed-chunk --port 1", map[string]string{"--enable-mixed-chunk": "false"}, "python -m sglang.launch_server --port 1"},
		{"without settings the base stays as it is", "vllm", "vllm serve m -x", nil, "vllm serve m -x"},
	} {
		argv, env, err := launch.Command(strings.Fields(c.base), adapter(t, c.engine), c.values)
		if err != nil || len(env) > 0 {
			t.Errorf("%s: %v, env %v", c.why, err, env)
		}
		if diff := cmp.Diff(c.want, strings.Join(argv, " ")); diff != "" {
			t.Errorf("%s: %s", c.why, diff)
		}
	}
}

// What is no knob, or no value of it, never reaches a command line.
func TestCommandRefuses(t *testing.T) {
	for _, bad := range []map[string]string{
		{"--trust-remote-code": "true"},
		{"--max-num-seqs": "64; rm -rf /"},
		{"--max-num-seqs": "0"},
		{"--kv-cache-dtype": "fp8 --trust-remote-code"},
		{"--quantization": "a\x00b"},
	} {
		if argv, _, err := launch.Command([]string{"vllm", "serve", "m"}, adapter(t, "vllm"), bad); err == nil {
			t.Errorf("%v gave %q", bad, argv)
		}
	}
}

// What a command sets is read back as the knobs' values, whatever the spelling.
func TestSet(t *testing.T) {
	got := launch.Set(strings.Fields("vllm serve m --max_num_seqs=8 --no-enable-prefix-caching --enforce-eager --kv-cache-dtype fp8"), adapter(t, "vllm").Knobs)
	want := map[string]string{"--max-num-seqs": "8", "--enable-prefix-caching": "false", "--enforce-eager": "true", "--kv-cache-dtype": "fp8"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
