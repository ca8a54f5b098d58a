package launch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Workload is a container of a Kubernetes deployment or stateful set whose arguments and
// environment are changed in place. Its methods are for one goroutine.
type Workload struct {
	Kubectl   []string // such as ["kubectl", "--context", "lab"]
	Namespace string   // empty is kubectl's own
	// Name is such as "deployment/vllm"; Container names the container, and may be empty where
	// there is one.
	Name, Container string
	Run             Run

	original *podSpec
}

// podSpec is what of a workload is read and put back.
type podSpec struct {
	container string
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

// Arguments reads the container's arguments as they are, and remembers them: they are what
// Restore brings back.
func (w *Workload) Arguments(ctx context.Context) ([]string, error) {
	if kind, name, ok := strings.Cut(w.Name, "/"); !ok || name == "" || kind == "" || strings.HasPrefix(w.Name, "-") {
		return nil, fmt.Errorf("kubernetes: %q is no workload; write it such as deployment/vllm", w.Name)
	}
	out, err := w.Run(ctx, w.kubectl("get", w.Name, "--output", "json"))
	if err != nil {
		return nil, fmt.Errorf("kubernetes: read %s: %w", w.Name, err)
	}
	var doc struct {
		Spec struct {
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
	if err := json.Unmarshal(out, &doc); err != nil {
		return nil, fmt.Errorf("kubernetes: %s: %w", w.Name, err)
	}
	var names []string
	for _, c := range doc.Spec.Template.Spec.Containers {
		names = append(names, c.Name)
		if c.Name == w.Container || w.Container == "" && len(doc.Spec.Template.Spec.Containers) == 1 {
			spec := c.podSpec
			spec.container = c.Name
			if w.original == nil {
				w.original = &spec
			}
			return slices.Clone(spec.Args), nil
		}
	}
	return nil, fmt.Errorf("kubernetes: %s: container %q: %w; it has %s", w.Name, w.Container, ErrNoWorkload, strings.Join(names, ", "))
}

// Set gives the container these arguments, and these variables over those that it has, and
// waits until the new pods are ready. Pods that do not get there in time are a *Failure.
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
	return w.patch(ctx, args, vars, timeout)
}

// Restore brings back what Arguments found.
func (w *Workload) Restore(ctx context.Context, timeout time.Duration) error {
	if w.original == nil {
		return nil
	}
	return w.patch(ctx, w.original.Args, w.original.Env, timeout)
}

// patch replaces arguments and environment of the container. A merge would keep variables
// that a trial added, so that the list is replaced as a whole.
func (w *Workload) patch(ctx context.Context, args []string, env []envVar, timeout time.Duration) error {
	list := make([]any, 0, len(env)+1)
	list = append(list, map[string]string{"$patch": "replace"})
	for _, v := range env {
		list = append(list, v)
	}
	patch, err := json.Marshal(map[string]any{"spec": map[string]any{"template": map[string]any{"spec": map[string]any{
		"containers": []any{map[string]any{"name": w.original.container, "args": args, "env": list}},
	}}}})
	if err != nil {
		return err
	}
	if _, err := w.Run(ctx, w.kubectl("patch", w.Name, "--type", "strategic", "--patch", string(patch))); err != nil {
		return fmt.Errorf("kubernetes: change %s: %w", w.Name, err)
	}
	seconds := max(1, int(timeout.Seconds()))
	if _, err := w.Run(ctx, w.kubectl("rollout", "status", w.Name, "--timeout", fmt.Sprintf("%ds", seconds))); err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return &Failure{Kind: StartTimeout, After: timeout, Reason: fmt.Sprintf("the pods of %s did not become ready within %s: %v", w.Name, timeout, err)}
	}
	return nil
}
