package learn

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
)

// Kinds of personal items.
const (
	KindEmail   = "EMAIL"
	KindURL     = "URL"
	KindKey     = "KEY"
	KindCard    = "CARD"
	KindIBAN    = "IBAN"
	KindIP      = "IP"
	KindPhone   = "PHONE"
	KindID      = "ID"
	KindAddress = "ADDRESS"
	KindName    = "NAME"
)

// rule finds one kind of item.
type rule struct {
	kind string
	re   *regexp.Regexp
	ok   func(string) bool // nil accepts every match
	// group is the part of the match that is replaced; 0 is all of it.
	group int
	// need are characters of which every match has at least one, so that most texts need
	// not be searched; "" searches all.
	need string
}

const digit = "0123456789"

// rules are in order: what a rule has replaced no later rule sees.
func rules() []rule {
	re := regexp.MustCompile
	return []rule{
		{kind: KindKey, re: re(`-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)`), need: "-"},
		{kind: KindKey, re: re(`\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]*)?`), need: "."},
		{kind: KindKey, re: re(`\b(?:sk|pk|rk|ghp|gho|ghs|github_pat|glpat|xox[abprs]|hf|AKIA|ASIA|AIza|ya29)[-_.]?[A-Za-z0-9_-]{12,}`)},
		{kind: KindKey, re: re(`(?i)\b(?:password|passwd|pwd|secret|token|api[ _-]?key|bearer)\b\s*(?:is\b|[:=])?\s*["']?([^\s"',;]{6,})`), group: 1, ok: hasDigitOrSign},
		{kind: KindURL, re: re(`(?i)\b(?:https?|ftp|s3|wss?)://[^\s<>"'）)\]]+`), need: ":"},
		{kind: KindURL, re: re(`(?i)\bwww\.[a-z0-9-]+\.[^\s<>"')\]]+`), need: "."},
		{kind: KindEmail, re: re(`(?i)[\p{L}\p{N}._%+'-]+\s?(?:@|\(at\)|\[at\])\s?[\p{L}\p{N}-]+(?:(?:\.|\s?\(dot\)\s?|\[dot\])[\p{L}\p{N}-]+)+`), need: "@()[]"},
		{kind: KindIBAN, re: re(`\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b`), ok: iban, need: digit},
		{kind: KindID, re: re(`(?i)\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`), need: "-"},
		{kind: KindID, re: re(`\b\d{3}-\d{2}-\d{4}\b`), need: digit},
		{kind: KindID, re: re(`\b\d{17}[\dXx]\b`), need: digit},
		{kind: KindCard, re: re(`\b\d(?:[ -]?\d){12,18}\b`), ok: luhn, need: digit},
		{kind: KindIP, re: re(`\b(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)\b`), need: digit},
		{kind: KindIP, re: re(`(?i)\b(?:[0-9a-f]{1,4}:){3,7}:?[0-9a-f]{1,4}\b`), need: ":"},
		{kind: KindAddress, re: re(`(?i)\b\d{1,5}[a-z]?,? (?:\p{L}[\p{L}'.-]* ){1,4}(?:street|st|avenue|ave|road|rd|lane|ln|drive|dr|boulevard|blvd|way|court|ct|place|pl|square|sq|terrace|close|crescent)\b\.?(?:,? (?:apt|apartment|flat|unit|suite|ste)\.? ?#?\w+)?(?:, \p{Lu}[\p{L}' -]{1,30})?(?:,? [A-Z]{2})?(?:,? \d{4,5}(?:-\d{4})?)?`), need: digit},
		{kind: KindAddress, re: re(`\b\p{Lu}[\p{L}-]*(?:straße|strasse|gasse|weg|platz|allee)\s\d{1,4}[a-z]?(?:,? \d{4,5} \p{Lu}[\p{L}-]+)?`), need: digit},
		{kind: KindAddress, re: re(`\b\d{1,4},? (?:rue|avenue|boulevard|chemin|place) (?:\p{L}[\p{L}'’-]* ?){1,5}`), need: digit},
		{kind: KindAddress, re: re(`(?:\p{Han}{2,8}(?:省|市|区|县))*\p{Han}{1,12}(?:路|街|巷|大道|弄)\d{1,5}(?:号|弄)(?:\p{Han}?\d{0,5}(?:室|楼|单元|栋|号楼))*`), need: digit},
		{kind: KindPhone, re: re(`(?:\+|\b00)\d{1,3}[ .()/-]{0,3}\d(?:[ .()/-]{0,2}\d){6,12}\b`), need: digit},
		{kind: KindPhone, re: re(`\(\d{2,5}\) ?\d{2,4}(?:[ .-]?\d{2,4}){1,3}\b`), need: digit},
		{kind: KindPhone, re: re(`\b\d{2,4}[ .-]\d{2,4}[ .-]\d{2,4}(?:[ .-]\d{2,4})?\b`), ok: func(s string) bool { return digits(s) >= 8 && !date(s) }, need: digit},
		{kind: KindPhone, re: re(`\b(?:1[3-9]\d{9}|0\d{9,10})\b`), need: digit},
		{kind: KindID, re: re(`(?i)\b(?:passport|licen[cs]e|account|customer|employee|member|patient|policy|ticket|order|invoice|case|user|ssn|tax|id|nr|no)(?:\s(?:number|no|nr|id|code))?\.?\s*(?:is\b|[:#=])?\s*#?([A-Z]{0,4}[-/]?\d[\dA-Z/-]{4,20})\b`), group: 1, need: digit},
		{kind: KindID, re: re(`\b[A-Z]{1,4}-?\d{6,12}\b`), need: digit},
		{kind: KindID, re: re(`\b\d{9,}\b`), need: digit},
		{kind: KindName, re: re(`(?:^|[^\p{L}])((?:(?:Mr|Mrs|Ms|Miss|Dr|Prof|Herr|Frau|Señora?|Mme|Mlle|M)\.?|Doctor|Professor) \p{Lu}[\p{L}'’-]+(?: \p{Lu}[\p{L}'’-]+){0,2})`), group: 1},
		{kind: KindName, re: re(`(?i:\b(?:my name is|i am called|this is|i'm|i am|name:|contact:|from:|to:|dear|hi|hello|hey|regards,?|cheers,?|sincerely,?|thanks,?|signed,?|yours,?|ask for|call|meet|met|tell|told|email|ask|asked))[ \n]+(\p{Lu}[\p{Ll}'’-]+(?: \p{Lu}[\p{L}'’.-]+){0,2})`), group: 1, ok: notCommon},
		// Two capitalised words in the middle of a sentence: most are people, and a place or
		// a product taken for one does no harm.
		{kind: KindName, re: re(`[\p{Ll}\d,;:)] ((?:\p{Lu}[\p{Ll}'’-]+|\p{Lu}['’]\p{Lu}\p{Ll}+)(?: (?:(?:van|von|de|der|den|da|di|la|bin|al) )*\p{Lu}[\p{L}'’-]+){1,3})`), group: 1},
		{kind: KindName, re: re(`(?:我叫|我是|姓名[:：]?|联系人[:：]?|名字是)\s?(\p{Han}{2,4})`), group: 1},
		{kind: KindName, re: re(`(\p{Han}{1,3})(?:先生|女士|小姐|经理|医生|老师)`), group: 1},
	}
}

