package bpe

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// small is a tokenizer.json with the 256 bytes, a few merges and one added token.
func small(t testing.TB, pre string, change func(map[string]any)) string {
	t.Helper()
	vocab := map[string]int{}
	for r, b := range printable() {
		vocab[string(r)] = int(b)
	}
	merges := []any{"h e", "l l", []string{"he", "ll"}, "hell o", "Ġ hello", "a a", "aa aa"}
	for i, tok := range []string{"he", "ll", "hell", "hello", "Ġhello", "aa", "aaaa"} {
		vocab[tok] = 256 + i
	}
	f := map[string]any{
		"added_tokens":  []any{map[string]any{"id": 300, "content": "<|end|>"}, map[string]any{"id": 301, "content": "<|end|>x"}},
		"pre_tokenizer": json.RawMessage(pre),
		"model":         map[string]any{"type": "BPE", "vocab": vocab, "merges": merges},
	}
	if change != nil {
		change(f)
	}
	b, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func splitOf(t testing.TB, regex string) string {
	t.Helper()
	b, err := json.Marshal(regex)
	if err != nil {
		t.Fatal(err)
	}
	return `{"type":"Sequence","pretokenizers":[{"type":"Split","pattern":{"Regex":` + string(b) + `},"behavior":"Isolated","invert":false},{"type":"ByteLevel","add_prefix_space":false,"trim_offsets":true,"use_regex":false}]}`
}

const byteLevel = `{"type":"ByteLevel","add_prefix_space":false,"trim_offsets":true,"use_regex":true}`

func TestEncode(t *testing.T) {
	tok, err := Read(strings.NewReader(small(t, byteLevel, nil)))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		about, in string
		want      []int32
	}{
		{"nothing", "", nil},
		{"merges in order of rank", "hello hello", []int32{259, 260}},
		{"the leftmost of equal merges first", "aaaaa", []int32{262, 'a'}},
		{"a word without merges is bytes", "xyz", []int32{'x', 'y', 'z'}},
		{"a character of three bytes", "你", []int32{0xe4, 0xbd, 0xa0}},
		{"an added token in the text", "he<|end|>he", []int32{256, 300, 256}},
		{"the longest of two added tokens", "<|end|>x", []int32{301}},
		{"bytes that are no text", "\xff", []int32{0xff}},
	} {
		if got := tok.Encode(c.in); !slices.Equal(got, c.want) {
			t.Errorf("%s: Encode(%q) = %v; want %v", c.about, c.in, got, c.want)
		}
	}
}

func pieces(s splitter, text string) []string {
	var out []string
	for text != "" {
		n := s.next(text)
		out = append(out, text[:n])
		text = text[n:]
	}
	return out
}

func TestSplitters(t *testing.T) {
	for _, c := range []struct {
		rule splitter
		in   string
		want []string
	}{
		{gpt2{}, "I'm 12345 ok!!\n\n  x", []string{"I", "'m", " 12345", " ok", "!!", "\n\n ", " x"}},
		{gpt2{}, "I'M", []string{"I", "'", "M"}},
		{cl100k{3}, "I'M 12345 (ok)!!\n\n  x", []string{"I", "'M", " ", "123", "45", " (", "ok", ")!!\n\n", " ", " x"}},
		{cl100k{1}, "a12", []string{"a", "1", "2"}},
		{cl100k{3}, " \n \n  end  ", []string{" \n \n", " ", " end", "  "}},
		{o200k{}, "HTTPServer camelCase don't 1234", []string{"HTTPServer", " camel", "Case", " don't", " ", "123", "4"}},
		{o200k{}, "a/b\n/c", []string{"a", "/b", "\n", "/c"}},
		{o200k{}, "...//\n", []string{"...//\n"}},
		{smol{}, "ab 12 c", []string{"ab", " ", "1", "2", " c"}},
	} {
		if got := pieces(c.rule, c.in); !slices.Equal(got, c.want) {
			t.Errorf("%#v splits %q into %q; want %q", c.rule, c.in, got, c.want)
		}
	}
}

