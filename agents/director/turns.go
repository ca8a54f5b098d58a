package director

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/inferencebench/inferencebench/agents/llm"
	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/prompts"
	"github.com/inferencebench/inferencebench/tasks"
	"github.com/inferencebench/inferencebench/tasks/token"
)

// TurnConfig configures [NewTurns]. Caller is required.
type TurnConfig struct {
	Caller *llm.Caller
	// Share of the sessions, 0 to 1, whose later turns a model writes where it can.
	Share float64
	Seed  uint64 // which sessions, and their personas
	// Margin is how long before a turn is due the model's answer must be there, and at
	// least a twentieth of the pause; 0 is DefaultMargin.
	Margin time.Duration
	// Parallel is how many calls may be open at once; 0 is 4.
	Parallel int
	// Context ends every call; nil is never.
	Context context.Context
}

// DefaultMargin leaves time to send a turn at its due time.
const DefaultMargin = 50 * time.Millisecond

// Codes of the notes on turns.
const (
	NoteByModel  = "turn_by_model" // a model wrote the user message
	NoteFallback = "turn_fallback" // a model was asked, and the generator's turn was sent
)

// TurnStats counts what became of later turns in sessions that a model writes for.
type TurnStats struct {
	Eligible int // later turns of the chosen sessions
	Written  int // by the model
	Late     int // the model was asked and did not answer in time
	NoTime   int // no pause before the turn, so no model was asked
	NoReply  int // there was no answer to write about
	Invalid  int // the answer broke the schema or the rules, also when repaired
	Failed   int // the call failed, or the budget was used up
	// SendPath counts turns that were handed over after they were due. It is 0 unless
	// this machine is too busy to wake up within the margin.
	SendPath int
}

// Turns is a source whose later turns are partly written by a model. It is safe for
// concurrent use.
type Turns struct {
	inner  tasks.Source
	cfg    TurnConfig
	prompt *prompts.Prompt
	slots  chan struct{}

	mu    sync.Mutex
	stats TurnStats
}

// NewTurns wraps inner.
func NewTurns(inner tasks.Source, cfg TurnConfig) (*Turns, error) {
	if cfg.Caller == nil {
		return nil, errors.New("director: no model to write turns with")
	}
	if !(cfg.Share >= 0 && cfg.Share <= 1) {
		return nil, fmt.Errorf("director: share %g is not between 0 and 1", cfg.Share)
	}
	if cfg.Margin == 0 {
		cfg.Margin = DefaultMargin
	}
	if cfg.Parallel == 0 {
		cfg.Parallel = 4
	}
	if cfg.Context == nil {
		cfg.Context = context.Background()
	}
	p, err := prompts.Turn()
	if err != nil {
		return nil, err
	}
	return &Turns{inner: inner, cfg: cfg, prompt: p, slots: make(chan struct{}, cfg.Parallel)}, nil
}

// Stats returns the counts so far.
func (t *Turns) Stats() TurnStats {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.stats
}

func (t *Turns) count(f func(*TurnStats)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f(&t.stats)
}

// personas are who the user may be.
var personas = []string{
	"a careful shift leader who wants figures and mistrusts round numbers",
	"an impatient shop owner who wants the short version and the next step",
	"a curious retired teacher who asks why, and compares with the old days",
	"a young engineer who looks for the edge case that breaks the idea",
	"a volunteer who is new to the subject and takes words literally",
	"a treasurer who asks what it costs and who pays",
	"a translator who cares about exact wording",
	"a night worker who is tired, writes short sentences and has a concrete problem",
}

// Session is inner's session i, with a model behind it when it is one of the share.
func (t *Turns) Session(i uint64) tasks.Session {
	r := rand.New(rand.NewPCG(t.cfg.Seed, i^0x6469726563746f72))
	s := t.inner.Session(i)
	if r.Float64() >= t.cfg.Share {
		return s
	}
	return &session{t: t, inner: s, persona: personas[r.IntN(len(personas))]}
}

type session struct {
	t       *Turns
	inner   tasks.Session
	persona string
	asked   []string
	turn    int
	drift   int // tokens by which the model's turns are longer than the generator's
}

// Next gives the generator's turn, with the model's text in it when that comes in time.
func (s *session) Next(reply string) (tasks.Turn, bool) {
	now := s.t.cfg.Caller.Clock.Now()
	turn, ok := s.inner.Next(reply)
	if !ok {
		return turn, false
	}
	first := s.turn == 0
	s.turn++
	if shared, known := turn.SharedPrefix.Get(); known && !first {
		turn.SharedPrefix = archive.Some(max(shared+s.drift, 0))
	}
	if !first && (turn.Kind == "" || turn.Kind == archive.KindLoad) && turn.Messages == nil {
		s.rewrite(&turn, reply, now.Add(turn.Think))
	}
	if n, known := turn.PromptTokens.Get(); known && !first {
		turn.PromptTokens = archive.Some(max(n+s.drift, 1))
	}
	s.asked = append(s.asked, turn.User)
	return turn, true
}

