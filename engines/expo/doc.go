// Package expo reads metrics pages: the Prometheus text format and what is met of
// OpenMetrics in the pages of inference servers and device exporters.
//
// A benchmark must not lose a whole scrape to one odd line, so [Parse] never fails: it
// keeps every line that it understands and counts the rest. Against the reference parser
// (github.com/prometheus/common/expfmt) it accepts more: exemplars, timestamps in
// fractions of a second, unknown metric types, CRLF line ends, a missing final newline and
// a repeated TYPE line. Where the reference parser accepts a page, both read the same
// samples; a fuzz test holds them to that.
//
// Input is hostile: pages over [MaxPage], lines over [MaxLine] and more than [MaxSamples]
// samples are cut off and reported. Nothing here keeps a reference to the input.
package expo
