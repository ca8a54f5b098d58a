package launch_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/inferencebench/inferencebench/engines"
	"github.com/inferencebench/inferencebench/engines/launch"
)

const deployment = `{"metadata":{"annotations":{"team":"x"}},"spec":{"selector":{"matchLabels":{"app":"vllm","tier":"gpu"}},"template":{"spec":{"containers":[
 {"name":"proxy","args":["x"]},
 {"name":"vllm","args":["--model","m","--max-num-seqs","8"],"env":[{"name":"HF_TOKEN","valueFrom":{"secretKeyRef":{"name":"hf","key":"token"}}},{"name":"A","value":"s3cret"}]}]}}}}`

// A workload gets arguments and environment as a whole, and later exactly what it had. No
// variable's value is on a command line.
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
	if len(r.asked) != 5 || r.asked[1] != "kubectl --namespace lab patch deployment/vllm --type strategic --patch-file /dev/stdin" || r.asked[2] != "kubectl --namespace lab rollout status deployment/vllm --timeout 15s" {
		t.Fatalf("asked %q", r.asked)
	}
	if all := strings.Join(r.asked, "\n"); strings.Contains(all, "s3cret") {
		t.Errorf("a variable's value is on a command line: %s", all)
	}
	for i, want := range map[int]string{
		1: `[{"args":["--model","m","--max-num-seqs","64"],"env":[{"$patch":"replace"},{"name":"HF_TOKEN","valueFrom":{"secretKeyRef":{"name":"hf","key":"token"}}},{"name":"A","value":"2"}],"name":"vllm"}]`,
		3: `[{"args":["--model","m","--max-num-seqs","8"],"env":[{"$patch":"replace"},{"name":"HF_TOKEN","valueFrom":{"secretKeyRef":{"name":"hf","key":"token"}}},{"name":"A","value":"s3cret"}],"name":"vllm"}]`,
	} {
		if patch := r.stdin[i]; !json.Valid([]byte(patch)) || !strings.Contains(patch, want) {
			t.Errorf("patch %d is %s; want containers %s", i, patch, want)
		}
	}
	if !strings.Contains(r.stdin[3], `"annotations":{"inferencebench/before":null}`) {
		t.Errorf("the annotation stays: %s", r.stdin[3])
	}
}

// A study that was killed left its own arguments: those of before it are in the annotation,
// and are what a later one starts from and restores.
func TestWorkloadRemembers(t *testing.T) {
	r := &recorder{answers: map[string]string{" get ": deployment}}
	w := &launch.Workload{Name: "deployment/vllm", Container: "vllm", Run: r.run}
	if err := w.Set(t.Context(), []string{"--trial"}, nil, time.Minute); err != nil {
		t.Fatal(err)
	}
	var sent struct {
		Metadata struct{ Annotations map[string]string }
	}
	if err := json.Unmarshal([]byte(r.stdin[1]), &sent); err != nil {
		t.Fatal(err)
	}
	text, _ := json.Marshal(sent.Metadata.Annotations)
	killed := strings.Replace(strings.Replace(deployment, `{"team":"x"}`, string(text), 1), `["--model","m","--max-num-seqs","8"]`, `["--trial"]`, 1)
	r = &recorder{answers: map[string]string{" get ": killed}}
	w = &launch.Workload{Name: "deployment/vllm", Container: "vllm", Run: r.run}
	args, err := w.Arguments(t.Context())
	if err != nil || strings.Join(args, " ") != "--model m --max-num-seqs 8" {
		t.Fatalf("%v, %v", args, err)
	}
	if err := w.Restore(t.Context(), time.Minute); err != nil || !strings.Contains(r.stdin[1], "s3cret") || !strings.Contains(r.stdin[1], `"secretKeyRef"`) {
		t.Errorf("restored %s, %v", r.stdin[1], err)
	}
}

// pod is one pod of the workload, as kubectl lists it.
func pod(args, conditions, status string) string {
	return fmt.Sprintf(`{"metadata":{"name":"vllm-1"},"spec":{"containers":[{"name":"vllm","args":%s}]},"status":{"conditions":[%s],"containerStatuses":[%s]}}`, args, conditions, status)
}

