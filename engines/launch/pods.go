package launch

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// How a rollout is watched: its pods are looked at after each slice of the time limit, and a
// pod that no node takes is given up after so many slices. A node may be on its way, or the
// pod of before be still there.
const (
	slice    = 15 * time.Second
	patience = 12
)

// rollout waits until the new pods are ready, or until what the cluster tells of them says
// that they will not be.
func (w *Workload) rollout(ctx context.Context, timeout time.Duration) error {
	homeless := 0
	for spent := time.Duration(0); ; {
		step := max(min(slice, timeout-spent), time.Second)
		_, err := w.Run(ctx, w.kubectl("rollout", "status", w.Name, "--timeout", fmt.Sprintf("%ds", int(step.Seconds()))), nil)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		late, stuck := strings.Contains(err.Error(), "timed out"), strings.Contains(err.Error(), "progress deadline")
		if !late && !stuck {
			return fmt.Errorf("kubernetes: watch %s: %w", w.Name, err)
		}
		spent += step
		sad := w.look(ctx)
		if sad.homeless {
			homeless++
		}
		over := stuck || spent >= timeout || homeless >= patience
		switch {
		case sad.kind != "" && (!sad.homeless || over):
			return &Failure{Kind: sad.kind, After: spent, Reason: sad.reason}
		case over:
			return &Failure{Kind: StartTimeout, After: spent, Reason: fmt.Sprintf("the pods of %s did not become ready within %s: %v", w.Name, spent, err)}
		}
	}
}

// Ended says how a container of the workload ended since the last change, as a *Failure of kind
// OOM or Crash; nil where none did or nothing is known. A container that ended under load is
// started again by the cluster, and answers as if nothing had happened.
func (w *Workload) Ended(ctx context.Context) error {
	sad := w.look(ctx)
	switch sad.kind {
	case OOM:
		return &Failure{Kind: OOM, Reason: sad.reason}
	case StartFailure:
		if sad.ended {
			return &Failure{Kind: Crash, Reason: strings.Replace(sad.reason, "ends before it is ready", "ended under load", 1)}
		}
	}
	return nil
}

// plight is why pods are not ready; the zero plight is nothing known.
type plight struct {
	kind     Kind
	reason   string
	homeless bool   // no node takes the pod
	ended    bool   // the container ran and ended
	pod      string // whose log tells more
}

// look asks the cluster about the pods that have the arguments that were set last. What
// cannot be read says nothing.
func (w *Workload) look(ctx context.Context) plight {
	if w.selector == "" || w.original == nil {
		return plight{}
	}
	out, err := w.Run(ctx, w.kubectl("get", "pods", "--selector", w.selector, "--output", "json"), nil)
	if err != nil {
		return plight{}
	}
	sad := judgePods(out, w.original.Container, w.set)
	if sad.pod == "" {
		return sad
	}
	log, err := w.Run(ctx, w.kubectl("logs", sad.pod, "--container", w.original.Container, "--previous", "--tail", "200"), nil)
	if err != nil {
		return sad
	}
	o, err := newOutput(w.Patterns, nil)
	if err != nil {
		return sad
	}
	for line := range strings.Lines(string(log)) {
		o.line([]byte(line))
	}
	line, means, memory := o.why()
	if memory {
		sad.kind = OOM
	}
	if means != "" {
		sad.reason += ", as " + means
	}
	sad.reason += quote(line)
	return sad
}

// ending is how a container ended.
type ending struct {
	Reason string `json:"reason"`
	Code   int    `json:"exitCode"`
}

// podList is what is read of pods.
type podList struct {
	Items []struct {
		Metadata struct {
			Name string `json:"name"`
		} `json:"metadata"`
		Spec struct {
			Containers []struct {
				Name string   `json:"name"`
				Args []string `json:"args"`
			} `json:"containers"`
		} `json:"spec"`
		Status struct {
			Conditions []struct {
				Type    string `json:"type"`
				Status  string `json:"status"`
				Reason  string `json:"reason"`
				Message string `json:"message"`
			} `json:"conditions"`
			Containers []struct {
				Name  string `json:"name"`
				State struct {
					Waiting *struct {
						Reason  string `json:"reason"`
						Message string `json:"message"`
					} `json:"waiting"`
					Terminated *ending `json:"terminated"`
				} `json:"state"`
				Last struct {
					Terminated *ending `json:"terminated"`
				} `json:"lastState"`
			} `json:"containerStatuses"`
		} `json:"status"`
	} `json:"items"`
}

// noImage are the reasons of a container that waits for an image that will not come.
var noImage = []string{"ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "ImageInspectError", "RegistryUnavailable"}

// judgePods reads a list of pods and says what keeps those with these arguments from being
// ready. A pod with other arguments is one of before.
func judgePods(list []byte, container string, args []string) plight {
	var doc podList
	if json.Unmarshal(list, &doc) != nil {
		return plight{}
	}
	var sad plight
	for i := range doc.Items {
		pod := &doc.Items[i]
		mine := false
		for _, c := range pod.Spec.Containers {
			mine = mine || c.Name == container && slices.Equal(c.Args, args)
		}
		if !mine {
			continue
		}
		for _, c := range pod.Status.Conditions {
			if c.Type == "PodScheduled" && c.Status == "False" && c.Reason == "Unschedulable" {
				sad = plight{kind: StartFailure, homeless: true, reason: "no node takes the pod (unschedulable): " + clip(c.Message) +
					"; where the pod of before holds the GPU, the workload needs a strategy that ends it first, such as Recreate"}
			}
		}
		for _, c := range pod.Status.Containers {
			if c.Name != container {
				continue
			}
			end := c.State.Terminated
			if end == nil {
				end = c.Last.Terminated
			}
			switch wait := c.State.Waiting; {
			case end != nil && end.Reason == "OOMKilled":
				return plight{kind: OOM, ended: true, reason: "its container was killed because it reached its memory limit (OOMKilled)"}
			case end != nil && (end.Code != 0 || wait != nil && wait.Reason == "CrashLoopBackOff"):
				return plight{kind: StartFailure, ended: true, pod: pod.Metadata.Name, reason: fmt.Sprintf("its container ends before it is ready (crash loop, exit status %d)", end.Code)}
			case wait != nil && slices.Contains(noImage, wait.Reason):
				return plight{kind: StartFailure, reason: fmt.Sprintf("its image cannot be had (image pull, %s): %s", wait.Reason, clip(wait.Message))}
			case wait != nil && (wait.Reason == "CreateContainerConfigError" || wait.Reason == "CreateContainerError" || wait.Reason == "RunContainerError"):
				return plight{kind: StartFailure, reason: fmt.Sprintf("its container cannot be made (%s): %s", wait.Reason, clip(wait.Message))}
			}
		}
	}
	return sad
}

// clip is a message of the cluster's, on one line and not too long.
func clip(text string) string {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "\uFFFD")), " ")
	if r := []rune(text); len(r) > 240 {
		return string(r[:240]) + "…"
	}
	return text
}
