package null

// Entry is what the server saw of one streamed request. Instants are nanoseconds of the
// machine's monotonic clock, as [Clock.Now] reads it.
type Entry struct {
	// Arrived is when the last byte of the request had been read.
	Arrived int64
	// Sent has the instant just before each write of chunks.
	Sent []int64
	// Done is whether the last chunk was written.
	Done bool
}

// maxJournal bounds the send instants that a journal keeps.
const maxJournal = 8 << 20

// journal is the server's own record of requests, kept while somebody asks for it:
// /journal/start empties it and begins, and /journal returns it as JSON and ends. It
// belongs to the server's thread.
type journal struct {
	on      bool
	entries []*Entry
	stamps  int
}

func (j *journal) start() { *j = journal{on: true} }

// arrived opens the entry of a request, nil when the journal is off or full.
func (j *journal) arrived(now int64) *Entry {
	if !j.on || j.stamps >= maxJournal {
		return nil
	}
	e := &Entry{Arrived: now}
	j.entries = append(j.entries, e)
	return e
}

func (j *journal) sent(e *Entry, now int64, last bool) {
	if e == nil || !j.on || j.stamps >= maxJournal {
		return
	}
	j.stamps++
	e.Sent = append(e.Sent, now)
	e.Done = last
}

func (j *journal) end() []*Entry {
	out := j.entries
	*j = journal{}
	if out == nil {
		out = []*Entry{}
	}
	return out
}

// modelList answers a client that asks for the models before it sends load.
const modelList = `{"object":"list","data":[{"id":"null-model-of-no-size-at-all","object":"model","created":1764500000,"owned_by":"null"}]}`
