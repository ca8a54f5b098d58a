package prose

import (
	"strconv"
	"strings"
)

// Block is a kind of material that can be written piece by piece to any length.
type Block string

// The kinds of material.
const (
	Article    Block = "article"    // paragraphs
	Transcript Block = "transcript" // who said what
	Records    Block = "records"    // JSON objects, one a line
	Table      Block = "table"      // rows of a Markdown table
	Code       Block = "code"       // functions of a program, in a fenced block
	Log        Block = "log"        // dated log lines
	Reviews    Block = "reviews"    // short rated opinions
	Formulas   Block = "formulas"   // displayed formulas with their explanation
	Spaced     Block = "spaced"     // prose with odd indentation, tabs and blank lines
	Repeats    Block = "repeats"    // one line many times over
	Emoji      Block = "emoji"      // prose with pictographs
	Sections   Block = "sections"   // numbered document sections with headings
)

// Blocks lists every kind, in a fixed order.
func Blocks() []Block {
	return []Block{Article, Transcript, Records, Table, Code, Log, Reviews, Formulas, Spaced, Repeats, Emoji, Sections}
}

// Open is what stands before the first piece of a block, and Close what stands after the
// last: a table's head, a code fence.
func (w *Writer) Open(b Block) string {
	switch b {
	case Code:
		return "```go\n"
	case Records:
		return "```json\n"
	case Table:
		if w.lang == Chinese {
			return "| 编号 | 负责人 | 物品 | 数量 | 指标 |\n|---:|---|---|---:|---:|\n"
		}
		return "| no. | person | item | count | reading |\n|---:|---|---|---:|---:|\n"
	}
	return ""
}

// Close is what stands after the last piece of a block.
func (w *Writer) Close(b Block) string {
	if b == Code || b == Records {
		return "\n```"
	}
	return ""
}

// AppendPiece appends the nth piece, from 0, of a block: a paragraph, a row, a function.
// Every piece ends with a line break.
func (w *Writer) AppendPiece(dst []byte, b Block, n int) []byte {
	switch b {
	case Transcript:
		dst = append(dst, w.Expand("{name} ({clock}): ")...)
		return append(w.AppendParagraph(dst, 1+w.r.IntN(3)), '\n')
	case Records:
		return w.appendRecord(dst, n)
	case Table:
		return append(dst, w.Expand("| "+strconv.Itoa(n+1)+" | {name} | {things} | {num} | {dec} |\n")...)
	case Code:
		return w.appendFunction(dst, n)
	case Log:
		return w.appendLog(dst, n)
	case Reviews:
		stars := 1 + w.r.IntN(5)
		dst = append(dst, strings.Repeat("*", stars)...)
		dst = append(dst, ' ')
		return append(w.AppendParagraph(dst, 1+w.r.IntN(2)), '\n')
	case Formulas:
		return w.appendFormula(dst, n)
	case Spaced:
		return w.appendSpaced(dst)
	case Repeats:
		line := w.Expand("{clock}  {measure}  {num}  ok\n")
		return append(dst, strings.Repeat(line, 6+w.r.IntN(20))...)
	case Emoji:
		dst = append(dst, w.pick(pictographs)...)
		dst = append(dst, ' ')
		dst = w.AppendSentence(dst)
		dst = append(dst, ' ')
		dst = append(dst, w.pick(pictographs)...)
		return append(dst, '\n')
	case Sections:
		if n%4 == 0 {
			dst = append(dst, "\n## "...)
			dst = strconv.AppendInt(dst, int64(n/4+1), 10)
			dst = append(dst, ". "...)
			head := w.Expand("{things}")
			dst = append(dst, head...)
			dst = append(dst, "\n\n"...)
		}
		return append(w.AppendParagraph(dst, 3+w.r.IntN(4)), "\n\n"...)
	}
	return append(w.AppendParagraph(dst, 3+w.r.IntN(4)), "\n\n"...)
}

var pictographs = []string{"🚚", "🌧️", "📦", "✅", "⚠️", "🍞", "🔭", "🧯", "👩‍🔧", "🛠️", "🐟", "🌱", "🇪🇺", "👍🏽", "😀", "🔋"}

func (w *Writer) appendRecord(dst []byte, n int) []byte {
	dst = append(dst, `{"id":`...)
	dst = strconv.AppendInt(dst, int64(n+1), 10)
	dst = append(dst, w.Expand(`,"person":"{name}","item":"{things}","count":{num},"reading":{dec},"when":"{day} {clock}","note":"`)...)
	dst = w.AppendSentence(dst)
	return append(dst, "\"}\n"...)
}

func (w *Writer) appendLog(dst []byte, n int) []byte {
	levels := [...]string{"INFO", "INFO", "INFO", "WARN", "ERROR"}
	at := n*37 + w.r.IntN(30)
	dst = strconv.AppendInt(dst, int64(w.year), 10)
	dst = append(dst, "-03-14T"...)
	for i, v := range [...]int{at / 3600 % 24, at / 60 % 60, at % 60} {
		if i > 0 {
			dst = append(dst, ':')
		}
		dst = append(dst, byte('0'+v/10), byte('0'+v%10))
	}
	dst = append(dst, "Z "...)
	dst = append(dst, levels[w.r.IntN(len(levels))]...)
	return append(dst, w.Expand(" worker-{small} {problem}; id={big} took={num}ms\n")...)
}

func (w *Writer) appendFormula(dst []byte, n int) []byte {
	vars := [...]string{"x", "y", "q", "h", "\\lambda", "\\mu", "T", "k"}
	a, b, c := vars[w.r.IntN(len(vars))], vars[w.r.IntN(len(vars))], vars[w.r.IntN(len(vars))]
	shapes := [...]string{
		"%a_{n+1} = %a_n + {small}\\,%b_n^{2} - \\frac{{num}}{%c}",
		"\\int_0^{{small}} %a\\,e^{-%b %c}\\,d%c = \\frac{%a}{%b}\\left(1 - e^{-{small}%b}\\right)",
		"\\sum_{i=1}^{{num}} %a_i^2 \\le {small}\\cdot\\max_i |%b_i|\\,\\sqrt{%c}",
		"%a = \\sqrt{\\frac{{num}%b}{{small} + %c^2}}",
	}
	f := shapes[w.r.IntN(len(shapes))]
	f = strings.NewReplacer("%a", a, "%b", b, "%c", c).Replace(f)
	dst = append(dst, "$$ "...)
	dst = append(dst, w.Expand(f)...)
	dst = append(dst, " $$\n\n("...)
	dst = strconv.AppendInt(dst, int64(n+1), 10)
	dst = append(dst, ") "...)
	return append(w.AppendSentence(dst), "\n\n"...)
}

func (w *Writer) appendSpaced(dst []byte) []byte {
	indents := [...]string{"\t", "    ", "\u00a0\u00a0", "  \t ", "", "                "}
	gaps := [...]string{"  ", "\n", "\t", " \n\n\n", "   "}
	for range 3 {
		dst = append(dst, indents[w.r.IntN(len(indents))]...)
		dst = w.AppendSentence(dst)
		dst = append(dst, gaps[w.r.IntN(len(gaps))]...)
	}
	return append(dst, '\n')
}
