package bpe

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/inferencebench/inferencebench/tasks"
	"github.com/inferencebench/inferencebench/tasks/prose"
)

// referenceTexts are texts of every kind that this program writes, and awkward ones.
func referenceTexts() []string {
	texts := []string{
		"Hello, world!", " leading", "trailing ", "two  spaces   and\ttabs\t\tand\n\nlines\r\n \n end", "I'm, you're, WE'LL, it'S, 'tis 've", "12345678 1 22 333 4444 3.14159 1,000,000",
		"snake_case camelCase PascalCase HTTPServer XMLHttpRequest2 ALLCAPS aBcDeF", "你好，世界！今天天气怎么样？", "日本語のテキストと한국어 텍스트", "Привет, мир! Ёлки-палки", "مرحبا بالعالم", "नमस्ते दुनिया",
		"naïve café résumé Ångström ǅ ʰ", "👩‍🔧🛠️ 🇪🇺 👍🏽😀", "func main() {\n\tfmt.Println(\"hi\") // ok\n}\n", "{\"a\": [1, 2, {\"b\": null}]}", "$$ \\int_0^{7} x\\,e^{-\\lambda T} $$", "| a | b |\n|---:|---|\n", "a/b//c\n/d ../x/", "---- ==== ....... !!!???",
		"\u00a0\u00a0nbsp\u2003em\u3000ideographic", "x", " ", "\n", "\n\n\n   \n", "     indented\n\t\tmore", "e = mc² ½ Ⅷ ٣٤", "don't can't won't DON'T 'S 'LL", strings.Repeat("a", 300), strings.Repeat("ab ", 100), strings.Repeat("=", 80), "https://example.org/a?b=c&d=%20#e",
	}
	for _, l := range prose.Langs() {
		w := prose.New(rand.New(rand.NewPCG(7, 7)), l)
		for _, b := range prose.Blocks() {
			buf := []byte(w.Open(b))
			for i := range 4 {
				buf = w.AppendPiece(buf, b, i)
			}
			texts = append(texts, string(buf)+w.Close(b))
		}
	}
	return texts
}

// TestReference compares with the ids of another implementation, where its output and the
// vocabularies are at hand: INFERENCEBENCH_TOKENIZERS names a folder with NAME/tokenizer.json
// and ids.json, an object from NAME to the ids of [referenceTexts]. Without ids.json the
// texts are written to texts.json there, as input for that implementation.
func TestReference(t *testing.T) {
	dir := os.Getenv("INFERENCEBENCH_TOKENIZERS")
	if dir == "" {
		t.Skip("INFERENCEBENCH_TOKENIZERS is not set: no reference vocabularies")
	}
	texts := referenceTexts()
	data, err := os.ReadFile(filepath.Join(dir, "ids.json"))
	if err != nil {
		b, _ := json.Marshal(texts)
		if err := os.WriteFile(filepath.Join(dir, "texts.json"), b, 0o644); err != nil {
			t.Fatal(err)
		}
		t.Skip("texts.json written; make ids.json of it")
	}
	var want map[string][][]int32
	if err := json.Unmarshal(data, &want); err != nil {
		t.Fatal(err)
	}
	for name, ids := range want {
		tok, err := Load(filepath.Join(dir, name, "tokenizer.json"))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		same := 0
		for i, text := range texts {
			if got := tok.Encode(text); !slices.Equal(got, ids[i]) {
				t.Errorf("%s: %.60q encodes to %v; want %v", name, text, got[:min(12, len(got))], ids[i][:min(12, len(ids[i]))])
				continue
			}
			same++
		}
		t.Logf("%s: %d of %d texts equal", name, same, len(texts))
		checkLengths(t, name, tok)
	}
}

// checkLengths asks for prompts of given lengths by this tokenizer, and counts them.
func checkLengths(t *testing.T, name string, tok *Tokenizer) {
	worst := 0
	for _, n := range []int{64, 256, 1024, 4096} {
		src, err := tasks.NewGenerator(tasks.Options{Seed: 1, ISL: tasks.Fixed(n), Counter: tok, TemplateTokens: -1, Structure: 0.4, Langs: []tasks.LangShare{{Lang: prose.English, Weight: 1}, {Lang: prose.Chinese, Weight: 1}}})
		if err != nil {
			t.Fatal(err)
		}
		for i := range uint64(40) {
			turn, _ := src.Session(i).Next("")
			d := tok.Count(turn.User) - n
			worst = max(worst, d, -d)
			if d > 1 || -d > max(2, n/50) {
				t.Errorf("%s: a %s prompt of %d tokens has %d", name, turn.Task, n, n+d)
			}
		}
	}
	t.Logf("%s: prompts of 64 to 4,096 tokens are off by at most %d", name, worst)
}