// Deidentifier replaces personal items. Equal items get the same placeholder within one
// text. It is safe for concurrent use.
type Deidentifier struct {
	rules []rule
	names map[string]bool
	full  *regexp.Regexp
}

// NewDeidentifier makes the default filter.
func NewDeidentifier() *Deidentifier {
	d := &Deidentifier{rules: rules(), names: map[string]bool{}}
	for _, n := range givenNames() {
		d.names[n] = true
	}
	d.full = regexp.MustCompile(`\p{Lu}[\p{Ll}'’-]+(?: (?:(?:van|von|de|der|den|da|di|la|bin|al|el|Mc|O')\.? ?)*\p{Lu}[\p{L}'’.-]+){0,2}`)
	return d
}

// Clean returns the text without personal items, full-width digits made ASCII, and adds to counts how many distinct
// items of each kind were replaced.
func (d *Deidentifier) Clean(text string, counts map[string]int) string {
	text = strings.Map(narrow, text)
	c := cleaner{seen: map[string]string{}, n: map[string]int{}, counts: counts}
	for _, r := range d.rules {
		text = c.apply(r, text)
	}
	return c.names(d, text)
}

// narrow turns full-width digits and signs, as a Chinese keyboard makes them, into ASCII,
// so that a number written with them is found.
func narrow(r rune) rune {
	switch {
	case r >= '０' && r <= '９':
		return r - '０' + '0'
	case r == '＠':
		return '@'
	case r == '＋':
		return '+'
	case r == '－':
		return '-'
	}
	return r
}

type cleaner struct {
	seen   map[string]string // item to placeholder
	n      map[string]int
	counts map[string]int
}

