// Package quality runs checkpoint items against a server on their own, and turns scored
// items, from such a run or from inside a load, into figures: accuracy with intervals for
// each family, its move with the load, and the comparison of two runs item by item.
package quality
