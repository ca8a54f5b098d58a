package nonsense

import (
	"compress/flate"
	"fmt"
	"strings"
	"sync"
	"unicode"
)

var functionWords = set("the a an and or but if of to in on at by for with from as is are was were be been it its this that these those he she they we you i his her their our your my not no so do does did have has had will would can could should may might than then there when where which who what how all any each some into over under about after before out up down only also more most other such")

var determiners = set("the a an his her my your their its our every")

// afterDeterminer are words that no determiner precedes in grammatical English.
var afterDeterminer = set("the a an and or but of to in on at by for with from as is are was were be been it this that these those he she they we you i his her their our your my not no so do does did have has had will would can could should than then there when where which who what how")

func set(words string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}

func lowerWords(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' && r != '’' })
}

const (
	minSoup       = 1500
	maxSoupRatio  = 1.72
	minFunction   = 0.25
	minDeterminer = 12
	maxSalad      = 0.20
)

// tokenSoup flags long Latin text that compresses less than language does and has few of
// the words that hold sentences together.
func tokenSoup(text string, _ Reply) (Flag, bool) {
	if len(text) < minSoup || structured(text) {
		return Flag{}, false
	}
	counts, total := scriptShares(text)
	if total == 0 || float64(counts[0]) < 0.9*float64(total) {
		return Flag{}, false
	}
	words := lowerWords(text)
	function := 0
	for _, w := range words {
		if functionWords[w] {
			function++
		}
	}
	share := float64(function) / float64(max(1, len(words)))
	if share >= minFunction {
		return Flag{}, false
	}
	if r := ratio(text); r < maxSoupRatio {
		return Flag{Rule: TokenSoup, Message: fmt.Sprintf("compresses only %.2f times and %.0f %% of its words are function words", r, 100*share)}, true
	}
	return Flag{}, false
}

// wordSalad flags English whose determiners are often followed by another function word.
func wordSalad(text string, _ Reply) (Flag, bool) {
	if structured(text) {
		return Flag{}, false
	}
	words := lowerWords(text)
	seen, odd := 0, 0
	for i := 0; i+1 < len(words); i++ {
		if determiners[words[i]] {
			seen++
			if afterDeterminer[words[i+1]] {
				odd++
			}
		}
	}
	if seen < minDeterminer || float64(odd) <= maxSalad*float64(seen) {
		return Flag{}, false
	}
	return Flag{Rule: WordSalad, Message: fmt.Sprintf("%d of %d articles and possessives are followed by another function word", odd, seen)}, true
}

var writers = sync.Pool{New: func() any {
	w, err := flate.NewWriter(nil, 6)
	if err != nil {
		panic(err) // 6 is a valid level
	}
	return w
}}

type counter int

func (c *counter) Write(b []byte) (int, error) { *c += counter(len(b)); return len(b), nil }

// ratio is how many times flate level 6 compresses a text.
func ratio(text string) float64 {
	var n counter
	w := writers.Get().(*flate.Writer)
	defer writers.Put(w)
	w.Reset(&n)
	// Writing to a counter cannot fail.
	_, _ = w.Write([]byte(text))
	_ = w.Close()
	return float64(len(text)) / float64(max(1, n))
}
