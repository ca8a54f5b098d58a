package metrics

import (
	"hash/fnv"
	"math"
	"slices"
	"time"

	"github.com/inferencebench/inferencebench/archive"
)

// unknownCount marks a token count that nobody reported.
const unknownCount = -1

// Row is what one request contributes to the metrics: its record without its text and
// chunks. The zero Row is of no use; make one with RowOf.
type Row struct {
	T       Times
	Session uint64 // hash of the session id
	Wait    int64  // wait inside the client, in nanoseconds; negative when unknown
	Dial    int32  // TCP connect time, in microseconds; negative when unknown
	TLS     int32  // TLS handshake, in microseconds; negative when unknown

	Prompt, Completion, Reasoning, Cached int32 // tokens; negative when unknown
	AskedPrompt, AskedMax, Shared         int32 // tokens asked for; negative when unknown
	Chunks                                int32 // token-bearing events
	Turn                                  int32
	Phase, Task, Fail                     uint16 // indexes into the names of the Table

	fluid        float32 // fluidity index; negative when unknown
	kind, status uint8   // places in kinds and statuses
	// Hidden is set when the server generated reasoning that it did not stream, so that
	// N and the visible window do not belong together.
	Hidden bool
	// Estimated is set when the counts are not the server's.
	Estimated bool
	// TokensKnown is set when the tokens of each chunk are known.
	TokensKnown bool
}

// Times are the instants of a request that metrics are computed from.
type Times struct{ Intended, Send, First, Answer, Last, Done archive.Instant }

var (
	kinds    = [...]archive.Kind{archive.KindLoad, archive.KindWarmup, archive.KindCheckpoint, archive.KindProbe}
	statuses = [...]archive.Status{archive.StatusOK, archive.StatusFailed, archive.StatusCancelled}
)

// Kind says why the request was sent. An unknown kind counts as a probe, which is in no
// population.
func (r *Row) Kind() archive.Kind { return kinds[r.kind] }

// Status says how the request ended. An unknown status counts as failed.
func (r *Row) Status() archive.Status { return statuses[r.status] }

// RowOf derives the row of a record. Phase, Task and Fail are left to the Table.
func RowOf(r *archive.Request) Row {
	row := Row{
		T:       Times{r.T.Intended, r.T.Send, r.T.First, r.T.Answer, r.T.Last, r.T.Done},
		Session: hash(r.Session), Turn: int32(r.Turn),
		Wait: unknownCount, Dial: unknownCount, TLS: unknownCount,
		Prompt: count(r.Usage.Prompt), Completion: count(r.Usage.Completion),
		Reasoning: count(r.Usage.Reasoning), Cached: count(r.Usage.Cached),
		AskedPrompt: count(r.Asked.PromptTokens), AskedMax: count(r.Asked.MaxTokens), Shared: count(r.Asked.SharedPrefix),
		Chunks:    int32(len(r.Chunks.T)),
		Estimated: r.Usage.Source == archive.UsageEstimated,
	}
	if w, ok := r.Conn.Wait.Get(); ok && w >= 0 {
		row.Wait = w
	}
	if d, ok := r.Conn.Dial.Get(); ok && d >= 0 {
		row.Dial = micros(d)
	}
	if d, ok := r.Conn.TLS.Get(); ok && d >= 0 {
		row.TLS = micros(d)
	}
	row.Hidden = row.Reasoning > 0 && r.Reasoning == "" && (!r.T.Answer.Known() || r.T.Answer == r.T.First)
	row.TokensKnown = tokensKnown(r)
	row.fluid = fluid(r, row.TokensKnown, row.Prompt)
	if i := slices.Index(kinds[:], r.Kind); i >= 0 {
		row.kind = uint8(i)
	} else {
		row.kind = uint8(len(kinds) - 1)
	}
	row.status = 1
	if i := slices.Index(statuses[:], r.Status); i >= 0 {
		row.status = uint8(i)
	}
	return row
}

func count(o archive.Opt[int]) int32 {
	n, ok := o.Get()
	if !ok || n < 0 || n > 1<<30 {
		return unknownCount
	}
	return int32(n)
}

func micros(ns int64) int32 { return int32(min(ns/1000, math.MaxInt32)) }

func hash(s string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(s))
	return h.Sum64()
}

