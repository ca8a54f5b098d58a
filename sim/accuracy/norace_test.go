//go:build !race

package accuracy

// every is which rows are compared: all of them.
const every = 1
