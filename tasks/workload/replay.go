package workload

import (
	"slices"
	"time"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/tasks"
)

// Replay is a frozen workload as load: session i is due at Schedule[i].
type Replay struct {
	Schedule Schedule
	sessions [][]Entry
	same     bool
}

// Schedule is the due times of a replay from its start. It is an arrival process.
type Schedule []time.Duration

// Next returns the due time of arrival n.
func (s Schedule) Next(_ time.Duration, n uint64) (time.Duration, bool) {
	if n >= uint64(len(s)) {
		return 0, false
	}
	return s[n], true
}

// SameHistory is every request alone, with the prompt that was sent then, in order of the
// times they were due. Nothing depends on what the server now answers.
func (f *File) SameHistory(speed float64) *Replay {
	r := &Replay{same: true}
	entries := byTime(f.Entries)
	for i := range entries {
		r.sessions = append(r.sessions, entries[i:i+1])
	}
	r.schedule(speed)
	return r
}

// LiveHistory is every session with the user turns that were sent then; its first turn is
// due when it was then, and the later ones after the same pauses.
func (f *File) LiveHistory(speed float64) *Replay {
	r := &Replay{}
	at := map[string]int{}
	for _, e := range byTime(f.Entries) {
		k, ok := at[e.Session]
		if !ok {
			k = len(r.sessions)
			at[e.Session] = k
			r.sessions = append(r.sessions, nil)
		}
		r.sessions[k] = append(r.sessions[k], e)
	}
	for _, s := range r.sessions {
		slices.SortStableFunc(s, func(a, b Entry) int { return a.Turn - b.Turn })
	}
	r.schedule(speed)
	return r
}

// byTime orders entries by due time; entries that were due at the same instant keep an
// order that does not depend on the file's.
func byTime(entries []Entry) []Entry {
	out := slices.Clone(entries)
	slices.SortStableFunc(out, func(a, b Entry) int {
		switch {
		case a.At != b.At:
			if a.At < b.At {
				return -1
			}
			return 1
		case a.Session != b.Session:
			if a.Session < b.Session {
				return -1
			}
			return 1
		}
		return a.Turn - b.Turn
	})
	return out
}

func (r *Replay) schedule(speed float64) {
	if !(speed > 0) {
		speed = 1
	}
	var origin archive.Instant
	for i, s := range r.sessions {
		if i == 0 {
			origin = s[0].At
		}
		r.Schedule = append(r.Schedule, time.Duration(float64(s[0].At.Sub(origin))/speed))
	}
}

// Requests is how many requests the replay sends when no session ends early.
func (r *Replay) Requests() int {
	n := 0
	for _, s := range r.sessions {
		n += len(s)
	}
	return n
}

// replayMask keeps the bits of a session number that count within one phase.
const replayMask = 1<<32 - 1

// Session is session i of the replay. The upper half of i is not looked at; past the end
// there are no turns.
func (r *Replay) Session(i uint64) tasks.Session {
	i &= replayMask
	if i >= uint64(len(r.sessions)) {
		return &conversation{}
	}
	return &conversation{entries: r.sessions[i], same: r.same}
}

type conversation struct {
	entries []Entry
	same    bool
	next    int
}

// Next repeats a turn; the reply changes nothing.
func (c *conversation) Next(string) (tasks.Turn, bool) {
	if c.next >= len(c.entries) {
		return tasks.Turn{}, false
	}
	e := &c.entries[c.next]
	c.next++
	t := tasks.Turn{
		Kind: e.Kind, Task: e.Task, Item: e.Item, MaxTokens: e.MaxTokens, IgnoreEOS: e.IgnoreEOS, Temperature: e.Temperature,
		PromptTokens: e.PromptTokens, SharedPrefix: e.SharedPrefix, Stop: e.Stop,
	}
	if t.Kind == archive.KindWarmup {
		t.Kind = archive.KindLoad // what is warm-up is for the replaying run to say
	}
	system, user := e.lastUser()
	t.User = user
	if c.same {
		t.Messages = e.Messages
		return t, true
	}
	if c.next == 1 {
		t.System = system
	} else {
		t.Think = e.Think
	}
	return t, true
}