// rewrite asks the model for the turn's text and leaves the turn alone when there is no
// good answer in time before due.
func (s *session) rewrite(turn *tasks.Turn, reply string, due archive.Instant) {
	t := s.t
	t.count(func(c *TurnStats) { c.Eligible++ })
	clock := t.cfg.Caller.Clock
	limit := due.Sub(clock.Now()) - max(t.cfg.Margin, turn.Think/20)
	switch {
	case strings.TrimSpace(reply) == "":
		t.count(func(c *TurnStats) { c.NoReply++ })
		return
	case limit <= 0:
		t.count(func(c *TurnStats) { c.NoTime++ })
		return
	}
	text, err := s.compose(limit, reply)
	if turn.Think > 0 && clock.Now() > due {
		t.count(func(c *TurnStats) { c.SendPath++ })
	}
	if err != nil {
		t.count(func(c *TurnStats) {
			switch {
			case errors.Is(err, llm.ErrLate):
				c.Late++
			case errors.Is(err, llm.ErrInvalid):
				c.Invalid++
			default:
				c.Failed++
			}
		})
		turn.Notes = append(turn.Notes, archive.Annotation{Code: NoteFallback, Message: "The seeded generator wrote this turn: " + err.Error() + "."})
		return
	}
	t.count(func(c *TurnStats) { c.Written++ })
	s.drift += token.Estimate(text) - token.Estimate(turn.User)
	turn.User = text
	turn.Notes = append(turn.Notes, archive.Annotation{Code: NoteByModel, Message: "A model wrote the user message of this turn."})
}

// Limits of what the model is shown and of what is taken from it.
const (
	maxShownReply = 3000 // bytes of the reply
	maxShownAsked = 4    // earlier user messages
	maxShownTurn  = 500  // bytes of each
	maxMessage    = 1500 // characters of an answer
)

// compose asks the model. It returns after at most limit.
func (s *session) compose(limit time.Duration, reply string) (string, error) {
	t := s.t
	ctx, cancel := llm.Deadline(t.cfg.Context, limit)
	defer cancel()
	select {
	case t.slots <- struct{}{}:
	case <-ctx.Done():
		return "", fmt.Errorf("no slot for a model call was free: %w", context.Cause(ctx))
	}
	var asked strings.Builder
	for i, u := range s.asked[max(0, len(s.asked)-maxShownAsked):] {
		fmt.Fprintf(&asked, "%d. %s\n", i+1, prompts.Data{Label: "user message", Text: u, Max: maxShownTurn})
	}
	language := "English"
	if han(s.asked[len(s.asked)-1]) {
		language = "Chinese"
	}
	values := map[string]any{
		"Persona": s.persona, "Language": language, "MinWords": 8, "MaxWords": 60, "Asked": asked.String(),
		"Reply": prompts.Data{Label: "assistant reply", Text: reply, Max: maxShownReply},
	}
	type result struct {
		text string
		err  error
	}
	done := make(chan result, 1)
	go func() { // a model that ignores its context must not hold the turn up
		defer func() { <-t.slots }()
		var answer struct {
			Message string `json:"message"`
		}
		err := t.cfg.Caller.Ask(ctx, "director", t.prompt, values, &answer, func() error {
			answer.Message = tidy(answer.Message)
			return s.acceptable(answer.Message, reply)
		})
		done <- result{answer.Message, err}
	}()
	select {
	case r := <-done:
		return r.text, r.err
	case <-ctx.Done():
		return "", fmt.Errorf("model call: %w", context.Cause(ctx))
	}
}

// acceptable reports why a message cannot be sent.
func (s *session) acceptable(message, reply string) error {
	switch {
	case len([]rune(message)) < 4:
		return errors.New("the message is empty")
	case len([]rune(message)) > maxMessage:
		return fmt.Errorf("the message is longer than %d characters", maxMessage)
	case strings.Contains(message, "DATA-"):
		return errors.New("the message holds a mark of the instructions")
	case !onTopic(message, reply):
		return errors.New("the message takes up nothing from the assistant's last reply; name a word or a figure of it")
	}
	for _, u := range s.asked {
		if u == message {
			return errors.New("the message was sent before")
		}
	}
	return nil
}
