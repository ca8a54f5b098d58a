package learn

import "time"

// Record is one request of a log. Unknown figures are −1, unknown texts "".
type Record struct {
	At      time.Time // zero when the log has no times
	Session string
	Model   string
	User    string // used only to group requests; never kept
	Prompt  string // last user message
	System  string
	History string // messages before the last, joined; only its length and start are used
	In      int    // prompt tokens
	Out     int    // generated tokens
	Cached  int    // prompt tokens from a cache
	Latency time.Duration
	Failed  bool
}
