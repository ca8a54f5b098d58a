// Package drift measures how far two sets of replies to the same prompts lie apart:
// repeated texts at temperature 0, and log-probabilities where the server gives them.
//
// Unlike texts are expected: kernels choose their arithmetic by batch size, so the same
// prompt meets slightly different numbers in another batch. What counts is how soon
// texts part, how often, and whether the answer changes. The figures here are distances,
// not verdicts on quality; package stats decides about quality.
package drift
