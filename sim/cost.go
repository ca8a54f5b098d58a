package sim

import (
	"math"
	"time"
)

// batch is the work of one iteration.
type batch struct {
	tokens  int     // m: all tokens of the step, drafts included
	decodes int     // sequences that decode
	kRead   float64 // Σ context of the decoding sequences, tokens
	windowK float64 // the same with each context cut to the sliding window
	chunks  int     // prompts that prefill
	prefill int     // prompt tokens among tokens
	attn    float64 // Σ over chunks of n·(c + n/2)
}

// cost is the step-time formula with everything that does not change folded into
// constants. With m all tokens of the step and K the KV tokens that decoding reads, the
// GPU time is
//
//	[ (4·L·t_g + B_w/(η_b·BW))^p + (2·P·m/(η_f·F))^p ]^(1/p)   weights or products, blended
//	   + B_head/(0.85·BW) + L·e_w·m                        output head, elementwise work
//	   + L·(a_d + K·kv_l/(η_k·BW))                         if anything decodes
//	   + Σ_chunks L·(a_p + 4·H·h·n·(c + n/2)/(η_a·F))      prefill attention
//	   + 2·L·t_ar(m)                                       all-reduce, with tensor parallelism
//
// Tensor parallelism divides weights, products, KV heads and attention. With experts,
// B_w counts those that the step touches and P those that a token uses.
type cost struct {
	cfg      Config
	k        Kernels
	wbytes   float64
	peak     float64 // FLOP/s of the weight products, all GPUs of the group
	bw       float64 // bytes/s, all GPUs of the group
	flops    float64 // 2·P of one token
	dense    float64 // bytes of weights that every step touches; all of them in a dense model
	head     float64 // seconds
	kvTok    float64 // seconds a KV token read, all full layers
	kvWin    float64 // the same for layers with a sliding window
	attnFlop float64 // seconds a unit of batch.attn
	perTok   float64 // elementwise seconds a token, all layers
	layers   float64
	products float64 // seconds a step that its matrix products cost beside their bytes
	eager    float64 // seconds a step for launching kernels without graphs
	ar       *allReduce
	memo     []float64 // linear part by tokens on an undisturbed device; 0 where not yet known
}

const (
	// layerProducts are a layer's matrix products: into and out of attention, into and out of
	// the feed-forward network. Each costs its t_g on every GPU, however small its share is.
	layerProducts = 4
	decodeLaunch  = 11e-6 // a_d: seconds a layer of decode attention beside its reads
	prefillLaunch = 12e-6 // a_p: seconds a layer and chunk of prefill attention beside its products
	// replicated is the share of elementwise work that tensor parallelism does not split: norms
	// and residuals move 8 of about 21.5 hidden vectors a layer, rotation and activation, which
	// are split with heads and feed-forward columns, the rest.
	replicated = 0.37
	headShare  = 0.85 // share of peak bandwidth that the output head reaches
	// eagerLaunch is the time a layer takes to launch kernel by kernel: about ten launches of
	// 10 µs, of which a quarter hides behind the previous kernel.
	eagerLaunch = 75e-6
)

func newCost(cfg Config) cost {
	g, m, tp := cfg.GPU, cfg.Model, float64(cfg.TensorParallel)
	w, _ := weightBytes(cfg.Quantization)
	c := cost{cfg: cfg, k: g.K16, wbytes: w, peak: g.BF16 * tp, bw: g.BW * tp, layers: float64(m.Layers)}
	switch w {
	case 1:
		if g.FP8 > 0 {
			c.k, c.peak = g.K8, g.FP8*tp
		} else { // 8-bit integers: half the bytes, the kernels' own constants
			c.peak = 2 * g.BF16 * tp
			c.k.Matmul *= 0.7
		}
	case 2:
	default: // weight-only: products run in 16 bits after unpacking
		c.k.Matmul *= 0.85
		c.k.Weights *= 0.92
	}
	c.flops = 2 * m.ActiveParams()
	c.products = c.layers * layerProducts * c.k.Product
	c.dense = m.Params() * w
	c.head = m.HeadParams() * 2 / (headShare * c.bw)
	perTok := m.KVBytesLayer(cfg.kvElem()) / (c.k.KVRead * c.bw)
	if m.Latent > 0 {
		perTok *= tp // the latent is not split over heads: every GPU reads all of it
	} else if over := tp / float64(m.KV); over > 1 {
		perTok *= over // replicated heads
	}
	full := c.layers
	if m.Window > 0 {
		full = 0
		if m.Full > 0 {
			full = math.Ceil(c.layers / float64(m.Full))
		}
		c.kvWin = perTok * (c.layers - full)
	}
	c.kvTok = perTok * full
	c.attnFlop = full * 4 * float64(m.Heads*m.Head) / (c.k.Prefill * g.BF16 * tp)
	c.perTok = c.layers * c.k.PerToken * float64(m.Hidden) / 4096 * (replicated + (1-replicated)/tp)
	if cfg.EnforceEager {
		c.eager = c.layers * eagerLaunch
	}
	c.memo = make([]float64, 2048)
	c.ar = newAllReduce(g.Link, cfg.TensorParallel)
	return c
}

