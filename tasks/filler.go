package tasks

import (
	"github.com/inferencebench/inferencebench/tasks/prose"
	"github.com/inferencebench/inferencebench/tasks/token"
)

// Filler writes n tokens of English prose, as c counts them, that are a function of seed
// and id: equal ids give equal text, and different ids start differently. It stands for
// the content of one prefix block of a trace, of which only the identity is known.
func Filler(seed, id uint64, n int, c token.Counter) string {
	if n <= 0 {
		return ""
	}
	w := prose.New(stream(seed, streamText, id), prose.English)
	head := nonce(stream(seed, streamNonce, id), 5) + " "
	return composer{w: w, count: c}.fill(head, "", prose.Article, n, 0)
}
