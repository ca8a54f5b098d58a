// Package evals scores the server's answers inside the load.
//
// A [Set] is a list of items of one kind. Its [Set.Source] sends them as ordinary
// single-turn sessions, so that the server meets them at the load's own concurrency; its
// [Set.Score] turns the record of one such request into an [archive.Checkpoint]. The
// same seed sends the same items in the same order, which is what makes two runs
// comparable item by item.
//
// Scoring is by rule. A request that failed is not scored, and says why: it is never
// counted as a wrong answer here. An answer that was cut off is scored on what arrived,
// and the record says so.
//
// What the rules cannot see: a right number reached by wrong reasoning, a drop smaller
// than the number of items can show (package stats gives the figure), and damage in
// answers longer than the items ask for.
package evals
