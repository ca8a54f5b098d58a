package server

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"

	"github.com/inferencebench/inferencebench/sim"
	"github.com/inferencebench/inferencebench/sim/dialect"
	"github.com/inferencebench/inferencebench/sim/text"
)

// Attack is a way to look fast without serving the model as asked. A server with an attack
// is what a check of honesty has to tell from an honest one; nothing else should use it.
type Attack string

// The attacks. Each makes the server faster than the engine that it claims to be.
const (
	// AttackCanned answers every prompt with one of a few fixed texts, at once.
	AttackCanned Attack = "canned"
	// AttackMemoised answers a prompt that it has seen from memory, whatever seed and
	// temperature ask for.
	AttackMemoised Attack = "memoised"
	// AttackSmallerModel serves a model an eighth the size under the same name.
	AttackSmallerModel Attack = "smaller_model"
	// AttackTruncate generates half of each reply and counts it as whole.
	AttackTruncate Attack = "truncate"
	// AttackDropSystem leaves out system messages.
	AttackDropSystem Attack = "drop_system"
	// AttackEarlyStop ends replies at two fifths of their natural length, where no length is
	// forced.
	AttackEarlyStop Attack = "early_stop"
	// AttackHiddenPrefix reuses prefixes while settings, metrics and usage say that it does not.
	AttackHiddenPrefix Attack = "hidden_prefix"
	// AttackProxy passes requests on to Config.Upstream and leaves its own engine idle.
	AttackProxy Attack = "proxy"
	// AttackImpossible takes a twentieth of the time for every step and every prompt.
	AttackImpossible Attack = "impossible"
)

// Attacks lists every attack.
func Attacks() []Attack {
	return []Attack{
		AttackCanned, AttackMemoised, AttackSmallerModel, AttackTruncate, AttackDropSystem,
		AttackEarlyStop, AttackHiddenPrefix, AttackProxy, AttackImpossible,
	}
}

// faster is by how much AttackImpossible outruns the device.
const faster = 20

// apply turns the configuration of an honest server into the attacker's.
func (a Attack) apply(c Config) (Config, error) {
	switch a {
	case "", AttackCanned, AttackMemoised, AttackTruncate, AttackDropSystem, AttackEarlyStop:
	case AttackSmallerModel:
		if c.ModelName == "" {
			c.ModelName = c.Sim.Resolved().Model.Name
		}
		small, err := sim.LookupModel("meta-llama/Llama-3.2-1B-Instruct")
		if err != nil {
			return c, err
		}
		c.Sim.Model = small
	case AttackHiddenPrefix:
		c.Sim.EnablePrefixCaching = sim.On
	case AttackProxy:
		if u, err := url.Parse(c.Upstream); err != nil || u.Scheme == "" || u.Host == "" {
			return c, fmt.Errorf("simulated server: the proxy attack needs the base URL of an upstream, not %q", c.Upstream)
		}
	case AttackImpossible:
		r := c.Sim.Resolved()
		c.Sim.GPU = r.GPU
		c.Sim.GPU.BF16 *= faster
		c.Sim.GPU.FP8 *= faster
		c.Sim.GPU.BW *= faster
		for _, k := range []*sim.Kernels{&c.Sim.GPU.K16, &c.Sim.GPU.K8} {
			k.Product /= faster
			k.PerToken /= faster
		}
		c.Sim.EnforceEager = false
		c.Sim.HostBase = r.HostBase / faster
		c.Sim.HostPerSeq = r.HostPerSeq / faster
		c.Sim.PrefillLaunch = r.PrefillLaunch / faster
		if c.Frontend == (sim.FrontendCost{}) {
			c.Frontend = sim.DefaultFrontend
		}
		c.Frontend = c.Frontend.Times(1.0 / faster)
	default:
		return c, fmt.Errorf("simulated server: unknown attack %q; there are %v", a, Attacks())
	}
	return c, nil
}

// proxy is the handler of AttackProxy for generating routes.
func (s *Server) proxy() http.Handler {
	up, err := url.Parse(s.cfg.Upstream)
	if err != nil { // apply has parsed it
		panic(err)
	}
	return &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(up) },
		FlushInterval: -1,
		Transport:     s.cfg.UpstreamTransport,
		ModifyResponse: func(r *http.Response) error {
			r.Header.Del("Server") // this server's own is set already
			r.Header.Del(Header)
			return nil
		},
	}
}

