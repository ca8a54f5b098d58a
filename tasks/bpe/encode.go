package bpe

import "strings"

// Encode returns the token ids of a text. Added tokens, such as end-of-turn marks, are
// found in the text as a server with special tokens enabled would; nothing is put before
// or after it. The text is taken to be in Unicode normal form C.
func (t *Tokenizer) Encode(text string) []int32 {
	var out []int32
	for text != "" {
		at, tok := t.special(text)
		piece := text[:at]
		for piece != "" {
			n := t.split.next(piece)
			out = t.piece(out, piece[:n])
			piece = piece[n:]
		}
		if tok == "" {
			break
		}
		out = append(out, t.ids[tok])
		text = text[at+len(tok):]
	}
	return out
}

// Count is the number of tokens of a text. It makes a Tokenizer a token.Counter.
func (t *Tokenizer) Count(text string) int { return len(t.Encode(text)) }

// special finds the first added token; the longest where several start at one place.
func (t *Tokenizer) special(text string) (at int, tok string) {
	at = len(text)
	for _, a := range t.added {
		if i := strings.Index(text[:min(at+len(a), len(text))], a); i >= 0 && i < at {
			at, tok = i, a
		}
	}
	return at, tok
}

// Limits of the cache: pieces of ordinary words, and so many of them.
const (
	maxCachedPiece = 32
	maxCached      = 1 << 16
)

// piece encodes one piece of the split.
func (t *Tokenizer) piece(out []int32, s string) []int32 {
	if t.whole {
		if id, ok := t.vocab[s]; ok {
			return append(out, id)
		}
	}
	if len(s) > maxCachedPiece {
		return t.merge(out, s)
	}
	t.mu.Lock()
	ids, ok := t.cache[s]
	t.mu.Unlock()
	if !ok {
		ids = t.merge(nil, s)
		t.mu.Lock()
		if len(t.cache) < maxCached {
			t.cache[strings.Clone(s)] = ids
		}
		t.mu.Unlock()
	}
	return append(out, ids...)
}

// merge joins neighbours, the earliest merge first and the leftmost of equals, until none
// is left. Symbols are a linked list and the possible merges a heap, so that a long piece
// costs n log n.
func (t *Tokenizer) merge(out []int32, s string) []int32 {
	n := len(s)
	ids := make([]int32, n)
	next, prev := make([]int, n), make([]int, n)
	for i := range n {
		ids[i], next[i], prev[i] = t.bytes[s[i]], i+1, i-1
	}
	h := queue{}
	offer := func(i int) {
		if i < 0 || i >= n || next[i] >= n {
			return
		}
		if m, ok := t.merges[[2]int32{ids[i], ids[next[i]]}]; ok {
			h.push(candidate{m.rank, i, ids[i], ids[next[i]], m.id})
		}
	}
	for i := range n {
		offer(i)
	}
	for {
		c, ok := h.pop()
		if !ok {
			break
		}
		if ids[c.at] != c.left || next[c.at] >= n || ids[next[c.at]] != c.right {
			continue // one of the two was merged since
		}
		gone := next[c.at]
		ids[c.at] = c.id
		ids[gone] = -1
		next[c.at] = next[gone]
		if next[gone] < n {
			prev[next[gone]] = c.at
		}
		offer(prev[c.at])
		offer(c.at)
	}
	for i := 0; i < n; i = next[i] {
		out = append(out, ids[i])
	}
	return out
}

// candidate is a possible merge of the symbols at and after a place.
type candidate struct {
	rank        int32
	at          int
	left, right int32
	id          int32
}

func (a candidate) before(b candidate) bool {
	return a.rank < b.rank || a.rank == b.rank && a.at < b.at
}

// queue is a binary heap of candidates.
type queue []candidate

func (q *queue) push(c candidate) {
	*q = append(*q, c)
	h := *q
	for i := len(h) - 1; i > 0; {
		p := (i - 1) / 2
		if !h[i].before(h[p]) {
			break
		}
		h[i], h[p] = h[p], h[i]
		i = p
	}
}

func (q *queue) pop() (candidate, bool) {
	h := *q
	if len(h) == 0 {
		return candidate{}, false
	}
	top := h[0]
	h[0] = h[len(h)-1]
	h = h[:len(h)-1]
	for i := 0; ; {
		c := 2*i + 1
		if c >= len(h) {
			break
		}
		if c+1 < len(h) && h[c+1].before(h[c]) {
			c++
		}
		if !h[c].before(h[i]) {
			break
		}
		h[i], h[c] = h[c], h[i]
		i = c
	}
	*q = h
	return top, true
}
