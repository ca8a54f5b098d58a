// Package metrics computes the quantities of one run from its raw records, under the
// definitions that archive.Definitions names.
//
// A [Row] is what one request contributes: its instants and counts, small enough to keep
// a million of them. A [Table] collects the rows in one pass. Every metric is a function
// of a Row (or, for gaps between chunks, a pool filled in the same pass), written once
// and used for every scope, so that a summary and its percentiles can never follow two
// formulas.
//
// Symbols: t_int intended send, t_s first request byte, t_1 first token of any channel,
// t_v first answer text, t_e last token, t_d stream closed; N generated tokens.
package metrics
