package bpe

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
)

// Tokenizer encodes text. It is safe for concurrent use.
type Tokenizer struct {
	split  splitter
	vocab  map[string]int32 // of raw bytes, not of their printable stand-ins
	bytes  [256]int32
	merges map[[2]int32]merge
	added  []string // special tokens, longest first
	ids    map[string]int32
	whole  bool // a piece that is in the vocabulary is one token, whatever the merges say

	mu    sync.Mutex
	cache map[string][]int32
}

// merge is what two neighbours become, and how early.
type merge struct{ rank, id int32 }

// maxFile bounds a tokenizer.json, in bytes.
const maxFile = 256 << 20

// Load reads a tokenizer.json.
func Load(path string) (*Tokenizer, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("tokenizer: %w", err)
	}
	defer f.Close()
	t, err := Read(f)
	if err != nil {
		return nil, fmt.Errorf("tokenizer %s: %w", path, err)
	}
	return t, nil
}

// file is the part of tokenizer.json that is looked at.
type file struct {
	Normalizer   json.RawMessage `json:"normalizer"`
	PreTokenizer json.RawMessage `json:"pre_tokenizer"`
	Added        []struct {
		ID      int32  `json:"id"`
		Content string `json:"content"`
	} `json:"added_tokens"`
	Model struct {
		Type         string            `json:"type"`
		Vocab        map[string]int32  `json:"vocab"`
		Merges       []json.RawMessage `json:"merges"`
		IgnoreMerges bool              `json:"ignore_merges"`
		Dropout      *float64          `json:"dropout"`
		Prefix       *string           `json:"continuing_subword_prefix"`
		Suffix       *string           `json:"end_of_word_suffix"`
	} `json:"model"`
}

// Read is Load from a stream.
func Read(r io.Reader) (*Tokenizer, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxFile {
		return nil, fmt.Errorf("longer than %d bytes", maxFile)
	}
	var f file
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, fmt.Errorf("not a tokenizer.json: %w", err)
	}
	m := &f.Model
	switch {
	case m.Type != "BPE" && m.Type != "":
		return nil, fmt.Errorf("model type %q is not BPE; use the server's own counts", m.Type)
	case len(m.Vocab) == 0:
		return nil, errors.New("it has no vocabulary")
	case m.Dropout != nil && *m.Dropout != 0, m.Prefix != nil && *m.Prefix != "", m.Suffix != nil && *m.Suffix != "":
		return nil, errors.New("dropout and subword marks are not supported; use the server's own counts")
	}
	if err := normalizer(f.Normalizer); err != nil {
		return nil, err
	}
	t := &Tokenizer{vocab: make(map[string]int32, len(m.Vocab)), merges: make(map[[2]int32]merge, len(m.Merges)), ids: map[string]int32{}, whole: m.IgnoreMerges, cache: map[string][]int32{}}
	if t.split, err = preTokenizer(f.PreTokenizer); err != nil {
		return nil, err
	}
	if err := t.fill(&f); err != nil {
		return nil, err
	}
	return t, nil
}

// fill builds the tables.
func (t *Tokenizer) fill(f *file) error {
	back := printable()
	raw := func(s string) (string, bool) {
		b := make([]byte, 0, len(s))
		for _, r := range s {
			c, ok := back[r]
			if !ok {
				return "", false
			}
			b = append(b, c)
		}
		return string(b), true
	}
	for s, id := range f.Model.Vocab {
		if b, ok := raw(s); ok { // others are added tokens, which are matched as they are
			t.vocab[b] = id
		}
	}
	for i := range t.bytes {
		id, ok := t.vocab[string([]byte{byte(i)})]
		if !ok {
			return fmt.Errorf("byte %#02x is not in the vocabulary: not a byte-level one; use the server's own counts", i)
		}
		t.bytes[i] = id
	}
	for i, m := range f.Model.Merges {
		a, b, err := pair(m)
		if err != nil {
			return fmt.Errorf("merge %d: %w", i+1, err)
		}
		x, ok1 := raw(a)
		y, ok2 := raw(b)
		left, ok3 := t.vocab[x]
		right, ok4 := t.vocab[y]
		id, ok5 := t.vocab[x+y]
		if !ok1 || !ok2 || !ok3 || !ok4 || !ok5 {
			return fmt.Errorf("merge %d: %.40q and %.40q or what they make is not in the vocabulary", i+1, a, b)
		}
		if _, ok := t.merges[[2]int32{left, right}]; !ok {
			t.merges[[2]int32{left, right}] = merge{int32(i), id}
		}
	}
	for _, a := range f.Added {
		if a.Content != "" {
			t.ids[a.Content] = a.ID
			t.added = append(t.added, a.Content)
		}
	}
	slices.SortFunc(t.added, func(a, b string) int { return len(b) - len(a) })
	return nil
}

// pair reads a merge: "a b" or ["a","b"].
func pair(raw json.RawMessage) (a, b string, err error) {
	var two []string
	if json.Unmarshal(raw, &two) == nil {
		if len(two) != 2 {
			return "", "", fmt.Errorf("%d parts; want 2", len(two))
		}
		return two[0], two[1], nil
	}
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		return "", "", errors.New("neither text nor a pair of texts")
	}
	a, b, ok := strings.Cut(s, " ")
	if !ok || strings.Contains(b, " ") {
		return "", "", fmt.Errorf("%.40q is not two parts", s)
	}
	return a, b, nil
}

// printable maps the printable stand-ins of GPT-2's vocabulary to the bytes they stand for.
func printable() map[rune]byte {
	out := make(map[rune]byte, 256)
	next := rune(256)
	for b := range 256 {
		if b >= '!' && b <= '~' || b >= 0xA1 && b <= 0xAC || b >= 0xAE {
			out[rune(b)] = byte(b)
			continue
		}
		out[next] = byte(b)
		next++
	}
	return out
}
