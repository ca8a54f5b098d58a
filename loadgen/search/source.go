package search

import "github.com/inferencebench/inferencebench/tasks"

// shifted is a source whose sessions are numbered from an offset.
type shifted struct {
	source tasks.Source
	by     uint64
}

// Session implements [tasks.Source].
func (s shifted) Session(i uint64) tasks.Session { return s.source.Session(s.by + i) }
