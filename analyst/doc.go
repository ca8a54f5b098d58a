// Package analyst turns the raw records of one run into its analysis: metrics with
// intervals, validity gates, evidence, findings and recommendations.
//
// The procedure is deterministic: the same run directory gives the same bytes. Its order
// is validity, objectives, decomposition of the latency, scores of the known causes,
// verdict, confidence, falsifier. A run that fails a validity gate gets no attribution to
// the server; a run that lacks the signals is called inconclusive, with the signals it
// lacks; and a server that nothing limits is said to be limited by nothing.
package analyst
