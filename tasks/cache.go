package tasks

import (
	"iter"

	"gonum.org/v1/gonum/mat"

	"github.com/inferencebench/inferencebench/archive"
)

// CacheRates are the three shares of prompt tokens that a prefix cache is about. They
// answer different questions and are never one number. An unknown share has its reason.
type CacheRates struct {
	// Potential is what could have come from an endless cache: prompt tokens that earlier
	// requests of the plan held too.
	Potential archive.Opt[float64]
	// Reported is what the server says came from its cache.
	Reported archive.Opt[float64]
	// Effective is what the time to first token shows: the potential, times how much
	// less a shared token costs than another.
	Effective archive.Opt[float64]
	// Reasons say why a share is unknown, by its name in lower case.
	Reasons map[string]string
}

// minCacheRequests is the least that an effective rate is fitted to.
const minCacheRequests = 30

// MeasureCache computes the rates of the requests of the load that ended well. Effective
// comes from the least-squares fit of t_1 − t_s to a + b·prompt − c·shared: it is c/b
// times the potential share, within 0 and 1.
func MeasureCache(requests iter.Seq[*archive.Request]) CacheRates {
	out := CacheRates{Reasons: map[string]string{}}
	var prompt, shared, reportedOf, cached float64
	var rows [][4]float64
	for r := range requests {
		if r.Status != archive.StatusOK || r.Kind != archive.KindLoad {
			continue
		}
		n, ok := r.Usage.Prompt.Get()
		if !ok {
			n, ok = r.Asked.PromptTokens.Get()
		}
		if !ok || n <= 0 {
			continue
		}
		if c, ok := r.Usage.Cached.Get(); ok {
			reportedOf, cached = reportedOf+float64(n), cached+float64(c)
		}
		s, ok := r.Asked.SharedPrefix.Get()
		if !ok {
			continue
		}
		s = min(s, n)
		prompt, shared = prompt+float64(n), shared+float64(s)
		if r.T.First.Known() && r.T.Send.Known() {
			rows = append(rows, [4]float64{1, float64(n), float64(s), r.T.First.Sub(r.T.Send).Seconds()})
		}
	}
	if prompt > 0 {
		out.Potential = archive.Some(shared / prompt)
	} else {
		out.Reasons["potential"] = "the plan does not say which tokens are shared"
	}
	if reportedOf > 0 {
		out.Reported = archive.Some(cached / reportedOf)
	} else {
		out.Reasons["reported"] = "the server does not report cached tokens"
	}
	ratio, why := sharedCost(rows)
	if p, ok := out.Potential.Get(); ok && why == "" {
		out.Effective = archive.Some(p * min(max(ratio, 0), 1))
	} else {
		if why == "" {
			why = out.Reasons["potential"]
		}
		out.Reasons["effective"] = why
	}
	return out
}

// sharedCost is how much of the cost of a prompt token a shared one saves.
func sharedCost(rows [][4]float64) (ratio float64, why string) {
	if len(rows) < minCacheRequests {
		return 0, "too few requests with a time to first token"
	}
	a := mat.NewSymDense(3, nil)
	b := mat.NewVecDense(3, nil)
	for _, r := range rows {
		for i := range 3 {
			b.SetVec(i, b.AtVec(i)+r[i]*r[3])
			for j := i; j < 3; j++ {
				a.SetSym(i, j, a.At(i, j)+r[i]*r[j])
			}
		}
	}
	var chol mat.Cholesky
	if !chol.Factorize(a) || chol.Cond() > 1e12 {
		return 0, "prompt lengths and shared parts do not vary apart from each other"
	}
	var x mat.VecDense
	if err := chol.SolveVecTo(&x, b); err != nil {
		return 0, "prompt lengths and shared parts do not vary apart from each other"
	}
	if x.AtVec(1) <= 0 {
		return 0, "longer prompts were not slower, so nothing can be told from times"
	}
	return -x.AtVec(2) / x.AtVec(1), ""
}
