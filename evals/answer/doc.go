// Package answer finds the answer in a model's reply and decides whether it is right.
//
// Everything here is a rule: no model judges, nothing is executed. The functions take
// text that is hostile by assumption; all of them run in time linear in its length and
// none of them panics.
//
// Numbers are exact rationals. The order in which a number is searched for is
//
//  1. [Strict]: the last line with "####" that a number follows,
//  2. [Boxed]: the last balanced \boxed{…} or \fbox{…},
//  3. [Marker]: the last "the answer is …", "Answer: …" or the like,
//  4. [Flexible]: the last number of the text.
//
// Scores found by different methods are not comparable with each other, which is why
// the method is part of every scored item.
package answer
