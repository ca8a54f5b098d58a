package nonsense

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// broken makes the damaged replies of one kind from normal ones.
var broken = []struct {
	what   string
	damage func(r *rand.Rand, good string) Reply
}{
	{"a phrase loops to the limit", func(r *rand.Rand, good string) Reply {
		words := strings.Fields(good)
		n := 1 + r.IntN(30)
		at := r.IntN(max(1, len(words)-n))
		phrase := strings.Join(words[at:min(len(words), at+n)], " ") + " "
		room := max(len(good)/2, 5*len(phrase), 100)
		return Reply{Text: good[:len(good)/2] + strings.Repeat(phrase, 1+room/len(phrase)), Finish: "length"}
	}},
	{"exclamation marks of NaN logits", func(r *rand.Rand, good string) Reply {
		return Reply{Text: good[:len(good)/4] + strings.Repeat("!", 30+r.IntN(400)), Finish: "length"}
	}},
	{"one number for ever", func(r *rand.Rand, good string) Reply {
		return Reply{Text: good[:len(good)/3] + strings.Repeat(", 201", 40+r.IntN(100)), Finish: "length"}
	}},
	{"random bytes", func(r *rand.Rand, good string) Reply {
		b := make([]byte, 200+r.IntN(800))
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		return Reply{Text: string(b), Finish: "length"}
	}},
	{"replacement characters inside", func(r *rand.Rand, good string) Reply {
		var b strings.Builder
		for i, c := range good {
			if i%40 == 7 {
				b.WriteRune('\ufffd')
			}
			b.WriteRune(c)
		}
		return Reply{Text: b.String(), Finish: "stop"}
	}},
	{"tokens of many scripts", func(r *rand.Rand, good string) Reply {
		parts := []string{"the ", "答案", "ответ ", "جواب ", "응답", "ing ", "解", "слово ", "δέ "}
		var b strings.Builder
		for range 80 + r.IntN(200) {
			b.WriteString(parts[r.IntN(len(parts))])
		}
		return Reply{Text: b.String(), Finish: "length"}
	}},
	{"drift into another script", func(r *rand.Rand, good string) Reply {
		var b strings.Builder
		for b.Len() < len(good) {
			b.WriteString([]string{"答案", "数据", "城市", "水库", "结果", "检查"}[r.IntN(6)])
		}
		return Reply{Text: good + b.String(), Finish: "length", Prompt: "Go on with the story."}
	}},
	{"subword soup", func(r *rand.Rand, good string) Reply {
		var b strings.Builder
		for range 500 + r.IntN(300) {
			for range 1 + r.IntN(4) {
				b.WriteByte(byte('a' + r.IntN(26)))
			}
			if r.IntN(3) > 0 {
				b.WriteByte(byte('a' + r.IntN(26)))
			} else {
				b.WriteByte(' ')
			}
		}
		return Reply{Text: b.String(), Finish: "length"}
	}},
	{"the words in no order", func(r *rand.Rand, good string) Reply {
		words := strings.Fields(strings.ToLower(good))
		r.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
		return Reply{Text: strings.Join(words, " ") + ".", Finish: "stop"}
	}},
	{"cut in mid-sentence although it says stop", func(r *rand.Rand, good string) Reply {
		words := strings.Fields(good)
		for {
			n := len(words)/2 + r.IntN(len(words)/3)
			if w := words[n-1]; !strings.ContainsAny(w[len(w)-1:], ".!?:;\"”") {
				return Reply{Text: strings.Join(words[:n], " "), Finish: "stop"}
			}
		}
	}},
	{"an open code block", func(r *rand.Rand, good string) Reply {
		return Reply{Text: "Here it is:\n```python\ndef f(x):\n    return x +", Finish: "stop"}
	}},
	{"open JSON", func(r *rand.Rand, good string) Reply {
		return Reply{Text: `{"rows": [{"id": 1, "city": "Oslo"}, {"id": 2, "ci`, Finish: "stop"}
	}},
	{"nothing", func(r *rand.Rand, good string) Reply { return Reply{Text: " \n", Finish: "stop"} }},
	{"a loop in the reasoning", func(r *rand.Rand, good string) Reply {
		return Reply{Text: "The answer is 5.", Reasoning: strings.Repeat("Wait, let me check again. ", 30), Finish: "stop"}
	}},
}

