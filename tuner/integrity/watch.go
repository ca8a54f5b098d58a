package integrity

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	randv2 "math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/inferencebench/inferencebench/analyst/stats"
	"github.com/inferencebench/inferencebench/engines"
)

// Name is the name of the check and of its observer.
const Name = "integrity"

// Config is what an Observer needs.
type Config struct {
	Secret Secret
	Plan   Plan             // the zero Plan is DefaultPlan
	Now    func() time.Time // reads a monotonic clock; nil is the machine's
	// Entropy is what fresh prompts are drawn from; nil is the system's.
	Entropy io.Reader
}

// Observer looks at live servers. It is for one goroutine.
type Observer struct {
	secret Secret
	plan   Plan
	now    func() time.Time
	fresh  *randv2.Rand
}

// NewObserver makes an observer.
func NewObserver(c Config) (*Observer, error) {
	o := &Observer{secret: c.Secret, plan: c.Plan, now: c.Now}
	if o.plan == (Plan{}) {
		o.plan = DefaultPlan()
	}
	if o.plan.Parallel < 1 || o.plan.Prompts < o.plan.Again || o.plan.Tokens < 1 {
		return nil, fmt.Errorf("integrity plan %+v: at least one request at a time, one token a reply, and no more prompts asked again than there are", o.plan)
	}
	if o.now == nil {
		o.now = time.Now
	}
	if c.Entropy == nil {
		c.Entropy = rand.Reader
	}
	var seed [32]byte
	if _, err := io.ReadFull(c.Entropy, seed[:]); err != nil {
		return nil, fmt.Errorf("integrity: %w", err)
	}
	o.fresh = randv2.New(randv2.NewChaCha8(seed))
	return o, nil
}

// Name implements the observer of a trial.
func (o *Observer) Name() string { return Name }

// Watch looks at a server that nobody else uses meanwhile. The error is the context's;
// whatever the server does wrong is in the sighting.
func (o *Observer) Watch(ctx context.Context, s Subject) (Sighting, error) {
	w := Sighting{Plan: o.plan}
	id, err := engines.Probe(ctx, s.HTTP, s.Base, s.Header)
	if err != nil {
		if ctx.Err() != nil {
			return w, context.Cause(ctx)
		}
		w.Error = "the server does not tell what it is"
		return w, nil
	}
	if s.Model == "" {
		if m, err := id.Choose(""); err == nil {
			s.Model = m.ID
		}
	}
	w.Server = Face{Engine: id.Engine, Version: bounded(id.Version)}
	w.Prefix.Claim = cacheClaim(id.Settings)
	before := counters(ctx, s, id)
	o.secrets(ctx, s, &w)
	o.canaries(ctx, s, &w)
	o.repeats(ctx, s, &w)
	o.forced(ctx, s, &w)
	o.prefixes(ctx, s, id, &w)
	o.burst(ctx, s, &w)
	w.Work.Generated = rise(before, counters(ctx, s, id), "generation_tokens_total")
	return w, context.Cause(ctx)
}

// note counts what every reply adds to a sighting.
func (w *Sighting) note(r reply) {
	if r.err != "" {
		w.Errors++
		return
	}
	w.Work.Delivered += r.tokens
	w.Server.Header, w.Server.Via = r.server, r.via
}

// all sends requests, Parallel at a time, and returns the replies in order.
func (o *Observer) all(ctx context.Context, s Subject, w *Sighting, asks []ask) []reply {
	out := make([]reply, len(asks))
	var wg sync.WaitGroup
	next := make(chan int)
	for range min(o.plan.Parallel, len(asks)) {
		wg.Go(func() {
			for i := range next {
				out[i] = o.send(ctx, s, asks[i])
			}
		})
	}
	for i := range asks {
		next <- i
	}
	close(next)
	wg.Wait()
	for _, r := range out {
		w.note(r)
	}
	return out
}

// secrets asks the secret prompts greedily, all of them and then the first again.
func (o *Observer) secrets(ctx context.Context, s Subject, w *Sighting) {
	rng := o.secret.rng()
	asks := make([]ask, o.plan.Prompts, o.plan.Prompts+o.plan.Again)
	for i := range asks {
		asks[i] = user(question(rng), o.plan.Tokens)
	}
	for i := range o.plan.Again {
		again := asks[i]
		again.MaxTokens = min(16, o.plan.Tokens)
		asks = append(asks, again)
	}
	for i, r := range o.all(ctx, s, w, asks) {
		if i < o.plan.Prompts {
			w.Prints = append(w.Prints, o.secret.print(i, r))
		} else {
			w.Again = append(w.Again, o.secret.print(i-o.plan.Prompts, r))
		}
	}
}

