package bpe

import (
	"encoding/json"
	"fmt"
)

// normalizer accepts files without one, and with NFC: texts that this program writes are
// in that form already, and [Tokenizer.Encode] documents it.
func normalizer(raw json.RawMessage) error {
	var n struct {
		Type        string            `json:"type"`
		Normalizers []json.RawMessage `json:"normalizers"`
	}
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	if err := json.Unmarshal(raw, &n); err != nil {
		return fmt.Errorf("normalizer: %w", err)
	}
	switch n.Type {
	case "NFC":
		return nil
	case "Sequence":
		for _, part := range n.Normalizers {
			if err := normalizer(part); err != nil {
				return err
			}
		}
		return nil
	}
	return fmt.Errorf("normalizer %q is not known; use the server's own counts", n.Type)
}

// The regular expressions of the splitting rules that are known, as files write them.
const (
	patternGPT2   = `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`
	patternCL100K = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
	patternQwen2  = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
	patternO200K  = `[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`
)

// step is one pre-tokenizer.
type step struct {
	Type          string `json:"type"`
	Pretokenizers []step `json:"pretokenizers"`
	Pattern       struct {
		Regex  *string `json:"Regex"`
		String *string `json:"String"`
	} `json:"pattern"`
	Behavior       string `json:"behavior"`
	Invert         bool   `json:"invert"`
	AddPrefixSpace bool   `json:"add_prefix_space"`
	UseRegex       *bool  `json:"use_regex"`
	Individual     bool   `json:"individual_digits"`
}

// preTokenizer finds the splitting rule that a file asks for.
func preTokenizer(raw json.RawMessage) (splitter, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, fmt.Errorf("it has no pre-tokenizer: not a byte-level vocabulary; use the server's own counts")
	}
	var top step
	if err := json.Unmarshal(raw, &top); err != nil {
		return nil, fmt.Errorf("pre-tokenizer: %w", err)
	}
	steps := top.Pretokenizers
	if top.Type != "Sequence" {
		steps = []step{top}
	}
	var split splitter
	digits, level := false, false
	for _, s := range steps {
		switch s.Type {
		case "Split":
			if s.Pattern.Regex == nil || s.Behavior != "Isolated" || s.Invert || split != nil {
				return nil, fmt.Errorf("pre-tokenizer Split with behaviour %q is not known; use the server's own counts", s.Behavior)
			}
			if split = known(*s.Pattern.Regex); split == nil {
				return nil, fmt.Errorf("splitting rule %.120q is not known; use the server's own counts", *s.Pattern.Regex)
			}
		case "Digits":
			if !s.Individual {
				return nil, fmt.Errorf("pre-tokenizer Digits without individual digits is not known; use the server's own counts")
			}
			digits = true
		case "ByteLevel":
			if s.AddPrefixSpace {
				return nil, fmt.Errorf("a prefix space is not known; use the server's own counts")
			}
			level = true
			if s.UseRegex == nil || *s.UseRegex {
				if split != nil {
					return nil, fmt.Errorf("two splitting rules; use the server's own counts")
				}
				split = gpt2{}
			}
		default:
			return nil, fmt.Errorf("pre-tokenizer %q is not known; use the server's own counts", s.Type)
		}
	}
	switch {
	case !level || split == nil:
		return nil, fmt.Errorf("it is not byte-level with a splitting rule; use the server's own counts")
	case digits && split == (gpt2{}):
		return smol{}, nil
	case digits:
		return nil, fmt.Errorf("digits on their own with this splitting rule are not known; use the server's own counts")
	}
	return split, nil
}

func known(regex string) splitter {
	switch regex {
	case patternGPT2:
		return gpt2{}
	case patternCL100K:
		return cl100k{digits: 3}
	case patternQwen2:
		return cl100k{digits: 1}
	case patternO200K:
		return o200k{}
	}
	return nil
}