func TestSplittersLoseNothing(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringMatching(`([A-Za-z0-9 .'\n\t/!ǅʰſ你]{1,6}){0,20}`)).Draw(rt, "text")
		for _, s := range []splitter{gpt2{}, cl100k{3}, cl100k{1}, o200k{}, smol{}} {
			if got := strings.Join(pieces(s, text), ""); got != text {
				rt.Fatalf("%#v turns %q into %q", s, text, got)
			}
		}
	})
}

func TestFormsOfTheFileThatAreKnown(t *testing.T) {
	for about, pre := range map[string]string{
		"GPT-2": byteLevel, "Llama 3": splitOf(t, patternCL100K), "Qwen 2": splitOf(t, patternQwen2), "o200k": splitOf(t, patternO200K),
		"SmolLM": `{"type":"Sequence","pretokenizers":[{"type":"Digits","individual_digits":true},` + byteLevel + `]}`,
	} {
		tok, err := Read(strings.NewReader(small(t, pre, nil)))
		if err != nil || tok.Count("hello hello") != 2 {
			t.Errorf("%s: %v", about, err)
		}
	}
}

func TestUnknownFilesAreRefused(t *testing.T) {
	model := func(key string, v any) func(map[string]any) {
		return func(f map[string]any) { f["model"].(map[string]any)[key] = v }
	}
	for _, c := range []struct {
		about, in, say string
	}{
		{"another model", small(t, byteLevel, model("type", "Unigram")), "Unigram"},
		{"an unknown splitting rule", small(t, splitOf(t, `\w+`), nil), `\\w+`},
		{"an unknown pre-tokenizer", small(t, `{"type":"Metaspace"}`, nil), "Metaspace"},
		{"a prefix space", small(t, `{"type":"ByteLevel","add_prefix_space":true}`, nil), "prefix space"},
		{"an unknown normalizer", small(t, byteLevel, func(f map[string]any) { f["normalizer"] = map[string]string{"type": "Lowercase"} }), "Lowercase"},
		{"no pre-tokenizer", small(t, "null", nil), "pre-tokenizer"},
		{"a merge of what is not there", small(t, byteLevel, model("merges", []string{"q z"})), "merge 1"},
		{"a merge of three", small(t, byteLevel, model("merges", []string{"a b c"})), "merge 1"},
		{"an empty vocabulary", small(t, byteLevel, model("vocab", map[string]int{})), "no vocabulary"},
		{"a vocabulary without bytes", small(t, byteLevel, model("vocab", map[string]int{"a": 1})), "byte"},
		{"no JSON", "hello", "tokenizer.json"},
	} {
		if _, err := Read(strings.NewReader(c.in)); err == nil || !strings.Contains(err.Error(), c.say) {
			t.Errorf("%s: %v; want %q in it", c.about, err, c.say)
		}
	}
}

func FuzzEncode(f *testing.F) {
	tok, err := Read(strings.NewReader(small(f, splitOf(f, patternO200K), nil)))
	if err != nil {
		f.Fatal(err)
	}
	f.Add("hello <|end|> \xff aaaaaa")
	f.Fuzz(func(t *testing.T, s string) {
		n := 0
		for _, id := range tok.Encode(s) {
			switch {
			case id < 256:
				n++
			case id < 300:
				n += len([]string{"he", "ll", "hell", "hello", " hello", "aa", "aaaa"}[id-256])
			default:
				n += len("<|end|>") + int(id-300)
			}
		}
		if n != len(s) {
			t.Fatalf("the tokens of %q stand for %d bytes; want %d", s, n, len(s))
		}
	})
}

func BenchmarkCount(b *testing.B) {
	tok, err := Read(strings.NewReader(small(b, splitOf(b, patternCL100K), nil)))
	if err != nil {
		b.Fatal(err)
	}
	text := strings.Repeat("The tide gauge was off by 14 centimetres, so the crew measured again. ", 100)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		tok.Count(text)
	}
}