// canaries asks fresh questions under two system messages each.
func (o *Observer) canaries(ctx context.Context, s Subject, w *Sighting) {
	var asks []ask
	var words []string
	for range o.plan.Canary {
		q := question(o.fresh)
		for range 2 {
			word := codeword(o.fresh)
			words = append(words, word)
			a := user(q, 24)
			a.Messages = []message{{"system", orders(word)}, {"user", q}}
			asks = append(asks, a)
		}
	}
	replies := o.all(ctx, s, w, asks)
	tokens, chars := 0, 0
	for i, r := range replies {
		if r.err != "" {
			continue
		}
		w.Canary.Asked++
		if head := strings.ToUpper(r.text[:min(len(r.text), 60)]); strings.Contains(head, words[i]) {
			w.Canary.Obeyed++
		}
		if n, ok := r.prompt.Get(); ok {
			tokens += n
			chars += len(asks[i].Messages[0].Content) + len(asks[i].Messages[1].Content)
		}
		if before := i - 1; i%2 == 1 && replies[before].err == "" {
			w.Canary.Pairs++
			if replies[before].text == r.text {
				w.Canary.Deaf++
			}
		}
	}
	if chars > 0 {
		w.Canary.Prompt = float64(tokens) / float64(chars)
	}
}

// repeats asks fresh prompts twice, one request at a time.
func (o *Observer) repeats(ctx context.Context, s Subject, w *Sighting) {
	var tpot []float64
	for range o.plan.Repeats {
		a := user(question(o.fresh), 24)
		a.Temp = 1
		var pair [2]reply
		for i := range pair {
			seed := o.fresh.Uint64() >> 33 // servers take 31 bits
			a.Seed = &seed
			pair[i] = o.send(ctx, s, a)
			w.note(pair[i])
		}
		if pair[0].err != "" || pair[1].err != "" {
			continue
		}
		w.Repeats = append(w.Repeats, Repeat{pair[0].text == pair[1].text, pair[0].last.Seconds(), pair[1].last.Seconds()})
		if pair[0].tokens > 1 {
			tpot = append(tpot, pair[0].perToken())
		}
	}
	if len(tpot) > 0 {
		w.Speed.TPOT = stats.Quantile(stats.Sorted(tpot), 0.5)
	}
}

// perToken is the time per output token in seconds. Where tokens come in lumps, as drafted
// ones do and all behind a proxy that holds them back, it is that of the whole reply, which
// is never too short.
func (r reply) perToken() float64 {
	if 10*r.chunks < 9*r.tokens || 2*r.first > r.last {
		return r.last.Seconds() / float64(r.tokens)
	}
	return (r.last - r.first).Seconds() / float64(r.tokens-1)
}

// forced asks for replies of a length that the server has no say in.
func (o *Observer) forced(ctx context.Context, s Subject, w *Sighting) {
	asks := make([]ask, o.plan.Forced)
	for i := range asks {
		asks[i] = user(question(o.fresh), o.plan.ForcedLen)
		asks[i].MinTokens, asks[i].IgnoreEOS = o.plan.ForcedLen, true
	}
	for _, r := range o.all(ctx, s, w, asks) {
		if r.err == "" {
			w.Forced = append(w.Forced, Forced{o.plan.ForcedLen, r.tokens, len(r.text), r.finish})
		}
	}
}

// prefixes asks pairs of prompts that share a long new beginning.
func (o *Observer) prefixes(ctx context.Context, s Subject, id engines.Identity, w *Sighting) {
	p := &w.Prefix
	p.Cached = -1
	before := counters(ctx, s, id)
	for range o.plan.Prefix {
		text := passage(o.fresh, o.plan.Words)
		for i, into := range []*[]float64{&p.Cold, &p.Warm} {
			r := o.send(ctx, s, user(text+"\n\n"+question(o.fresh), 2))
			w.note(r)
			if r.err != "" || r.chunks == 0 {
				continue
			}
			*into = append(*into, r.first.Seconds())
			if n, ok := r.cached.Get(); ok && i == 1 {
				p.Cached = max(p.Cached, 0) + n
			}
		}
	}
	p.Hits = rise(before, counters(ctx, s, id), "prefix_cache_hits_total")
}

// burst sends new long prompts all at once.
func (o *Observer) burst(ctx context.Context, s Subject, w *Sighting) {
	replies := make([]reply, o.plan.Burst)
	asks := make([]ask, len(replies))
	for i := range asks {
		asks[i] = user(passage(o.fresh, o.plan.Words)+"\n\n"+question(o.fresh), 2)
	}
	var wg sync.WaitGroup
	for i := range asks {
		wg.Go(func() { replies[i] = o.send(ctx, s, asks[i]) })
	}
	wg.Wait()
	var b Speed
	for _, r := range replies {
		w.note(r)
		n, ok := r.prompt.Get()
		if r.err != "" || r.chunks == 0 || !ok {
			return // what is missing may have been the slowest
		}
		b.Burst = max(b.Burst, r.first.Seconds())
		b.Prompts++
		b.Prompt += n
	}
	w.Speed.Burst, w.Speed.Prompts, w.Speed.Prompt = b.Burst, b.Prompts, b.Prompt
}

// cacheClaim is what settings say of prefix caching.
func cacheClaim(settings map[string]string) string {
	for name, inverted := range map[string]bool{"enable_prefix_caching": false, "disable_radix_cache": true, "enable_block_reuse": false} {
		v, ok := settings[name]
		if !ok {
			continue
		}
		on := slices.Contains([]string{"true", "1", "on", "yes"}, strings.ToLower(v))
		if on != inverted {
			return "on"
		}
		return "off"
	}
	return ""
}
