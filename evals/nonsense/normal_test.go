package nonsense

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// sample is one normal reply with where it comes from.
type sample struct {
	from  string
	reply Reply
}

// reference opens a file of the reference data, or returns "".
func reference(t *testing.T, name string) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for dir != "/" {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		dir = filepath.Dir(dir)
	}
	path := filepath.Join(dir, "..", "shared", "data", name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("reference data %s is not here", name)
	}
	return path
}

func jsonl(t *testing.T, path string, each func(raw map[string]json.RawMessage)) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		row := map[string]json.RawMessage{}
		if err := json.Unmarshal(sc.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		each(row)
	}
}

// modelAnswers are answers of real models to maths problems.
func modelAnswers(t *testing.T, n int) (out []sample) {
	jsonl(t, reference(t, "gsm8k/example_model_solutions.jsonl"), func(row map[string]json.RawMessage) {
		var question string
		var answer struct{ Solution string }
		if len(out) >= n || json.Unmarshal(row["question"], &question) != nil || json.Unmarshal(row["175b_verification"], &answer) != nil {
			return
		}
		out = append(out, sample{"model maths", Reply{Text: answer.Solution, Finish: "stop", Prompt: question}})
	})
	return out
}

func goldAnswers(t *testing.T, n int) (out []sample) {
	jsonl(t, reference(t, "gsm8k/test.jsonl"), func(row map[string]json.RawMessage) {
		var question, answer string
		if len(out) >= n || json.Unmarshal(row["question"], &question) != nil || json.Unmarshal(row["answer"], &answer) != nil {
			return
		}
		out = append(out, sample{"maths", Reply{Text: answer, Finish: "stop", Prompt: question}})
	})
	return out
}

// prose are whole paragraphs of books.
func prose(t *testing.T, n int) (out []sample) {
	for _, book := range []string{"longdoc/pg35-0.txt", "longdoc/pg36-0.txt", "longdoc/pg1342-0.txt"} {
		raw, err := os.ReadFile(reference(t, book))
		if err != nil {
			t.Fatal(err)
		}
		paragraphs := strings.Split(strings.ReplaceAll(string(raw), "\r\n", "\n"), "\n\n")
		for i := 60; i+4 < len(paragraphs)-200 && len(out) < n; i += 5 {
			text := strings.TrimSpace(strings.Join(paragraphs[i:i+3], "\n\n"))
			text = strings.ReplaceAll(text, "\n\n", "\x00")
			text = strings.ReplaceAll(strings.ReplaceAll(text, "\n", " "), "\x00", "\n\n")
			if len(text) > 300 {
				out = append(out, sample{"prose", Reply{Text: text, Finish: "stop", Prompt: "Go on with the story."}})
			}
		}
	}
	return out[:min(n, len(out))]
}

// programs are functions and classes of the Python library, in fences and without.
func programs(t *testing.T, n int) (out []sample) {
	files, err := filepath.Glob("/usr/lib/python3*/*.py")
	if err != nil || len(files) == 0 {
		t.Skip("no Python library here")
	}
	for _, f := range files {
		raw, err := os.ReadFile(f)
		if err != nil {
			continue
		}
		parts := strings.Split(string(raw), "\n\n\n")
		for i := 1; i < len(parts) && len(out) < n; i += 4 {
			text := strings.TrimSpace(parts[i])
			if len(text) < 200 || len(text) > 6000 || strings.Contains(text, "```") {
				continue
			}
			if len(out)%3 > 0 {
				text = "Here is the code:\n\n```python\n" + text + "\n```"
			}
			out = append(out, sample{"code", Reply{Text: text, Finish: "stop", Prompt: "Write the class in Python."}})
		}
	}
	return out
}

var (
	nouns  = []string{"river", "engine", "garden", "teacher", "signal", "harbour", "market", "window", "forest", "letter", "bridge", "lamp"}
	cities = []string{"Lisbon", "Oslo", "Quito", "Accra", "Hanoi", "Perth", "Turin", "Osaka"}
)

func pick(r *rand.Rand, list []string) string { return list[r.IntN(len(list))] }

