package launch

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Run executes a command to its end, with stdin as its input, and returns what it wrote to
// standard output, at most four megabytes. The error holds the last line of standard error.
type Run func(ctx context.Context, argv []string, stdin []byte) ([]byte, error)

// StudyLabel is the label of the containers of a study; its value is the study's id.
const StudyLabel = "inferencebench.study"

// Container is a `docker run` (or podman) command that is told its container's name, so that
// the container, and not only the program that started it, can be stopped.
type Container struct {
	Program string // "docker" or "podman"
	Name    string
	run     Run
}

// ContainerProgram is the program of a `docker run …` or `podman run …` command, "" of any
// other.
func ContainerProgram(argv []string) string {
	if len(argv) < 3 || argv[0] != "docker" && argv[0] != "podman" || argv[1] != "run" {
		return ""
	}
	return argv[0]
}

// Containerise names the container of a `docker run …` command after name, labels it with the
// id of the study that starts it, makes it vanish when it stops, and keeps it in the
// foreground. It returns nil where argv is no such command. A name that the command has
// already is kept; an empty study gives no label.
func Containerise(argv []string, name, study string, run Run) ([]string, *Container) {
	program := ContainerProgram(argv)
	if program == "" {
		return argv, nil
	}
	c := &Container{Program: program, Name: name, run: run}
	rest := argv[2:]
	image := 0 // where the image stands: what follows it belongs to the server
	for image < len(rest) && (strings.HasPrefix(rest[image], "-") || image > 0 && takesValue(rest[image-1])) {
		image++
	}
	flags, named, removed := []string{}, false, false
	for i, w := range rest[:image] {
		switch {
		case w == "-d", w == "--detach", strings.HasPrefix(w, "--detach="):
			continue // in the foreground its output and its end are seen
		case w == "--name" && i+1 < image:
			c.Name, named = rest[i+1], true
		case strings.HasPrefix(w, "--name="):
			c.Name, named = strings.TrimPrefix(w, "--name="), true
		case w == "--rm":
			removed = true
		}
		flags = append(flags, w)
	}
	out := []string{argv[0], "run"}
	if !named {
		out = append(out, "--name", name)
	}
	if !removed {
		out = append(out, "--rm")
	}
	if study != "" {
		out = append(out, "--label", StudyLabel+"="+study)
	}
	return slices.Concat(out, flags, rest[image:]), c
}

// takesValue reports whether a flag of docker run is followed by a value of its own.
func takesValue(flag string) bool {
	if !strings.HasPrefix(flag, "-") || strings.Contains(flag, "=") {
		return false
	}
	return !slices.Contains([]string{
		"--rm", "-d", "--detach", "-i", "--interactive", "-t", "--tty", "-it", "-ti", "--init", "--privileged", "--read-only", "-P", "--publish-all", "--oom-kill-disable", "--no-healthcheck", "--sig-proxy",
	}, flag)
}

// Stop stops the container, by force after the grace, and waits until it is gone. One that is
// gone already is no error.
func (c *Container) Stop(ctx context.Context, grace time.Duration) error {
	_, err := c.run(ctx, []string{c.Program, "stop", "--time", fmt.Sprint(int(grace.Seconds())), c.Name}, nil)
	if err == nil || strings.Contains(strings.ToLower(err.Error()), "no such container") {
		return nil
	}
	if _, err2 := c.run(ctx, []string{c.Program, "rm", "--force", c.Name}, nil); err2 != nil && !strings.Contains(strings.ToLower(err2.Error()), "no such container") {
		return fmt.Errorf("stop container %s: %w", c.Name, err)
	}
	return nil
}

// Leftovers stops the containers that carry the label of a study, and returns their ids: a
// study whose process was killed leaves its container behind, which holds port and memory.
func Leftovers(ctx context.Context, program, study string, grace time.Duration, run Run) ([]string, error) {
	out, err := run(ctx, []string{program, "ps", "--all", "--quiet", "--filter", "label=" + StudyLabel + "=" + study}, nil)
	if err != nil {
		return nil, fmt.Errorf("look for containers that the study left: %w", err)
	}
	var stopped []string
	for _, id := range strings.Fields(string(out)) {
		if strings.Trim(id, "0123456789abcdef") != "" {
			return stopped, fmt.Errorf("look for containers that the study left: %s answers %.40q, which is no container id", program, id)
		}
		if err := (&Container{Program: program, Name: id, run: run}).Stop(ctx, grace); err != nil {
			return stopped, err
		}
		stopped = append(stopped, id)
	}
	return stopped, nil
}
