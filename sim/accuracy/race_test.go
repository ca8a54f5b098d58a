//go:build race

package accuracy

// every is which rows are compared under the race detector, which slows the simulation
// about ten times.
const every = 9
