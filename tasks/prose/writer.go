package prose

import (
	"math/rand/v2"
	"strconv"
	"strings"
)

// Lang is a language that a [Writer] writes.
type Lang string

// The languages.
const (
	English Lang = "en"
	Chinese Lang = "zh"
)

// Langs lists every language there is, in a fixed order.
func Langs() []Lang { return []Lang{English, Chinese} }

// field is one field of work with its vocabulary. Every entry is a phrase that fits the
// slot of the same name in a template.
type field struct {
	name     string   // as in "a question about NAME"
	roles    []string // who acts: "harbour master"
	things   []string // what is acted on, plural: "fish crates"
	verbs    []string // past tense, transitive: "weighed"
	places   []string // with preposition: "on the north quay"
	problems []string // clause: "the ice machine had stopped"
	remedies []string // clause: "the crew borrowed a second pump"
	measures []string // noun phrase that has a number: "the water temperature"
	units    []string // what each of the measures, in their order, is counted in: "degrees"
}

// grammar is one language.
type grammar struct {
	fields    []field
	sentences []string
	names     []string
	days      []string
	months    []string
	adjs      []string
	stop      string // between sentences
}

// Writer writes prose about one field of work. It is used by one goroutine; two writers
// made from equal random streams write equal text.
type Writer struct {
	r    *rand.Rand
	lang Lang
	g    *grammar
	f    *field
	last int // index of the sentence shape written last
	what int // index of the measure named last, so that its unit fits
	year int // of every line of one log
}

// New makes a writer in lang, which falls back to English when it is not one of [Langs],
// about a field of work drawn from r.
func New(r *rand.Rand, lang Lang) *Writer {
	g := grammarOf(lang)
	if lang != Chinese {
		lang = English
	}
	return &Writer{r: r, lang: lang, g: g, f: &g.fields[r.IntN(len(g.fields))], last: -1, year: 2015 + r.IntN(11)}
}

func grammarOf(lang Lang) *grammar {
	if lang == Chinese {
		return &chinese
	}
	return &english
}

// Lang is the language written.
func (w *Writer) Lang() Lang { return w.lang }

// Topic names the field of work, as a noun phrase.
func (w *Writer) Topic() string { return w.f.name }

// Switch moves the writer to another field of work, never the present one.
func (w *Writer) Switch() {
	for {
		f := &w.g.fields[w.r.IntN(len(w.g.fields))]
		if f != w.f {
			w.f = f
			return
		}
	}
}

// AppendSentence appends one sentence with its full stop. The same shape never comes
// twice in a row.
func (w *Writer) AppendSentence(dst []byte) []byte {
	i := w.r.IntN(len(w.g.sentences))
	if i == w.last {
		i = (i + 1) % len(w.g.sentences)
	}
	w.last = i
	at := len(dst)
	dst = w.append(dst, w.g.sentences[i])
	capitalise(dst[at:])
	return dst
}

// Sentence is AppendSentence as a string.
func (w *Writer) Sentence() string { return string(w.AppendSentence(nil)) }

// AppendParagraph appends n sentences.
func (w *Writer) AppendParagraph(dst []byte, n int) []byte {
	for i := range n {
		if i > 0 {
			dst = append(dst, w.g.stop...)
		}
		dst = w.AppendSentence(dst)
	}
	return dst
}

// Expand fills the slots of a template, such as "{role}" or "{num}". A slot that does
// not exist is left as it is.
func (w *Writer) Expand(template string) string { return string(w.append(nil, template)) }

func (w *Writer) append(dst []byte, t string) []byte {
	for {
		i := strings.IndexByte(t, '{')
		if i < 0 {
			return append(dst, t...)
		}
		dst = append(dst, t[:i]...)
		j := i + 1
		for j < len(t) && t[j] >= 'a' && t[j] <= 'z' {
			j++
		}
		if j == i+1 || j == len(t) || t[j] != '}' { // a brace of the text itself
			dst = append(dst, '{')
			t = t[i+1:]
			continue
		}
		dst = w.slot(dst, t[i+1:j], t[i:j+1])
		t = t[j+1:]
	}
}

func (w *Writer) slot(dst []byte, name, raw string) []byte {
	switch name {
	case "topic":
		return append(dst, w.f.name...)
	case "role":
		return append(dst, w.pick(w.f.roles)...)
	case "things":
		return append(dst, w.pick(w.f.things)...)
	case "verb":
		return append(dst, w.pick(w.f.verbs)...)
	case "place":
		return append(dst, w.pick(w.f.places)...)
	case "problem":
		return append(dst, w.pick(w.f.problems)...)
	case "remedy":
		return append(dst, w.pick(w.f.remedies)...)
	case "measure":
		w.what = w.r.IntN(len(w.f.measures))
		return append(dst, w.f.measures[w.what]...)
	case "unit":
		return append(dst, w.f.units[w.what%len(w.f.units)]...)
	case "name":
		return append(dst, w.pick(w.g.names)...)
	case "day":
		return append(dst, w.pick(w.g.days)...)
	case "month":
		return append(dst, w.pick(w.g.months)...)
	case "adj":
		return append(dst, w.pick(w.g.adjs)...)
	case "small":
		return strconv.AppendInt(dst, int64(2+w.r.IntN(9)), 10)
	case "num":
		return strconv.AppendInt(dst, int64(11+w.r.IntN(480)), 10)
	case "big":
		return strconv.AppendInt(dst, int64(1000+w.r.IntN(90000)), 10)
	case "pct":
		return strconv.AppendInt(dst, int64(3+w.r.IntN(90)), 10)
	case "dec":
		dst = strconv.AppendInt(dst, int64(1+w.r.IntN(98)), 10)
		dst = append(dst, '.')
		return strconv.AppendInt(dst, int64(1+w.r.IntN(9)), 10)
	case "clock":
		h, m := 5+w.r.IntN(17), w.r.IntN(60)
		return append(dst, byte('0'+h/10), byte('0'+h%10), ':', byte('0'+m/10), byte('0'+m%10))
	case "year":
		return strconv.AppendInt(dst, int64(1987+w.r.IntN(39)), 10)
	}
	return append(dst, raw...)
}

func (w *Writer) pick(of []string) string { return of[w.r.IntN(len(of))] }

func capitalise(b []byte) {
	if len(b) > 0 && b[0] >= 'a' && b[0] <= 'z' {
		b[0] -= 'a' - 'A'
	}
}