// shaped are replies in forms that repeat by nature: JSON, tables, lists, steps, Chinese.
func shaped(n int) (out []sample) {
	r := rand.New(rand.NewPCG(21, 12))
	hans := []string{"今天", "我们", "可以", "先把", "数据", "整理", "成表格", "然后", "计算", "平均值", "如果", "结果", "不对", "就要", "检查", "每一步", "最后", "得到", "答案", "请注意", "单位", "需要", "一致", "城市", "人口", "增长", "速度", "变慢", "水库", "里", "还有", "一半"}
	for i := range n {
		var b strings.Builder
		s := sample{reply: Reply{Finish: "stop"}}
		switch i % 7 {
		case 0:
			s.from, s.reply.Prompt = "json", "Give the readings as JSON."
			rows := []map[string]any{}
			for k := range 3 + r.IntN(40) {
				rows = append(rows, map[string]any{"id": k, "city": pick(r, cities), "value": float64(r.IntN(10000)) / 100, "ok": true, "tags": []string{pick(r, nouns), pick(r, nouns)}})
			}
			raw, _ := json.MarshalIndent(map[string]any{"rows": rows}, "", "  ")
			b.Write(raw)
		case 1:
			s.from, s.reply.Prompt = "table", "Show a table."
			b.WriteString("| City | Item | Count | Share |\n|------|------|-------|-------|\n")
			for range 3 + r.IntN(30) {
				fmt.Fprintf(&b, "| %s | %s | %d | %.1f%% |\n", pick(r, cities), pick(r, nouns), r.IntN(500), r.Float64()*100)
			}
		case 2:
			s.from, s.reply.Prompt = "steps", "Explain step by step."
			for k := range 3 + r.IntN(12) {
				fmt.Fprintf(&b, "Step %d: Move the %s from %s to %s and check the %s.\n", k+1, pick(r, nouns), pick(r, cities), pick(r, cities), pick(r, nouns))
			}
		case 3:
			s.from, s.reply.Prompt = "chinese", "请用中文解释一下。"
			for range 4 + r.IntN(30) {
				for range 4 + r.IntN(6) {
					b.WriteString(pick(r, hans))
				}
				b.WriteString([]string{"，", "。", "。\n"}[r.IntN(3)])
			}
			b.WriteString("完成。")
		case 4:
			s.from, s.reply.Prompt = "list", "List the things to pack."
			b.WriteString("Here are the things that you may want to take along:\n\n")
			for range 4 + r.IntN(25) {
				fmt.Fprintf(&b, "- **%s**: the %s near %s\n", pick(r, nouns), pick(r, nouns), pick(r, cities))
			}
		case 5:
			s.from, s.reply.Prompt = "numbers", "Write the multiplication table."
			k := 2 + r.IntN(12)
			for j := range 10 + r.IntN(20) {
				fmt.Fprintf(&b, "%d × %d = %d\n", k, j, k*j)
			}
		case 6:
			s.from, s.reply.Prompt = "csv and shell", "Show the files."
			b.WriteString("Run this:\n\n```sh\n")
			for range 2 + r.IntN(10) {
				fmt.Fprintf(&b, "curl -sS https://example.org/%s/%d -o %s.txt\n", pick(r, nouns), r.IntN(100), pick(r, nouns))
			}
			b.WriteString("```\n\nwhich gives\n\n```\n----------------------------------------\n")
			for range 5 {
				fmt.Fprintf(&b, "%s,%d,%d\n", pick(r, cities), r.IntN(90), r.IntN(90))
			}
			b.WriteString("----------------------------------------\n```")
		}
		s.reply.Text = b.String()
		out = append(out, s)
	}
	return out
}

func normal(t *testing.T) []sample {
	all := modelAnswers(t, 500)
	all = append(all, goldAnswers(t, 200)...)
	all = append(all, prose(t, 300)...)
	all = append(all, programs(t, 300)...)
	return append(all, shaped(max(700, 2000-len(all)))...)
}

func TestFalseAlarms(t *testing.T) {
	all := normal(t)
	flagged, byKind, kinds := 0, map[string]int{}, map[string]int{}
	for _, s := range all {
		kinds[s.from]++
		if flags := Inspect(s.reply); len(flags) > 0 {
			flagged++
			byKind[s.from]++
			if flagged <= 12 {
				t.Logf("%s: %s: %s …%q", s.from, flags[0].Rule, flags[0].Message, flags[0].Evidence)
			}
		}
	}
	t.Logf("%d of %d normal replies flagged (%.2f %%) %v of %v", flagged, len(all), 100*float64(flagged)/float64(len(all)), byKind, kinds)
	if len(all) < 2000 || float64(flagged) > 0.005*float64(len(all)) {
		t.Errorf("%d of %d normal replies flagged; want at most 0.5 %% of 2000 or more", flagged, len(all))
	}
}
