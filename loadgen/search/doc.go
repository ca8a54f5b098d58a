// Package search finds the largest load that a server sustains within its objectives, and
// describes how throughput grows with concurrency.
//
// [Machine] is the search for the maximum sustainable rate λ*: the largest open-loop rate
// at which each limit is missed by no more than its allowed share of requests, and the
// backlog does not grow. It is a pure state machine: it asks for one [Probe] after
// another and is told what came of it, so that it runs against a server, a simulator or a
// formula, and a search can be replayed from its probes. [Drive] joins it to something
// that carries probes out.
//
// The search has five stages:
//
//  1. saturate: closed loops of growing concurrency give the saturation throughput;
//  2. bracket: from half of that, rates go up by a quarter until one fails (down by half
//     until one passes);
//  3. bisect: the logarithm of the rate is halved until the bracket is narrow. Each rate
//     is decided by a sequential probability ratio test of Wald between the allowed share
//     of misses and twice that, on counts deflated by the design effect, because misses
//     come in clumps;
//  4. refine: fixed-size probes near the estimate until the interval of λ* is as narrow
//     as asked;
//  5. confirm: one long probe at the lower end of the interval.
//
// The estimate is the posterior of λ* under a logistic curve of misses over the logarithm
// of the rate, which grows and passes the allowed share at λ*, with flat priors on the
// logarithms of λ* and of the steepness. Only rates near the estimate take part, for the
// curve is a local model. A bootstrap of a fitted curve would give an interval of width
// zero when one rate has no miss and the next has nothing else; the posterior then is the
// gap between the two. Counts are deflated by the design effect, within levels and
// between them, and the interval is stretched for that effect being an estimate.
//
// [FitUSL] and [Knee] describe a sweep of concurrency.
package search
