// Package chart draws charts as self-contained HTML: an inline SVG that stretches to the
// width it is given, with its labels as HTML text that keeps its size. The same mark-up
// is crisp on a phone, on a wide screen and on paper, needs no script to be read, and
// takes its colours from CSS variables, so that one page can be light or dark.
//
// The mark-up needs the style sheet of package report (classes that start with "ch-")
// and, for crosshair and zoom, its script; without the script a chart is static.
//
// All text is escaped here. Values that are not finite are gaps, never drawn as zero.
// Functions are pure: they may be called from any goroutine.
package chart
