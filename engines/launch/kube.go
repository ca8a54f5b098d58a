package launch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/inferencebench/inferencebench/engines"
)

// Workload is a container of a Kubernetes deployment or stateful set whose arguments and
// environment are changed in place. What it had before the first change is kept in an
// annotation of the workload itself until Restore, so that a study that was killed finds it
// again. Its methods are for one goroutine.
type Workload struct {
	Kubectl   []string // such as ["kubectl", "--context", "lab"]
	Namespace string   // empty is kubectl's own
	// Name is such as "deployment/vllm"; Container names the container, and may be empty where
	// there is one.
	Name, Container string
	Run             Run
	// Patterns tell what lines of the container's log mean.
	Patterns []engines.LogPattern

	original *podSpec
	selector string   // of its pods
	set      []string // the arguments that it was given last
}

// Before is the annotation that keeps arguments and environment of before a study.
const Before = "inferencebench/before"

// podSpec is what of a workload is read and put back.
type podSpec struct {
	Container string   `json:"container,omitempty"`
	Args      []string `json:"args"`
	Env       []envVar `json:"env"`
}

// envVar is a variable of a container; one that is taken from elsewhere is kept as it is.
type envVar struct {
	Name      string          `json:"name"`
	Value     string          `json:"value,omitempty"`
	ValueFrom json.RawMessage `json:"valueFrom,omitempty"`
}

// ErrNoWorkload is in the chain of the error where there is nothing to change.
var ErrNoWorkload = errors.New("no such workload")

func (w *Workload) kubectl(words ...string) []string {
	argv := slices.Clone(w.Kubectl)
	if len(argv) == 0 {
		argv = []string{"kubectl"}
	}
	if w.Namespace != "" {
		argv = append(argv, "--namespace", w.Namespace)
	}
	return append(argv, words...)
}

// workloadDoc is what is read of a workload.
type workloadDoc struct {
	Metadata struct {
		Annotations map[string]string `json:"annotations"`
	} `json:"metadata"`
	Spec struct {
		Selector struct {
			MatchLabels map[string]string `json:"matchLabels"`
		} `json:"selector"`
		Template struct {
			Spec struct {
				Containers []struct {
					Name string `json:"name"`
					podSpec
				} `json:"containers"`
			} `json:"spec"`
		} `json:"template"`
	} `json:"spec"`
}

// Arguments reads the container's arguments as they are, and remembers them: they are what
// Restore brings back. Where a study that was killed left its own, those of before it are
// returned and remembered.
func (w *Workload) Arguments(ctx context.Context) ([]string, error) {
	if kind, name, ok := strings.Cut(w.Name, "/"); !ok || name == "" || kind == "" || strings.HasPrefix(w.Name, "-") {
		return nil, fmt.Errorf("kubernetes: %q is no workload; write it such as deployment/vllm", w.Name)
	}
	out, err := w.Run(ctx, w.kubectl("get", w.Name, "--output", "json"), nil)
	if err != nil {
		return nil, fmt.Errorf("kubernetes: read %s: %w", w.Name, err)
	}
	var doc workloadDoc
	if err := json.Unmarshal(out, &doc); err != nil {
		return nil, fmt.Errorf("kubernetes: %s: %w", w.Name, err)
	}
	w.selector = selectorOf(doc.Spec.Selector.MatchLabels)
	var names []string
	for _, c := range doc.Spec.Template.Spec.Containers {
		names = append(names, c.Name)
		if c.Name == w.Container || w.Container == "" && len(doc.Spec.Template.Spec.Containers) == 1 {
			spec := c.podSpec
			spec.Container = c.Name
			var before podSpec
			if text, ok := doc.Metadata.Annotations[Before]; ok && json.Unmarshal([]byte(text), &before) == nil && before.Container == c.Name {
				spec = before
			}
			if w.original == nil {
				w.original = &spec
			}
			return slices.Clone(spec.Args), nil
		}
	}
	return nil, fmt.Errorf("kubernetes: %s: container %q: %w; it has %s", w.Name, w.Container, ErrNoWorkload, strings.Join(names, ", "))
}

// selectorOf writes labels as kubectl takes them; "" of none.
func selectorOf(labels map[string]string) string {
	var parts []string
	for k, v := range labels {
		parts = append(parts, k+"="+v)
	}
	slices.Sort(parts)
	return strings.Join(parts, ",")
}

// Set gives the container these arguments, and these variables over those that it has, and
// waits until the new pods are ready. Pods that do not get there are a *Failure, whose kind
// and reason are those that the cluster tells.
func (w *Workload) Set(ctx context.Context, args, env []string, timeout time.Duration) error {
	if w.original == nil {
		if _, err := w.Arguments(ctx); err != nil {
			return err
		}
	}
	vars := slices.Clone(w.original.Env)
	for _, e := range env {
		name, value, _ := strings.Cut(e, "=")
		vars = slices.DeleteFunc(vars, func(v envVar) bool { return v.Name == name })
		vars = append(vars, envVar{Name: name, Value: value})
	}
	before, err := json.Marshal(w.original)
	if err != nil {
		return err
	}
	return w.patch(ctx, args, vars, string(before), timeout)
}

// Restore brings back what Arguments found, and takes the annotation away.
func (w *Workload) Restore(ctx context.Context, timeout time.Duration) error {
	if w.original == nil {
		return nil
	}
	return w.patch(ctx, w.original.Args, w.original.Env, nil, timeout)
}

// patch replaces arguments and environment of the container, and sets the annotation; nil
// removes it. A merge would keep variables that a trial added, so that the list is replaced as
// a whole. The patch goes through standard input: other users of the machine see command lines,
// and variables may hold keys.
func (w *Workload) patch(ctx context.Context, args []string, env []envVar, before any, timeout time.Duration) error {
	list := make([]any, 0, len(env)+1)
	list = append(list, map[string]string{"$patch": "replace"})
	for _, v := range env {
		list = append(list, v)
	}
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"annotations": map[string]any{Before: before}},
		"spec": map[string]any{"template": map[string]any{"spec": map[string]any{
			"containers": []any{map[string]any{"name": w.original.Container, "args": args, "env": list}},
		}}},
	})
	if err != nil {
		return err
	}
	if _, err := w.Run(ctx, w.kubectl("patch", w.Name, "--type", "strategic", "--patch-file", "/dev/stdin"), patch); err != nil {
		return fmt.Errorf("kubernetes: change %s: %w", w.Name, err)
	}
	w.set = args
	return w.rollout(ctx, timeout)
}
