package drift

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/evals/stats"
)

// Unit says what an index counts.
type Unit string

// The units.
const (
	Tokens     Unit = "tokens"     // the server told its tokens
	CodePoints Unit = "codepoints" // it did not: Unicode code points of the text
)

// Reply is one reply of a series.
type Reply struct {
	Text string
	// Tokens are the reply's tokens in order, when the server told them.
	Tokens []string
	// Cached is how many tokens of the prompt the server took from its prefix cache.
	Cached archive.Opt[int]
}

// Diverge returns how many leading units two replies share, and whether they are equal.
func Diverge(a, b Reply) (at int, equal bool, unit Unit) {
	if len(a.Tokens) > 0 && len(b.Tokens) > 0 {
		n := 0
		for n < min(len(a.Tokens), len(b.Tokens)) && a.Tokens[n] == b.Tokens[n] {
			n++
		}
		return n, n == len(a.Tokens) && n == len(b.Tokens), Tokens
	}
	n, s, t := 0, a.Text, b.Text
	for s != "" && t != "" {
		r, i := utf8.DecodeRuneInString(s)
		q, j := utf8.DecodeRuneInString(t)
		if r != q || i != j || s[:i] != t[:j] {
			break
		}
		s, t, n = s[i:], t[j:], n+1
	}
	return n, s == "" && t == "", CodePoints
}

// Series are the replies to one prompt under one condition, and the reply that they are
// held against.
type Series struct {
	Prompt    string // an id
	Reference Reply
	Replies   []Reply
}

// Level is what one condition shows over all prompts.
type Level struct {
	// Name says what is compared, such as "idle", "burst", "under_load".
	Name string `json:"name"`
	Unit Unit   `json:"unit"`
	// Replies are compared in all; Equal of them equal their reference.
	Replies int `json:"replies"`
	Equal   int `json:"equal"`
	// SameCache are the replies whose prompt came from the server's prefix cache to the same
	// extent as their reference's; SameCacheEqual of them equal it. OtherCache came from it to
	// another extent, OtherCacheEqual of them equal. Where the server does not say, a reply
	// counts as neither. A server that computes a cached prompt's last tokens in a batch of
	// another shape rounds otherwise, and its greedy replies part without any load.
	SameCache       int `json:"same_cache"`
	SameCacheEqual  int `json:"same_cache_equal"`
	OtherCache      int `json:"other_cache"`
	OtherCacheEqual int `json:"other_cache_equal"`
	// Distinct is the mean number of different texts a prompt, its reference included.
	Distinct float64 `json:"distinct"`
	// Modal is the mean share of the most common text of a prompt.
	Modal float64 `json:"modal"`
	// Agreement is the share of replies whose extracted answer equals the reference's;
	// unknown when no answer can be extracted.
	Agreement archive.Opt[float64] `json:"agreement"`
	// FirstMin and FirstMedian are the index of the first unit that differs, over the
	// replies that differ; unknown when none does.
	FirstMin    archive.Opt[int] `json:"first_min"`
	FirstMedian archive.Opt[int] `json:"first_median"`
	// Hazard is divergences per 1,000 units compared before divergence, with Byar's 95 %
	// interval. Unlike a mean index it counts texts that never part correctly.
	Hazard         float64        `json:"hazard_per_1000"`
	HazardInterval stats.Interval `json:"hazard_interval"`
}

// Measure compares every reply of every series with its reference. extract finds the
// answer in a text, "" for none; nil leaves agreement unknown. When any pair lacks tokens
// the level counts code points throughout, so that one unit holds.
func Measure(name string, all []Series, extract func(text string) string) Level {
	l := Level{Name: name, Unit: unit(all)}
	compared, diverged, answers, agree, prompts := 0, 0, 0, 0, 0
	var firsts []int
	for _, s := range all {
		if len(s.Replies) == 0 {
			continue
		}
		prompts++
		texts := map[string]int{s.Reference.Text: 1}
		for _, r := range s.Replies {
			texts[r.Text]++
			a, b := s.Reference, r
			if l.Unit == CodePoints {
				a.Tokens, b.Tokens = nil, nil
			}
			at, equal, _ := Diverge(a, b)
			l.Replies++
			compared += at
			l.cache(s.Reference, r, equal)
			if equal {
				l.Equal++
			} else {
				diverged++
				firsts = append(firsts, at)
			}
			if extract == nil {
				continue
			}
			if want := extract(s.Reference.Text); want != "" {
				answers++
				if extract(r.Text) == want {
					agree++
				}
			}
		}
		most := 0
		for _, n := range texts {
			most = max(most, n)
		}
		l.Distinct += float64(len(texts))
		l.Modal += float64(most) / float64(len(s.Replies)+1)
	}
	if prompts > 0 {
		l.Distinct /= float64(prompts)
		l.Modal /= float64(prompts)
	}
	if answers > 0 {
		l.Agreement = archive.Some(float64(agree) / float64(answers))
	}
	if len(firsts) > 0 {
		slices.Sort(firsts)
		l.FirstMin, l.FirstMedian = archive.Some(firsts[0]), archive.Some(firsts[len(firsts)/2])
	}
	thousands := float64(compared+diverged) / 1000
	if thousands > 0 {
		l.Hazard = float64(diverged) / thousands
	}
	l.HazardInterval = stats.Byar(diverged, thousands)
	return l
}

// cache counts a pair by how much of its prompts came from the server's prefix cache.
func (l *Level) cache(reference, reply Reply, equal bool) {
	a, known := reference.Cached.Get()
	b, both := reply.Cached.Get()
	if !known || !both {
		return
	}
	all, same := &l.OtherCache, &l.OtherCacheEqual
	if a == b {
		all, same = &l.SameCache, &l.SameCacheEqual
	}
	*all++
	if equal {
		*same++
	}
}

// CacheText is a sentence on what the server's prefix cache has to do with replies that
// differ; "" when none differs or the server does not tell what it took from its cache.
func (l Level) CacheText() string {
	if l.Equal == l.Replies || l.OtherCache+l.SameCache == 0 {
		return ""
	}
	if l.OtherCache == 0 {
		return "every prompt came from the server's prefix cache to the same extent as its reference, so the cache does not explain the differences"
	}
	text := fmt.Sprintf("%d of the %d replies whose prompt came from the server's prefix cache to another extent than their reference's equal it", l.OtherCacheEqual, l.OtherCache)
	if l.SameCache > 0 {
		text += fmt.Sprintf(", and %d of the %d with the same extent", l.SameCacheEqual, l.SameCache)
	} else {
		text += ", and none came to the same extent"
	}
	if l.SameCacheEqual == l.SameCache {
		text += "; repeat with the server's prefix cache off before blaming the load"
	}
	return text
}

func unit(all []Series) Unit {
	for _, s := range all {
		for _, r := range s.Replies {
			if len(r.Tokens) == 0 || len(s.Reference.Tokens) == 0 {
				return CodePoints
			}
		}
	}
	if len(all) == 0 {
		return CodePoints
	}
	return Tokens
}

// Cached reports whether a reply looks like one from a response cache: word for word the
// reference, and its first token after less than a tenth of the reference's.
func Cached(reference, reply Reply, refTTFT, ttft float64) bool {
	return strings.TrimSpace(reply.Text) != "" && reference.Text == reply.Text && refTTFT > 0.05 && ttft < refTTFT/10
}
