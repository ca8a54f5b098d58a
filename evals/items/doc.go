// Package items holds the project's own checkpoint items, all written for it: maths word
// problems, code problems with tests, factual questions and format tasks.
//
// Maths problems are parameterised templates. A seed draws the numbers, so that no set of
// them can be memorised or trained on, and the same seed always draws the same set. Every
// template carries code that computes its answer; a test recounts each answer in a second
// way. Code problems carry a reference solution, tests, and wrong solutions that the tests
// must reject. Facts are stable ones: none depends on the date.
package items
