// Package prose writes text of many kinds from parametric grammars: paragraphs about a
// dozen fields of work in English and Chinese, program code, tables, JSON records,
// formulas, transcripts and deliberately awkward whitespace.
//
// Text depends on nothing but the random stream that a [Writer] is given. Every phrase
// is the project's own; what makes two texts differ is the choice of field, names,
// figures, sentence shapes and order, so no two paragraphs are alike and no text repeats
// a filler.
package prose
