// Package stats holds the statistics of scored items: intervals for one score, tests and
// intervals for the difference between two runs of the same items, the non-inferiority
// verdict, stopping rules that stay valid whenever one looks, and how many items a
// question needs.
//
// All functions are pure. Probabilities and scores lie in [0, 1]; a drop is the
// baseline's score minus the candidate's, so a positive drop is a loss of quality.
package stats