func TestRecall(t *testing.T) {
	var base []sample
	for _, s := range prose(t, 300) {
		// The order of words shows only where there are enough of them.
		if len(s.reply.Text) > 1200 && len(base) < 200 {
			base = append(base, s)
		}
	}
	r := rand.New(rand.NewPCG(5, 6))
	for _, kind := range broken {
		found, rules := 0, map[Rule]int{}
		for _, s := range base {
			flags := Inspect(kind.damage(r, s.reply.Text))
			if len(flags) > 0 {
				found++
				rules[flags[0].Rule]++
			}
		}
		share := float64(found) / float64(len(base))
		t.Logf("%s: %.1f %% found %v", kind.what, 100*share, rules)
		if share < 0.95 {
			t.Errorf("%s: %.1f %% found; want 95 %%", kind.what, 100*share)
		}
	}
}

func TestInspect(t *testing.T) {
	for _, c := range []struct {
		what string
		r    Reply
		want Rule // "" for none
	}{
		{"a plain number", Reply{Text: "42", Finish: "stop"}, ""},
		{"a tool call has no text", Reply{Text: "", Finish: "tool_calls"}, ""},
		{"a reply cut by its limit before any text is no fault of form", Reply{Text: "", Finish: "length"}, ""},
		{"a cut character at the limit is reported by nobody", Reply{Text: "Das Haus ist gro\xc3", Finish: "length"}, ""},
		{"the same in the middle is damage", Reply{Text: "gro\xc3 Haus", Finish: "stop"}, BadChars},
		{"a table rule is an ornament", Reply{Text: "Name\n" + strings.Repeat("-", 150) + "\n", Finish: "stop"}, ""},
		{"a laugh is short", Reply{Text: "What a day" + strings.Repeat("!", 5), Finish: "stop"}, ""},
		{"asked for Chinese", Reply{Text: strings.Repeat("数据城市水库结果检查平均值", 3) + "一二三四五六七八九十百千万，这是一个完整的句子，没有重复的内容，也没有英文字母，只是为了测试语言而写的一段普通文字，读起来应该像真的一样自然流畅并且有意义。", Finish: "stop", Prompt: "Answer in Chinese."}, ""},
		{"not asked for it", Reply{Text: "一二三四五六七八九十百千万，这是一个完整的句子，没有重复的内容，也没有英文字母，只是为了测试语言而写的一段普通文字，读起来应该像真的一样自然流畅并且有意义。我们今天要讨论的是城市水库里还剩下多少水，以及明天是否会下雨，如果下雨那么水位就会上升。", Finish: "stop", Prompt: "How much water is left?"}, ScriptDrift},
	} {
		flags := Inspect(c.r)
		switch {
		case c.want == "" && len(flags) > 0:
			t.Errorf("%s: flagged %v; want nothing", c.what, flags)
		case c.want != "" && (len(flags) == 0 || flags[0].Rule != c.want):
			t.Errorf("%s: flags %v; want %s", c.what, flags, c.want)
		}
	}
}

func FuzzInspect(f *testing.F) {
	for _, s := range []string{"", "!!!!!!!!!!!!!!!!!!!!!!!!!!", "abcabcabcabc", "\xff\xc3", "```", "{", "中文 text русский"} {
		f.Add(s, "stop", s)
	}
	f.Fuzz(func(t *testing.T, text, finish, prompt string) {
		for _, fl := range Inspect(Reply{Text: text, Reasoning: prompt, Finish: finish, Prompt: prompt}) {
			if fl.Rule == "" || fl.Message == "" {
				t.Errorf("Inspect(%q) gives an unnamed flag %+v", text, fl)
			}
		}
	})
}

func BenchmarkInspect(b *testing.B) {
	text := strings.Repeat("The harbour master wrote down what the boats had brought, and then he went home. ", 40) + "It was late."
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Inspect(Reply{Text: text, Finish: "stop"})
	}
}
