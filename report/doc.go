// Package report renders a run and its analysis: for a terminal ([Terminal]) and as one
// self-contained HTML page ([HTML]). Subpackages hold what the renderings share.
//
// A rendering computes no metric and draws no conclusion: numbers come from the
// analysis, and raw records are read only for charts, examples and items. Text that came
// from outside (replies, error messages, names) is escaped or stripped of control
// characters everywhere. A number that the analysis withholds is shown as withheld, with
// its reason.
package report