// tokensKnown reports whether the tokens of each chunk are known: the server said so, or
// there are as many tokens as chunks (a final end-of-turn token has no chunk), so that
// each chunk, which holds at least one, holds exactly one.
func tokensKnown(r *archive.Request) bool {
	n := len(r.Chunks.T)
	if n == 0 {
		return false
	}
	if len(r.Chunks.Tokens) == n {
		return true
	}
	c, ok := r.Usage.Completion.Get()
	return ok && r.Usage.Source == archive.UsageServer && (c == n || c == n+1)
}

// OK reports whether the request ended well: only such rows enter latency populations.
func (r *Row) OK() bool { return r.status == 0 }

// Visible returns the generated tokens that belong to the streamed window: N, or N less
// the reasoning that was not streamed. ok is false when that is unknown.
func (r *Row) Visible() (n int32, ok bool) {
	if r.Completion < 0 {
		return 0, false
	}
	if r.Hidden {
		return max(0, r.Completion-r.Reasoning), true
	}
	return r.Completion, true
}

// between returns b − a in milliseconds; ok is false unless both are known and in order.
func between(a, b archive.Instant) (ms float64, ok bool) {
	if !a.Known() || !b.Known() || b < a {
		return 0, false
	}
	return float64(b-a) / float64(time.Millisecond), true
}

// TTFT is t_1 − t_int in milliseconds: what the user waits, a late send included.
func (r *Row) TTFT() (float64, bool) { return between(r.T.Intended, r.T.First) }

// TTFTService is t_1 − t_s in milliseconds.
func (r *Row) TTFTService() (float64, bool) { return between(r.T.Send, r.T.First) }

// TTFO is t_v − t_int in milliseconds: the first answer text, reasoning excluded.
func (r *Row) TTFO() (float64, bool) { return between(r.T.Intended, r.T.Answer) }

// E2EL is t_e − t_int in milliseconds; closing the stream is not in it.
func (r *Row) E2EL() (float64, bool) { return between(r.T.Intended, r.T.Last) }

// E2ELService is t_e − t_s in milliseconds.
func (r *Row) E2ELService() (float64, bool) { return between(r.T.Send, r.T.Last) }

// SendLag is t_s − t_int in milliseconds: how late this program was.
func (r *Row) SendLag() (float64, bool) { return between(r.T.Intended, r.T.Send) }

// Lateness is the send lag without the time that connecting took, in milliseconds: what
// the load generator itself was late.
func (r *Row) Lateness() (float64, bool) {
	lag, ok := r.SendLag()
	if !ok {
		return 0, false
	}
	return max(0, lag-float64(max(r.Dial, 0)+max(r.TLS, 0))/1000), true
}

// Queue is the wait inside the client for a slot or a connection, in milliseconds.
func (r *Row) Queue() (float64, bool) {
	return float64(r.Wait) / float64(time.Millisecond), r.Wait >= 0
}

// TPOT is (t_e − t_1)/(N − 1) in milliseconds a token. It does not exist for N < 2, nor
// when all tokens came in one chunk.
func (r *Row) TPOT() (float64, bool) {
	n, ok := r.Visible()
	d, known := between(r.T.First, r.T.Last)
	if !ok || !known || n < 2 || r.Chunks < 2 {
		return 0, false
	}
	return d / float64(n-1), true
}

// OutputSpeed is 1/TPOT in tokens a second: what one user sees.
func (r *Row) OutputSpeed() (float64, bool) {
	t, ok := r.TPOT()
	if !ok || t <= 0 {
		return 0, false
	}
	return 1000 / t, true
}

// NormLatency is E2EL/N in milliseconds a token.
func (r *Row) NormLatency() (float64, bool) {
	e, ok := r.E2EL()
	if !ok || r.Completion < 1 {
		return 0, false
	}
	return e / float64(r.Completion), true
}

// TokensPerChunk is the mean tokens of the chunks behind the first, (N − n_1)/(chunks −
// 1) with n_1 taken as one token where it is unknown. It needs N ≥ 2 and two chunks.
func (r *Row) TokensPerChunk() (float64, bool) {
	n, ok := r.Visible()
	if !ok || n < 2 || r.Chunks < 2 {
		return 0, false
	}
	return float64(n-1) / float64(r.Chunks-1), true
}

// PromptTokens is the prompt length as counted by the server.
func (r *Row) PromptTokens() (float64, bool) { return float64(r.Prompt), r.Prompt >= 0 }

// OutputTokens is N.
func (r *Row) OutputTokens() (float64, bool) { return float64(r.Completion), r.Completion >= 0 }
