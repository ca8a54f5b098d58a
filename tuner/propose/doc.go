// Package propose makes proposals from what is known of the server: rules turn the analyst's
// findings into moves of knobs, and a model is asked for hypotheses. Both are strategies like
// any other and compete with the search under its acquisition rule.
//
//	findings ─► causes ─► knobs that relieve them, in the direction that does ─► Rules
//	findings, trials, settings ─► digest ─► model ─► checked against the space   ─► Model
//	                                                       Rules, Model ─► Panel ─► search
//
// Each proposal commits itself before it is measured: a hypothesis, the gain that it
// expects as an 80 % interval, and what would refute it. [Score] compares that with what came
// of it, and the Panel gives each proposer a share of the turns that follows its success,
// between a tenth and a half.
package propose
