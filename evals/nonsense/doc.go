// Package nonsense finds broken replies without a judge: loops, runs of one character,
// undecodable bytes, drift into other scripts, token soup, word salad, replies that stop
// in mid-sentence, and empty ones.
//
// The rules look at form alone and are set so that ordinary replies, code, tables, JSON
// and other languages included, are flagged in fewer than 1 of 200 cases. They cannot see
// a fluent wrong answer: that is what scored items are for. All rules run in time linear
// in the length of the reply.
package nonsense
