package tasks

import (
	"math"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/tasks/prose"
)

func sqrt1m(c float64) float64 { return math.Sqrt(1 - c*c) }

// session is one seeded conversation.
type session struct {
	g          *generator
	i          uint64
	kind       *kind
	lang       prose.Lang
	plan       []turnPlan
	structured bool

	turn    int
	w       *prose.Writer
	history int // tokens of everything sent and answered so far, template included
}

// Next writes the next turn.
func (s *session) Next(reply string) (Turn, bool) {
	if s.turn >= len(s.plan) {
		return Turn{}, false
	}
	p := s.plan[s.turn]
	t := Turn{
		Kind: archive.KindLoad, Task: s.kind.name, MaxTokens: p.limit,
		IgnoreEOS: s.g.o.IgnoreEOS, Temperature: s.g.o.Temperature, Think: p.think,
	}
	if s.turn == 0 {
		s.first(&t, p)
	} else {
		s.follow(&t, p, reply)
	}
	s.turn++
	return t, true
}

func (s *session) first(t *Turn, p turnPlan) {
	g := s.g
	s.w = prose.New(stream(g.o.Seed, streamText, s.i), s.lang)
	body := p.tokens - g.tmpl - g.shared
	if body < minBody {
		body = minBody
	}
	t.System = g.system
	t.User = s.g.firstMessage(s, body)
	s.history = g.shared + g.tmpl + g.count.Count(t.User)
	t.PromptTokens = archive.Some(p.tokens)
	t.SharedPrefix = archive.Some(g.shared)
}

// minBody is the shortest user message, in tokens.
const minBody = 6

func (s *session) follow(t *Turn, p turnPlan, reply string) {
	g := s.g
	before := s.history + g.count.Count(reply)
	r := stream(g.o.Seed, streamFollow, s.i, uint64(s.turn), hash64(reply))
	f := follower{r: r, w: s.w, kind: s.kind, lang: s.lang}
	text := f.message(readReply(reply))
	c := composer{w: s.w, count: g.count}
	text = c.extend(text, p.tokens, s.lang)
	own := g.count.Count(text)
	t.User = text
	t.PromptTokens = archive.Some(before + own + g.tmpl/2)
	t.SharedPrefix = archive.Some(before)
	s.history = before + own + g.tmpl/2
}