// Each row is what the cluster tells of pods that do not become ready.
func TestRolloutFailures(t *testing.T) {
	const ours = `["--model","m"]`
	late := errors.New("error: timed out waiting for the condition")
	for _, c := range []struct {
		why, pods string
		log       string
		rollout   error
		kind      launch.Kind
		says      string
		asks      int // questions how the rollout stands
	}{
		{why: "nothing known: it takes too long", rollout: late, kind: launch.StartTimeout, says: "within 5m0s", asks: 20},
		{why: "an image that is not there", rollout: late, pods: pod(ours, "", `{"name":"vllm","state":{"waiting":{"reason":"ImagePullBackOff","message":"manifest unknown"}}}`), kind: launch.StartFailure, says: "image pull, ImagePullBackOff): manifest unknown", asks: 1},
		{why: "killed at its memory limit", rollout: late, pods: pod(ours, "", `{"name":"vllm","state":{"waiting":{"reason":"CrashLoopBackOff"}},"lastState":{"terminated":{"reason":"OOMKilled","exitCode":137}}}`), kind: launch.OOM, says: "OOMKilled", asks: 1},
		{why: "a crash loop, with what the log says", rollout: late, pods: pod(ours, "", `{"name":"vllm","state":{"waiting":{"reason":"CrashLoopBackOff"}},"lastState":{"terminated":{"reason":"Error","exitCode":2}}}`), log: "error: unrecognized arguments: --frob", kind: launch.StartFailure, says: "--frob", asks: 1},
		{why: "a crash for the GPU's memory is out of memory", rollout: late, pods: pod(ours, "", `{"name":"vllm","state":{"terminated":{"reason":"Error","exitCode":1}}}`), log: "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB", kind: launch.OOM, says: "crash loop", asks: 1},
		{why: "no node takes it, for three minutes", rollout: late, pods: pod(ours, `{"type":"PodScheduled","status":"False","reason":"Unschedulable","message":"0/3 nodes are available: insufficient nvidia.com/gpu"}`, ""), kind: launch.StartFailure, says: "unschedulable): 0/3 nodes", asks: 12},
		{why: "a missing secret", rollout: late, pods: pod(ours, "", `{"name":"vllm","state":{"waiting":{"reason":"CreateContainerConfigError","message":"secret \"hf\" not found"}}}`), kind: launch.StartFailure, says: "cannot be made", asks: 1},
		{why: "a pod of before says nothing of the new ones", rollout: late, pods: pod(`["--model","other"]`, "", `{"name":"vllm","lastState":{"terminated":{"reason":"OOMKilled","exitCode":137}}}`), kind: launch.StartTimeout, says: "did not become ready", asks: 20},
		{why: "the cluster gives up before the limit", rollout: errors.New(`error: deployment "vllm" exceeded its progress deadline`), kind: launch.StartTimeout, says: "progress deadline", asks: 1},
	} {
		r := &recorder{answers: map[string]string{" get deployment": deployment, " get pods": `{"items":[` + c.pods + `]}`, " logs ": c.log}, fail: map[string]error{"rollout": c.rollout}}
		w := &launch.Workload{Name: "deployment/vllm", Container: "vllm", Run: r.run, Patterns: append(engines.CommonLogs(), adapter(t, "vllm").Logs...)}
		f, ok := errors.AsType[*launch.Failure](w.Set(t.Context(), []string{"--model", "m"}, nil, 5*time.Minute))
		if !ok || f.Kind != c.kind || !strings.Contains(f.Reason, c.says) {
			t.Errorf("%s: %+v; want %s with %q", c.why, f, c.kind, c.says)
			continue
		}
		if n := strings.Count(strings.Join(r.asked, "\n"), "rollout status"); n != c.asks {
			t.Errorf("%s: asked %d times how the rollout stands, want %d", c.why, n, c.asks)
		}
		if c.pods != "" && !strings.Contains(strings.Join(r.asked, "\n"), "get pods --selector app=vllm,tier=gpu ") {
			t.Errorf("%s: asked %q", c.why, r.asked)
		}
	}
}

// A container that ended under load runs again by the time anybody looks.
func TestWorkloadEnded(t *testing.T) {
	for end, want := range map[string]launch.Kind{
		"": "", `"lastState":{"terminated":{"reason":"OOMKilled","exitCode":137}}`: launch.OOM, `"lastState":{"terminated":{"reason":"Error","exitCode":1}}`: launch.Crash,
	} {
		status := `{"name":"vllm","state":{"running":{}}}`
		if end != "" {
			status = `{"name":"vllm","state":{"running":{}},` + end + `}`
		}
		r := &recorder{answers: map[string]string{" get deployment": deployment, " get pods": `{"items":[` + pod(`["--a"]`, "", status) + `]}`}}
		w := &launch.Workload{Name: "deployment/vllm", Container: "vllm", Run: r.run}
		if err := w.Set(t.Context(), []string{"--a"}, nil, time.Minute); err != nil {
			t.Fatal(err)
		}
		f, ok := errors.AsType[*launch.Failure](w.Ended(t.Context()))
		if ok != (want != "") || ok && f.Kind != want {
			t.Errorf("%s: %+v; want %q", end, f, want)
		}
	}
}

func TestWorkloadIsRefused(t *testing.T) {
	r := &recorder{answers: map[string]string{" get ": deployment}}
	for _, bad := range []*launch.Workload{
		{Name: "vllm", Run: r.run}, {Name: "--all/x", Run: r.run}, {Name: "deployment/vllm", Run: r.run}, {Name: "deployment/vllm", Container: "none", Run: r.run},
	} {
		if _, err := bad.Arguments(t.Context()); err == nil {
			t.Errorf("%s %s was accepted", bad.Name, bad.Container)
		}
	}
	r.fail = map[string]error{"rollout": errors.New("rollout status is only available for RollingUpdate strategy type")}
	w := &launch.Workload{Name: "deployment/vllm", Container: "vllm", Run: r.run}
	err := w.Set(t.Context(), nil, nil, time.Minute)
	if _, ok := errors.AsType[*launch.Failure](err); ok || err == nil {
		t.Errorf("a rollout that cannot be watched: %v; want an error that is no failure of the configuration", err)
	}
}
