package llm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/prompts"
)

// ErrInvalid is in the chain of the error for an answer that is still wrong after its
// repair.
var ErrInvalid = errors.New("the model's answer is not valid")

// Record is one call in the transcript. One line of agents.jsonl.
type Record struct {
	T       archive.Instant `json:"t"` // when the call began
	Role    string          `json:"role"`
	Prompt  string          `json:"prompt"`
	Version string          `json:"prompt_version"`
	// PromptSHA256 is of the template and schema, InputSHA256 of the messages sent.
	PromptSHA256 string  `json:"prompt_sha256"`
	InputSHA256  string  `json:"input_sha256"`
	Model        string  `json:"model"`
	Attempt      int     `json:"attempt"` // 1, or 2 for a repair
	Output       string  `json:"output"`  // as the model gave it, cut to a bounded length
	TokensIn     int     `json:"tokens_in"`
	TokensOut    int     `json:"tokens_out"`
	USD          float64 `json:"usd"`
	Took         int64   `json:"took_ns"`
	// Verdict is "ok", "repaired", "invalid", "late", "error" or "denied".
	Verdict string `json:"verdict"`
	Reason  string `json:"reason,omitempty"`
}

// The verdicts of a record.
const (
	VerdictOK       = "ok"
	VerdictRepaired = "repaired" // valid at the second attempt
	VerdictInvalid  = "invalid"  // breaks the schema or the caller's rules
	VerdictLate     = "late"     // the caller could not wait longer
	VerdictError    = "error"    // no answer
	VerdictDenied   = "denied"   // not called: the budget is used up
)

// Caller asks one model. Model and Clock are required. It is safe for concurrent use.
type Caller struct {
	Model  Model
	Clock  archive.Clock
	Budget *Budget // nil is no limit
	Price  Price
	// Record gets every call once, from the goroutine that asked; nil drops them.
	Record func(Record)

	MaxTokens   int // of an answer; 0 is 600
	Temperature float64
}

// maxOutput bounds how much of an answer a record keeps, in bytes.
const maxOutput = 8 << 10

// Ask fills into with the model's answer to a prompt. check, which may be nil, is called
// after into is filled and reports what is wrong beyond the schema. On an error into is
// in no particular state, and the error says which verdict the transcript has.
func (c *Caller) Ask(ctx context.Context, role string, p *prompts.Prompt, values map[string]any, into any, check func() error) error {
	system, user, err := p.Render(values)
	if err != nil {
		return err
	}
	var last error
	for attempt := 1; attempt <= 2; attempt++ {
		ask := user
		if last != nil {
			ask += "\n\nYour answer before was not valid: " + shorten(last.Error(), 400) + "\nAnswer again, with the JSON object only."
		}
		err, again := c.once(ctx, role, p, system, ask, into, check, attempt)
		if err == nil {
			return nil
		}
		if !again {
			return err
		}
		last = err
	}
	return last
}

// once makes one attempt; again reports whether a repair may help.
func (c *Caller) once(ctx context.Context, role string, p *prompts.Prompt, system, user string, into any, check func() error, attempt int) (err error, again bool) {
	rec := Record{
		T: c.Clock.Now(), Role: role, Prompt: p.Name, Version: p.Version, PromptSHA256: p.SHA256, InputSHA256: inputSum(system, user),
		Model: c.Model.Name(), Attempt: attempt,
	}
	defer func() {
		rec.Took = int64(c.Clock.Now().Sub(rec.T))
		if err != nil {
			rec.Reason = shorten(err.Error(), 500)
		}
		if c.Record != nil {
			c.Record(rec)
		}
	}()
	if err := c.Budget.reserve(); err != nil {
		rec.Verdict = VerdictDenied
		return err, false
	}
	limit := c.MaxTokens
	if limit == 0 {
		limit = 600
	}
	resp, err := c.Model.Generate(ctx, Request{System: system, User: user, Tool: p.Name, Schema: p.Schema, MaxTokens: limit, Temperature: c.Temperature})
	rec.Output, rec.TokensIn, rec.TokensOut = shorten(resp.Text, maxOutput), resp.In, resp.Out
	rec.USD = c.Price.Cost(resp.In, resp.Out)
	c.Budget.settle(resp.In, resp.Out, rec.USD, c.Clock.Now().Sub(rec.T))
	switch {
	case ctx.Err() != nil:
		rec.Verdict = VerdictLate
		return fmt.Errorf("model call: %w", context.Cause(ctx)), false
	case errors.Is(err, ErrNoJSON):
		rec.Verdict = VerdictInvalid
		return fmt.Errorf("%w: %w", ErrInvalid, err), true
	case err != nil:
		rec.Verdict = VerdictError
		return fmt.Errorf("model call: %w", err), false
	}
	if err := accept(p, resp.Answer, into, check); err != nil {
		rec.Verdict = VerdictInvalid
		return fmt.Errorf("%w: %w", ErrInvalid, err), true
	}
	rec.Verdict = VerdictOK
	if attempt > 1 {
		rec.Verdict = VerdictRepaired
	}
	return nil, false
}

// accept validates an answer and decodes it.
func accept(p *prompts.Prompt, answer json.RawMessage, into any, check func() error) error {
	if err := p.Validate(answer); err != nil {
		return err
	}
	if err := json.Unmarshal(answer, into); err != nil {
		return err
	}
	if check == nil {
		return nil
	}
	return check()
}

func inputSum(system, user string) string {
	h := sha256.Sum256([]byte(system + "\x00" + user))
	return hex.EncodeToString(h[:])
}

// shorten cuts a text to n bytes at a character.
func shorten(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n] + "…"
}

// Deadline returns a context that ends with ErrLate after d.
func Deadline(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, d, ErrLate)
}

// ErrLate is in the chain of the error for an answer that did not come in time.
var ErrLate = errors.New("the model did not answer in time")
