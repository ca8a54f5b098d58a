// Package stats holds the statistics of the analyst as pure functions of numbers:
// quantiles, intervals, resampling, truncation of warm-up, trends and change points.
//
// Nothing here knows of requests or servers. Functions that draw random numbers take a
// seed, so the same input always gives the same output. A result that the data cannot
// support is reported by an ok of false, never as zero or NaN.
package stats
