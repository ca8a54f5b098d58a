// Package reporttest makes deterministic run directories for tests of renderings: a small
// queue model driven by a seed, with the analysis that goes with it. The numbers are
// invented but hang together; nothing outside tests uses them.
package reporttest