// stepCost is where the GPU time of one step goes, in seconds.
type stepCost struct {
	total    float64
	memory   float64 // time that the memory bus is the limit
	compute  float64 // time that the arithmetic units are the limit
	comm     float64
	flops    float64 // useful FLOPs
	read     float64 // bytes read
	roofline float64 // total without launch gaps, communication and disturbance
}

// gpu returns the GPU time of a batch under the conditions.
func (c *cost) gpu(b *batch, cond *Conditions) stepCost {
	m := float64(b.tokens)
	bytes := c.dense
	if c.cfg.Model.Experts > 0 {
		bytes = c.cfg.Model.TouchedParams(m) * c.wbytes
	}
	clock := 1 - cond.ClockLoss
	// Products follow the SM clock. Streaming follows it half way: the memory clock stays,
	// the caches and crossbar between slow down.
	memClock := 0.5 + 0.5*clock
	tm := bytes/(c.k.Weights*c.bw)/memClock + c.products
	tf := c.flops * m / (c.k.Matmul * c.peak) / clock
	var out stepCost
	var linear float64
	if memo := clock == 1 && b.tokens < len(c.memo); memo && c.memo[b.tokens] > 0 {
		linear = c.memo[b.tokens]
	} else {
		linear = blend(tm, tf, c.k.Blend)
		if memo {
			c.memo[b.tokens] = linear
		}
	}
	kv := (b.kRead*c.kvTok + b.windowK*c.kvWin) / memClock
	attn := b.attn * c.attnFlop / clock
	t := linear + c.head/memClock + c.perTok*m/memClock + kv + attn
	if b.decodes > 0 {
		t += c.layers * decodeLaunch
	}
	t += float64(b.chunks) * c.layers * prefillLaunch
	if k := c.cfg.Speculative; k.Tokens > 0 && k.DraftShare > 0 && b.decodes > 0 {
		d := float64(b.decodes)
		t += float64(k.Tokens) * k.DraftShare * blend(c.dense/(c.k.Weights*c.bw)/memClock, c.flops*d/(c.k.Matmul*c.peak)/clock, c.k.Blend)
	}
	out.roofline = t
	out.comm = c.ar.seconds(m*float64(c.cfg.Model.Hidden)*2)*2*c.layers + cond.CommExtra.Seconds()
	t += out.comm + c.eager
	if cond.Slowdown > 0 {
		t /= 1 - cond.Slowdown
	}
	out.total = t
	out.memory = tm + kv
	out.compute = tf + attn
	out.flops = c.flops*m + b.attn*c.attnFlop*c.k.Prefill*c.cfg.GPU.BF16*float64(c.cfg.TensorParallel)
	out.read = bytes + kv*memClock*c.k.KVRead*c.bw
	return out
}

// DecodeTime is how long a step takes in which n requests decode, each over that many tokens
// of context, on an undisturbed device, host included.
func DecodeTime(cfg Config, n, context int) time.Duration {
	cfg = cfg.withDefaults()
	c := newCost(cfg)
	k := n * (1 + cfg.Speculative.Tokens)
	b := batch{tokens: k, decodes: n, kRead: float64(n * context), windowK: float64(n * min(context, max(cfg.Model.Window, 1)))}
	return seconds(c.gpu(&b, &Conditions{}).total) + cfg.HostBase + time.Duration(n)*cfg.HostPerSeq
}

// blend is (a^p + b^p)^(1/p).
func blend(a, b, p float64) float64 {
	hi, lo := a, b
	if lo > hi {
		hi, lo = lo, hi
	}
	if lo <= hi*1e-3 {
		return hi
	}
	return hi * math.Pow(1+math.Pow(lo/hi, p), 1/p)
}

// seconds turns a time in seconds into a duration, rounded to a microsecond.
func seconds(s float64) time.Duration {
	return time.Duration(math.Round(s*1e6)) * time.Microsecond
}