func (c *cleaner) placeholder(kind, item string) string {
	key := kind + "\x00" + item
	p, ok := c.seen[key]
	if !ok {
		c.n[kind]++
		p = fmt.Sprintf("[%s_%d]", kind, c.n[kind])
		c.seen[key] = p
		if c.counts != nil {
			c.counts[kind]++
		}
	}
	return p
}

func (c *cleaner) apply(r rule, text string) string {
	if r.need != "" && !strings.ContainsAny(text, r.need) {
		return text
	}
	var b strings.Builder
	at := 0
	for _, m := range r.re.FindAllStringSubmatchIndex(text, -1) {
		from, to := m[2*r.group], m[2*r.group+1]
		if from < at || from < 0 {
			continue
		}
		item := text[from:to]
		if inPlaceholder(text, from, to) || r.ok != nil && !r.ok(item) {
			continue
		}
		b.WriteString(text[at:from])
		b.WriteString(c.placeholder(r.kind, item))
		at = to
	}
	if at == 0 {
		return text
	}
	b.WriteString(text[at:])
	return b.String()
}

// names replaces given names, with the capitalised words that follow, wherever they stand.
func (c *cleaner) names(d *Deidentifier, text string) string {
	return d.full.ReplaceAllStringFunc(text, func(s string) string {
		words := strings.Fields(s)
		for i, w := range words {
			if !d.names[strings.ToLower(strings.Trim(w, "'’.-"))] {
				continue
			}
			return strings.Join(append(append([]string{}, words[:i]...), c.placeholder(KindName, strings.Join(words[i:], " "))), " ")
		}
		return s
	})
}

// inPlaceholder reports whether a match lies in or over a placeholder.
func inPlaceholder(text string, from, to int) bool {
	open := strings.LastIndexByte(text[:from], '[')
	if open >= 0 && from-open <= 16 {
		if end := strings.IndexByte(text[open:], ']'); end > 0 && open+end >= from && placeholderText.MatchString(text[open:open+end+1]) {
			return true
		}
	}
	return placeholderText.MatchString(text[from:to])
}

var placeholderText = regexp.MustCompile(`\[?[A-Z]{2,7}_\d+\]?`)

func digits(s string) int {
	n := 0
	for _, r := range s {
		if unicode.IsDigit(r) {
			n++
		}
	}
	return n
}

// date reports a text such as 2026-11-30.
func date(s string) bool {
	parts := strings.FieldsFunc(s, func(r rune) bool { return r < '0' || r > '9' })
	return len(parts) == 3 && digits(s) == 8 && (len(parts[0]) == 4 && (parts[0][:2] == "19" || parts[0][:2] == "20") || len(parts[2]) == 4 && (parts[2][:2] == "19" || parts[2][:2] == "20"))
}

func hasDigitOrSign(s string) bool {
	return strings.ContainsAny(s, "0123456789!@#$%^&*+=_/-") && digits(s) < len(s)
}

// luhn is the check digit of payment cards.
func luhn(s string) bool {
	sum, n := 0, 0
	for i := len(s) - 1; i >= 0; i-- {
		if s[i] < '0' || s[i] > '9' {
			continue
		}
		d := int(s[i] - '0')
		if n%2 == 1 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
		n++
	}
	return n >= 13 && sum%10 == 0
}

// iban checks the two check digits of ISO 13616.
func iban(s string) bool {
	s = strings.ReplaceAll(s, " ", "")
	if len(s) < 15 || len(s) > 34 {
		return false
	}
	mod := 0
	for _, c := range s[4:] + s[:4] {
		switch {
		case c >= '0' && c <= '9':
			mod = (mod*10 + int(c-'0')) % 97
		case c >= 'A' && c <= 'Z':
			mod = (mod*100 + int(c-'A') + 10) % 97
		default:
			return false
		}
	}
	return mod == 1
}

// notCommon refuses capitalised words that follow a greeting and are no names.
func notCommon(s string) bool {
	switch strings.Fields(s)[0] {
	case "I", "The", "This", "That", "These", "There", "Then", "What", "Why", "How", "When", "Where", "Who", "It", "We", "You", "They", "My", "Your", "Our",
		"Please", "Can", "Could", "Would", "Should", "Is", "Are", "Do", "Does", "Python", "Go", "Java", "English", "French", "German", "Chinese",
		"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday", "Sir", "Madam", "Team", "All", "Everyone", "Assistant", "Write", "Give", "Explain":
		return false
	}
	return true
}
