// Package search chooses what a study measures next.
//
// Every strategy is a pure function of a seed and of the history, so that a study that was
// killed goes on from its journal as if nothing had happened. The controls are Random,
// Sobol, TPE, a Gaussian process and a random forest, each as its literature has it; Loop
// is the strategy of this program. It joins a prior from the simulator, mandatory spread-out
// points, proposals of rules and models, and a Gaussian process over what the prior got
// wrong, and measures briefly first and longer where that pays.
//
// All of them see a configuration as a point of a finite grid, and a measurement as the
// gain over the default, ln(value/default), so that equal steps are equal gains.
package search