// cannedTexts is how many texts AttackCanned knows.
const cannedTexts = 4

// cheat is what an attack makes of a reply: its tokens, whether they end by themselves, how
// many are claimed, and whether the engine is passed by.
func (s *Server) cheat(ask text.Ask, prompt []uint64, tokens []string, ended bool) (out []string, end bool, claimed int, canned bool) {
	out, end, claimed = tokens, ended, len(tokens)
	switch s.cfg.Attack {
	case AttackCanned:
		i := text.Hash(ask.User) % cannedTexts
		out, end = text.Reply(text.Ask{Seed: i, Min: ask.Min, Max: ask.Max, Endless: ask.Endless})
		return out, end, len(out), true
	case AttackMemoised:
		out, canned = s.memory.recall(prompt, ask.Max, tokens)
		return out, end, len(out), canned
	case AttackTruncate:
		out = tokens[:(len(tokens)+1)/2]
	case AttackEarlyStop:
		if ask.Endless {
			break
		}
		whole := ask
		whole.Max = 4096
		all, _ := text.Reply(whole)
		if n := max(len(all)*2/5, ask.Min, 1); n < len(tokens) {
			out, end = tokens[:n], true
		}
		claimed = len(out)
	}
	return out, end, claimed, canned
}

// hide removes the traces of AttackHiddenPrefix from what a metrics page is written from.
func (s *Server) hide(src *dialect.Source) {
	if s.cfg.Attack != AttackHiddenPrefix {
		return
	}
	src.State.Config.EnablePrefixCaching = sim.Off
	c := &src.State.Counters
	c.PromptComputed += c.PromptCached
	c.PrefixQueries, c.PrefixHits, c.PromptCached = 0, 0, 0
}

// numerics parts a greedy reply from its usual course, as rounding that depends on the
// batch or on how numbers are stored does: a share Config.Numerics of replies by the instant,
// and for each format of 8 bits or less a share that the prompt decides.
func (s *Server) numerics(ask text.Ask, cfg sim.Config, tokens []string, ended bool) ([]string, bool) {
	share := s.cfg.Numerics
	if share == 0 {
		return tokens, ended
	}
	seed := text.Hash(ask.User) ^ s.cfg.Sim.Seed
	formats := 0.0
	switch cfg.Quantization {
	case "fp8":
		formats += 0.15
	case "int8", "w8a8":
		formats += 0.2
	case "int4", "w4a16", "awq", "gptq", "fp4":
		formats += 0.4
	}
	if strings.HasPrefix(cfg.KVCacheDType, "fp8") {
		formats += 0.15
	}
	part := func(rng *rand.Rand) {
		at := rng.IntN(max(len(tokens), 1))
		other := ask
		other.Seed = rng.Uint64()
		more, end := text.Reply(other)
		if at < len(more) {
			tokens, ended = append(append([]string(nil), tokens[:at]...), more[at:]...), end
		}
	}
	if rng := rand.New(rand.NewPCG(seed, text.Hash(cfg.Quantization+"/"+cfg.KVCacheDType))); rng.Float64() < formats {
		part(rng)
	}
	if rng := rand.New(rand.NewPCG(seed, uint64(s.drv.simNow()))); rng.Float64() < share {
		part(rng)
	}
	return tokens, ended
}

// marker introduces the word that a system message may ask every reply to begin with.
const marker = `with the word "`

// obey makes a reply follow a system message that asks for a first word, as the models that
// are served mostly do: one prompt in twenty goes unheeded.
func obey(system string, ask text.Ask, tokens []string) []string {
	i := strings.Index(system, marker)
	if i < 0 {
		return tokens
	}
	word, _, ok := strings.Cut(system[i+len(marker):], `"`)
	if !ok || word == "" || len(word) > 40 || draw(ask.User+word, ask.Seed) < 0.05 {
		return tokens
	}
	out := append(text.Tokens(word+". "), tokens...)
	return out[:min(len(out), ask.Max)]
}
