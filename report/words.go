package report

import (
	"html/template"
	"regexp"
	"strconv"
	"strings"

	"github.com/inferencebench/inferencebench/report/quantity"
)

// rateNote and cacheNote say why the totals divided by the duration are not the rates.
const (
	rateNote  = "Rates count what came inside the measured window; totals count all successful requests of the load, also those that ended after it."
	cacheNote = "Cached prompt tokens are in the total of input tokens and not in the rates."
)

var (
	// measured is a decimal number with a unit of time or a rate behind it, and any
	// number with five digits or more after its point. Versions and addresses are not.
	measured = regexp.MustCompile(`(^|[^\w.]|\d[hm])(\d+\.\d+)(\x{202f}| )?(ns|µs|us|ms|s|/s|req/s|tok/s)\b|(^|[^\w.])(\d+\.\d{5,})`)
	// codeLike is a flag such as --max-num-seqs, or a name such as max_num_seqs.
	codeLike = regexp.MustCompile(`(^|[\s(,])(\(?(?:--[A-Za-z][\w-]*|[A-Za-z][A-Za-z0-9]*_\w+)\)?)`)
)

// tidy rounds the measured numbers of a sentence to three significant digits. Digits
// before the point stay.
func tidy(s string) string {
	var b strings.Builder
	last := 0
	for _, m := range measured.FindAllStringSubmatchIndex(s, -1) {
		lo, hi := m[4], m[5]
		if lo < 0 {
			lo, hi = m[12], m[13]
			if hi+1 < len(s) && s[hi] == '.' && s[hi+1] >= '0' && s[hi+1] <= '9' {
				continue
			}
		}
		v, err := strconv.ParseFloat(s[lo:hi], 64)
		if err != nil || hi-lo <= 4 {
			continue
		}
		b.WriteString(s[last:lo])
		b.WriteString(quantity.Digits(v, 3))
		last = hi
	}
	b.WriteString(s[last:])
	return b.String()
}

// words escapes a sentence for the page, rounds its measured numbers, and keeps its
// flags and names in one piece.
func words(s string) template.HTML {
	s = template.HTMLEscapeString(tidy(OneLine(s)))
	return template.HTML(whole(s)) //nolint:gosec // escaped above
}

// whole keeps the flags and names of escaped text in one piece.
func whole(escaped string) string {
	return codeLike.ReplaceAllString(escaped, `$1<span class="nb">$2</span>`)
}
