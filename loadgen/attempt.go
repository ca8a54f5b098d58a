package loadgen

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/loadgen/wire"
)

// errImpatient ends a request whose user has left.
var errImpatient = errors.New("the user lost patience and left")

// Impatience is a [Phase.Patience] under which a share of the turns, from 0 to 1, has a
// limited patience, exponential with the mean. It is a function of the seed.
func Impatience(share float64, mean time.Duration, seed uint64) func(session uint64, turn int) time.Duration {
	return func(session uint64, turn int) time.Duration {
		h := scramble(scramble(seed^session) + uint64(turn))
		if unit(h) >= share {
			return 0
		}
		return max(1, time.Duration(-math.Log(unit(scramble(h)))*float64(mean)))
	}
}

// scramble is the finaliser of SplitMix64.
func scramble(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}

// unit maps random bits to the open interval (0, 1).
func unit(b uint64) float64 { return (float64(b>>11) + 0.5) / (1 << 53) }

// patient returns the context of a request that is due at the instant at, and a function
// to release it.
func (p *phase) patient(at archive.Instant, patience time.Duration) (context.Context, func()) {
	if patience <= 0 {
		return p.open, func() {}
	}
	ctx, cancel := context.WithCancelCause(p.open)
	timer := time.AfterFunc(at.Add(patience).Sub(p.cfg.Clock.Now()), func() { cancel(errImpatient) })
	return ctx, func() {
		timer.Stop()
		cancel(nil)
	}
}

// send hands the call to the sender, and again while the retry rule says so.
func (p *phase) send(ctx context.Context, call *wire.Call, rec *archive.Request) {
	blank := *rec
	backoff := p.cfg.Retry.Backoff
	if backoff <= 0 {
		backoff = DefaultBackoff
	}
	for {
		p.cfg.Sender.Do(ctx, call, rec)
		if len(blank.Attempts) >= p.cfg.Retry.Max || rec.Status != archive.StatusFailed || !retryable(rec.Error) {
			break
		}
		wait := backoff << min(len(blank.Attempts), 10)
		if s, ok := rec.Error.RetryAfter.Get(); ok && s >= 0 && s < maxRetryAfter.Seconds() {
			wait = time.Duration(s * float64(time.Second))
		}
		if p.pause(ctx, wait) != nil {
			break
		}
		if !blank.T.Send.Known() {
			blank.T.Send, blank.Conn.Wait = rec.T.Send, rec.Conn.Wait
		}
		blank.Attempts = append(blank.Attempts, rec.Error)
		*rec = blank
		rec.T.Send = 0
	}
	if blank.T.Send.Known() {
		rec.T.Send = blank.T.Send // of the first try
		annotate(rec, "retried", fmt.Sprintf("The request was sent %d times; its latency counts from the first.", len(rec.Attempts)+1))
	}
}

// maxRetryAfter bounds a server's wish: one that is longer is taken as none.
const maxRetryAfter = time.Hour

// pause waits before a retry. No retry is sent after the measured window, or after the
// user has left; one of the last planned requests still is.
func (p *phase) pause(ctx context.Context, d time.Duration) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(p.sends, func() {
		if cause := context.Cause(p.sends); !errors.Is(cause, errAllSent) {
			cancel(cause)
		}
	})()
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// retryable reports a failure that may pass: the server was busy or away, or the
// connection did not come about.
func retryable(f *archive.Failure) bool {
	if f == nil {
		return false
	}
	switch f.HTTPStatus.Or(0) {
	case 429, 502, 503, 504:
		return true
	}
	return f.Kind == archive.FailConnect || f.Kind == archive.FailTimeoutConnect
}
