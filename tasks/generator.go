package tasks

import (
	"hash/fnv"
	"math/rand/v2"
	"time"

	"github.com/inferencebench/inferencebench/tasks/prose"
	"github.com/inferencebench/inferencebench/tasks/token"
)

// Defaults of lengths that are not given.
var (
	naturalISL      = Lognormal(4.6, 0.9).Clip(24, 4096)
	naturalFollowUp = Lognormal(4.2, 1.1).Clip(12, 2000)
	oneTurn         = Fixed(1)
)

// maxTurns bounds a session.
const maxTurns = 10_000

// generator is the seeded source.
type generator struct {
	o      Options
	count  token.Counter
	tmpl   int
	system string // the shared system message
	shared int    // its tokens
}

// NewGenerator makes the seeded source that o describes. Sessions depend on the
// options, the session number and the replies alone: the same three give the same
// bytes. The plan of a session, which is its kind, language, lengths, turns and pauses,
// does not depend on the replies; they choose only what later user messages say.
func NewGenerator(o Options) (Source, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	if len(o.Mix) == 0 {
		o.Mix = DefaultMix()
	}
	if len(o.Langs) == 0 {
		o.Langs = []LangShare{{prose.English, 1}}
	}
	if !o.ISL.Given() {
		o.ISL = naturalISL
	}
	if !o.FollowUp.Given() {
		o.FollowUp = naturalFollowUp
	}
	if !o.Turns.Given() {
		o.Turns = oneTurn
	}
	g := &generator{o: o, count: o.Counter, tmpl: o.TemplateTokens}
	if g.count == nil {
		g.count = token.Estimator
	}
	switch {
	case g.tmpl == 0:
		g.tmpl = DefaultTemplateTokens
	case g.tmpl < 0:
		g.tmpl = 0
	}
	if n := o.SharedPrefixTokens; n > 0 {
		g.system = g.sharedSystem(n)
		g.shared = g.count.Count(g.system)
	}
	return g, nil
}

// stream is an independent random stream, a function of the words alone.
func stream(words ...uint64) *rand.Rand {
	a, b := uint64(0x9e3779b97f4a7c15), uint64(0xd1b54a32d192ed03)
	for _, w := range words {
		a = mix64(a ^ w)
		b = mix64(b + w*0xff51afd7ed558ccd)
	}
	return rand.New(rand.NewPCG(a, b))
}

// mix64 is the finaliser of SplitMix64.
func mix64(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func hash64(s string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(s)) // a hash's Write returns no error
	return h.Sum64()
}

// The purposes of random streams, so that no two of them are correlated.
const (
	streamPlan = iota + 1
	streamText
	streamNonce
	streamSystem
	streamFollow
	streamClass
)

// sharedSystem writes the system message that all sessions share: a rule book of n
// tokens.
func (g *generator) sharedSystem(n int) string {
	w := prose.New(stream(g.o.Seed, streamSystem, hash64(g.o.nonceSalt())), prose.English)
	head := "You are an assistant for " + w.Topic() + ". "
	if !g.o.ReusePrompts {
		head += "Rule book " + nonce(stream(g.o.Seed, streamNonce, hash64(g.o.Salt)), 8) + ". "
	}
	c := composer{w: w, count: g.count}
	return c.fill(head+"Answer briefly and keep to the notes below.\n", "", prose.Article, n, 0)
}

// nonceSalt is what makes the shared system message differ between runs.
func (o *Options) nonceSalt() string {
	if o.ReusePrompts {
		return ""
	}
	return o.Salt
}

// nonce is a reference of n characters that no other prompt has.
func nonce(r *rand.Rand, n int) string {
	const digits = "23456789ABCDEFGHJKMNPQRSTVWXYZ"
	b := make([]byte, n)
	for i := range b {
		b[i] = digits[r.IntN(len(digits))]
	}
	return string(b)
}

// Session plans session i.
func (g *generator) Session(i uint64) Session {
	r := stream(g.o.Seed, streamPlan, i)
	s := &session{g: g, i: i}
	s.kind = lookupKind(g.drawKind(r))
	s.lang = g.drawLang(r)
	isl, osl := g.drawPair(r)
	turns := min(g.o.Turns.Draw(r), maxTurns)
	s.plan = make([]turnPlan, turns)
	for t := range s.plan {
		p := &s.plan[t]
		if t == 0 {
			p.tokens, p.limit = isl, osl
			continue
		}
		p.tokens, p.limit = g.o.FollowUp.Draw(r), g.o.OSL.Output().Draw(r)
		p.think = g.o.Think.draw(r)
	}
	s.structured = r.Float64() < g.o.Structure
	return s
}

// drawPair draws the first turn's prompt and output lengths, coupled by a Gaussian
// copula where a correlation is asked for.
func (g *generator) drawPair(r *rand.Rand) (isl, osl int) {
	z := r.NormFloat64()
	y := r.NormFloat64()
	if c := g.o.Correlation; c != 0 {
		y = c*z + sqrt1m(c)*y
	}
	return g.o.ISL.Input().At(phi(z)), g.o.OSL.Output().At(phi(y))
}

func (g *generator) drawKind(r *rand.Rand) string {
	var total float64
	for _, s := range g.o.Mix {
		total += s.Weight
	}
	u := r.Float64() * total
	for _, s := range g.o.Mix {
		if u -= s.Weight; u < 0 {
			return s.Task
		}
	}
	return g.o.Mix[len(g.o.Mix)-1].Task
}

func (g *generator) drawLang(r *rand.Rand) prose.Lang {
	var total float64
	for _, l := range g.o.Langs {
		total += l.Weight
	}
	u := r.Float64() * total
	for _, l := range g.o.Langs {
		if u -= l.Weight; u < 0 {
			return l.Lang
		}
	}
	return g.o.Langs[len(g.o.Langs)-1].Lang
}

// turnPlan is what is fixed about a turn before any reply is known.
type turnPlan struct {
	tokens int // of the first prompt, or of a later user message alone
	limit  int // output limit; 0 is none
	think  time.Duration
}
