package monitor

import (
	"context"

	"github.com/inferencebench/inferencebench/archive"
)

// EventWatcherLost is the kind of event of a watcher that ended by itself.
const EventWatcherLost = "watcher_lost"

// Watcher follows something that comes by itself, such as a log or spans that a server
// sends, and makes events of it.
type Watcher interface {
	// Watch emits events until ctx is done, then returns nil soon. An error means that it
	// cannot go on. emit is safe for concurrent use.
	Watch(ctx context.Context, clock archive.Clock, emit func(archive.Event)) error
}

// follow runs a watcher; when it fails, an event says so.
func (m *Monitor) follow(ctx context.Context, w Watcher) {
	if err := w.Watch(ctx, m.cfg.Clock, m.emit); err != nil && ctx.Err() == nil {
		m.emit(archive.Event{T: m.cfg.Clock.Now(), Kind: EventWatcherLost, Severity: archive.SeverityWarning, Source: "monitor", Message: err.Error()})
	}
}

// emit reports an event unless the monitor has stopped.
func (m *Monitor) emit(e archive.Event) {
	m.mu.Lock()
	closed := m.closed
	m.mu.Unlock()
	if !closed && m.cfg.Event != nil {
		m.cfg.Event(e)
	}
}
