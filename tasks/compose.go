package tasks

import (
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/inferencebench/inferencebench/tasks/prose"
	"github.com/inferencebench/inferencebench/tasks/token"
)

// firstMessage writes a session's first user message of n tokens.
func (g *generator) firstMessage(s *session, n int) string {
	w, k := s.w, s.kind
	r := stream(g.o.Seed, streamText, s.i, 1)
	ask := w.Expand(pickText(r, k.asks[s.lang]))
	if h := k.head[s.lang]; h != "" {
		ask = h + ask
	}
	ask = upperFirst(ask)
	head := ""
	if !g.o.ReusePrompts {
		head = g.mark(s, n)
	}
	c := composer{w: w, count: g.count}
	have := g.count.Count(head + ask)
	if n < have+minMaterial && !k.needs || n < have {
		return c.exactly(head+ask, n, s.lang)
	}
	b := prose.Article
	if len(k.material) > 0 {
		b = k.material[r.IntN(len(k.material))]
	}
	if s.structured {
		b = awkward[r.IntN(len(awkward))]
	}
	if !k.needs {
		ask += "\n\n" + background(s.lang)
	}
	return c.fill(head+ask+"\n\n", w.Close(b), b, n, k.parts)
}

// minMaterial is the least that is worth adding to a question as background, in tokens.
const minMaterial = 40

// awkward are the kinds of material that stress tokenizers.
var awkward = []prose.Block{prose.Table, prose.Code, prose.Formulas, prose.Records, prose.Spaced, prose.Repeats, prose.Emoji}

func background(l prose.Lang) string {
	if l == prose.Chinese {
		return "以下是一些背景，供参考："
	}
	return "Some background, in case it matters:"
}

// mark is the nonce line at the head of a prompt: no other prompt of this run, nor of a
// run with another salt, starts with the same tokens. Short prompts get a short one.
func (g *generator) mark(s *session, n int) string {
	r := stream(g.o.Seed, streamNonce, s.i, hash64(g.o.Salt))
	switch {
	case n < 16:
		return nonce(r, 4) + " "
	case n < 48:
		return nonce(r, 5) + ": "
	case s.lang == prose.Chinese:
		return nonce(r, 8) + "号请求。"
	}
	return nonce(r, 8) + " is my reference for this request. "
}

func pickText(r *rand.Rand, of []string) string { return of[r.IntN(len(of))] }

func upperFirst(s string) string {
	if s != "" && s[0] >= 'a' && s[0] <= 'z' {
		return string(s[0]-'a'+'A') + s[1:]
	}
	return s
}

// composer writes texts of an asked length.
type composer struct {
	w     *prose.Writer
	count token.Counter
}

// fill writes head, then as many pieces of block b as make n tokens in all, then tail.
// With parts above 0 the pieces are grouped into numbered documents of about that many
// tokens.
func (c composer) fill(head, tail string, b prose.Block, n, parts int) string {
	open := c.w.Open(b)
	buf := append([]byte(head), open...)
	used := c.count.Count(head + open)
	budget := n - c.count.Count(tail)
	inPart := parts // starts the first document at once
	doc := 0
	var piece []byte
	for i := 0; used < budget; i++ {
		piece = piece[:0]
		if parts > 0 && inPart >= parts {
			doc++
			piece = append(piece, "\n["...)
			piece = strconv.AppendInt(piece, int64(doc), 10)
			piece = append(piece, "]\n"...)
			inPart = 0
		}
		piece = c.w.AppendPiece(piece, b, i)
		m := c.count.Count(string(piece))
		if m == 0 {
			break // a counter that counts nothing would never end
		}
		buf = append(buf, piece...)
		used += m
		inPart += m
	}
	return c.exactly(strings.TrimRight(string(buf), "\n"), budget, c.w.Lang()) + tail
}

// exactly cuts text to n tokens, or stretches it by whole sentences and then single
// words; the result is within a token or two of n wherever the counter allows it.
func (c composer) exactly(text string, n int, lang prose.Lang) string {
	for tries := 0; tries < 64 && c.count.Count(text) < n; tries++ {
		sep := " "
		if lang == prose.Chinese {
			sep = ""
		}
		text += sep + c.w.Sentence()
	}
	at := c.count.Count(text)
	if at <= n {
		return text
	}
	// Only the end of a long text needs to be counted again: search in the last part.
	keep := max(0, len(text)-16*(at-n)-512)
	for keep > 0 && text[keep] != ' ' && text[keep] != '\n' {
		keep--
	}
	head, tail := text[:keep], text[keep:]
	limit := n - c.count.Count(head)
	for range 6 {
		text = head + token.Cut(c.count, tail, limit)
		over := c.count.Count(text) - n // the seam may cost or save a token
		if over <= 0 {
			break
		}
		limit -= over
	}
	short := n - c.count.Count(text)
	for i := 0; short > 0 && i < 24; i++ {
		text += padding(lang, i)
		short = n - c.count.Count(text)
	}
	return text
}

// padding is one short word, about a token long.
func padding(l prose.Lang, i int) string {
	if l == prose.Chinese {
		return [...]string{"。", "是", "的", "了", "也", "就", "不", "在"}[i%8]
	}
	return [...]string{" and", " so", " it", " was", " as", " we", " had", " said"}[i%8]
}

// extend stretches a user message to about n tokens with sentences of the writer's
// field; a message that is longer stays whole.
func (c composer) extend(text string, n int, lang prose.Lang) string {
	short := n - c.count.Count(text)
	if short < minMaterial {
		return text
	}
	sep := "\n\nFor context: "
	if lang == prose.Chinese {
		sep = "\n\n补充一些情况："
	}
	return c.fill(text+sep, "", prose.Article, n, 0)
}
