package learn

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/inferencebench/inferencebench/tasks"
)

// planted makes n personal items of every kind, each different and each in a sentence.
func planted(n int, rng *rand.Rand) (items, sentences []string) {
	first := []string{"Katarzyna", "Thomas", "Priya", "Miguel", "Heinrich", "Svetlana", "Omar", "Yuki", "Charlotte", "Giovanni"}
	rare := []string{"Thandiwe", "Oyelaran", "Bronagh", "Xochitl", "Ngozi", "Siobhan", "Tevita", "Ragnheidur", "Zorica", "Makana"}
	last := []string{"Mokoena", "Kowalska", "O'Brien", "Fernandez", "Lindqvist", "Haddad", "Tanaka", "Brunner", "Oduya", "Petrova"}
	streets := []string{"Maple Street", "Old Mill Road", "Harbour Lane", "King's Avenue", "Station Drive", "Elm Grove Court", "Bishop Square"}
	pick := func(of []string) string { return of[rng.IntN(len(of))] }
	num := func(k int) string {
		b := []byte{byte('1' + rng.IntN(9))}
		for len(b) < k {
			b = append(b, byte('0'+rng.IntN(10)))
		}
		return string(b)
	}
	card := func() string {
		s := "4" + num(14)
		for d := range 10 {
			if luhn(s + fmt.Sprint(d)) {
				s += fmt.Sprint(d)
				break
			}
		}
		return s
	}
	spaced := func(s string) string { return s[:4] + " " + s[4:8] + " " + s[8:12] + " " + s[12:] }
	ibanOf := func() string {
		body := num(18)
		for k := 2; k < 99; k++ {
			if s := fmt.Sprintf("DE%02d%s", k, body); iban(s) {
				return s
			}
		}
		panic("no check digits")
	}
	hex := func(k int) string {
		b := make([]byte, k)
		for i := range b {
			b[i] = "0123456789abcdef"[rng.IntN(16)]
		}
		return string(b)
	}
	makers := []func() (item, sentence string){
		func() (string, string) {
			s := pick(first) + " " + pick(last) + num(1)
			s = s[:len(s)-1]
			return s, "The invoice was signed by " + s + " last week."
		},
		func() (string, string) {
			s := pick(rare) + " " + pick(last)
			return s, "Hello, my name is " + s + " and I need help."
		},
		func() (string, string) {
			s := "Dr. " + pick(rare) + " " + pick(last)
			return s, "Please forward it to " + s + " today."
		},
		func() (string, string) {
			s := strings.ToLower(pick(first)) + "." + num(4) + "@mail-" + num(2) + ".example.org"
			return s, "Reply to " + s + ", please."
		},
		func() (string, string) {
			s := "+44 20 " + num(4) + " " + num(4)
			return s, "Ring me on " + s + " after six."
		},
		func() (string, string) {
			s := "(0" + num(3) + ") " + num(3) + "-" + num(4)
			return s, "My number is " + s + "."
		},
		func() (string, string) {
			s := "1" + fmt.Sprint(3+rng.IntN(7)) + num(9)
			return s, "我的手机是" + s + "，请回电。"
		},
		func() (string, string) {
			s := "sk-proj-" + hex(28)
			return s, "It fails with key " + s + " in the header."
		},
		func() (string, string) { s := "AKIA" + strings.ToUpper(hex(16)); return s, "aws_access_key_id " + s },
		func() (string, string) {
			s := "hunter" + num(3) + "!" + hex(4)
			return s, "the password is " + s + " but it is refused"
		},
		func() (string, string) {
			s := "eyJhbGciOi" + hex(20) + "." + hex(30) + "." + hex(20)
			return s, "Authorization: Bearer " + s
		},
		func() (string, string) { s := card(); return s, "I paid with " + s + " yesterday." },
		func() (string, string) { s := spaced(card()); return s, "card " + s + " was charged twice" },
		func() (string, string) { s := ibanOf(); return s, "Please refund to " + s + "." },
		func() (string, string) {
			s := num(2) + " " + pick(streets)
			return s, "Send it to " + s + ", as always."
		},
		func() (string, string) {
			s := "Lindenstraße " + num(2)
			return s, "Ich wohne in der " + s + " im dritten Stock."
		},
		func() (string, string) { s := "中山路" + num(3) + "号"; return s, "快递寄到" + s + "就行。" },
		func() (string, string) {
			s := "https://intra.example.net/u/" + hex(10) + "?q=" + num(3)
			return s, "See " + s + " for the picture."
		},
		func() (string, string) {
			s := hex(8) + "-" + hex(4) + "-" + hex(4) + "-" + hex(4) + "-" + hex(12)
			return s, "session " + s + " broke"
		},
		func() (string, string) { s := num(3) + "-" + num(2) + "-" + num(4); return s, "SSN " + s + " on file" },
		func() (string, string) { s := "PX" + num(8); return s, "Passport number " + s + " expires soon." },
		func() (string, string) {
			s := "10." + num(2) + "." + num(2) + "." + num(2)
			return s, "The box at " + s + " is down."
		},
		func() (string, string) { s := num(10); return s, "Customer " + s + " is angry." },
		func() (string, string) { s := pick(rare) + " " + pick(last); return s, "Best regards,\n" + s },
		func() (string, string) {
			s := "张伟" + string([]rune("明华强国")[rng.IntN(4)])
			return s, "我叫" + s + "，想问一个问题。"
		},
	}
	seen := map[string]bool{}
	for k := 0; len(items) < n; k++ {
		item, sentence := makers[k%len(makers)]()
		if seen[item] && k < 50*n {
			continue
		}
		seen[item] = true
		items, sentences = append(items, item), append(sentences, sentence)
	}
	return items, sentences
}

// leaks are the parts of items that a text still holds: the whole item, or a word of it
// that identifies.
func leaks(text string, items []string) []string {
	var out []string
	for _, it := range items {
		if strings.Contains(text, it) {
			out = append(out, it)
			continue
		}
		for _, w := range strings.Fields(it) {
			if len([]rune(w)) >= 5 && strings.ContainsAny(w, "0123456789@") && strings.Contains(text, w) {
				out = append(out, it+" ("+w+")")
			}
		}
	}
	return out
}

func TestDeidentifierLeavesNoPlantedItem(t *testing.T) {
	items, sentences := planted(500, rand.New(rand.NewPCG(1, 1)))
	d := NewDeidentifier()
	counts := map[string]int{}
	left := 0
	for i, s := range sentences {
		out := d.Clean(s, counts)
		if l := leaks(out, items[i:i+1]); len(l) > 0 {
			left++
			t.Errorf("%q becomes %q, which still holds %v", s, out, l)
		}
		if again := d.Clean(out, nil); again != out {
			t.Errorf("cleaning twice changes %q to %q", out, again)
		}
	}
	total := 0
	for _, n := range counts {
		total += n
	}
	t.Logf("%d of 500 planted items left; replaced %d: %v", left, total, counts)
	if total < 500 {
		t.Errorf("the report counts %d items; want at least 500", total)
	}
}

func TestDeidentifierKeepsOrdinaryText(t *testing.T) {
	d := NewDeidentifier()
	for _, s := range []string{
		"The meeting on 2026-11-30 at 14:05 moved 1200 crates for 3,450.50 coins.",
		"Compute 12345 * 678 and round it to 4 digits; use 0.95 as the limit.",
		"In Go, write a function that returns the median of 100 readings.",
		"Version 1.26.8 fails, version 1.25 works; the error code is 500.",
		"How does the Monday shift differ from the Friday one in a bakery?",
		"Hello! Please explain how a token bucket works.",
		"潮位计卡住了，请解释原因，并给出三个步骤。",
	} {
		if out := d.Clean(s, nil); out != s {
			t.Errorf("%q becomes %q; nothing in it is personal", s, out)
		}
	}
}

func TestFullWidthDigitsAreFound(t *testing.T) {
	got := NewDeidentifier().Clean("电话１３８００１３８０００，邮箱ａ不算，写到li.lei＠example.cn", nil)
	if strings.Contains(got, "138001") || strings.Contains(got, "example.cn") || !strings.Contains(got, "[PHONE_1]") || !strings.Contains(got, "[EMAIL_1]") {
		t.Errorf("cleaned to %q", got)
	}
}

func TestEqualItemsShareAPlaceholder(t *testing.T) {
	counts := map[string]int{}
	got := NewDeidentifier().Clean("Write to a@example.org, not b@example.org; a@example.org is read daily.", counts)
	want := "Write to [EMAIL_1], not [EMAIL_2]; [EMAIL_1] is read daily."
	if got != want || counts[KindEmail] != 2 {
		t.Errorf("got %q and %v; want %q and two e-mails", got, counts, want)
	}
}

// truth is what the generated log is made from.
type truth struct {
	rate, cv, turns, thinkMedian, thinkSigma float64
	in, out                                  tasks.Length
	mix                                      map[string]float64
	system                                   string
}

var generated = truth{
	rate: 2, cv: 2, turns: 2.5, thinkMedian: 20, thinkSigma: 0.8, in: tasks.Lognormal(6, 0.8), out: tasks.Lognormal(5, 0.6),
	mix: map[string]float64{"qa": 4, "code": 2, "summarise": 2, "translate": 1, "creative": 1}, system: strings.Repeat("You answer for the help desk. ", 12),
}

// log50k writes a log of 50,000 rows in the shape of the OpenAI API, with the sentences
// spread over it.
func log50k(t testing.TB, sentences []string) *bytes.Buffer {
	t.Helper()
	g := generated
	rng := rand.New(rand.NewPCG(2, 2))
	ask := map[string]string{
		"qa": "Why does the tide gauge of station %d stick?", "code": "Write a function that sorts %d rows.", "summarise": "Please summarise report %d in one line.",
		"translate": "Translate note %d into French.", "creative": "Write a short story about boat %d.",
	}
	names := slices.Sorted(maps.Keys(g.mix))
	turns := tasks.Geometric(g.turns)
	type line struct {
		at   time.Time
		text []byte
	}
	var all []line
	at := time.Date(2026, 11, 2, 8, 0, 0, 0, time.UTC)
	planted := 0
	for session := 0; len(all) < 50_000; session++ {
		shape := 1 / (g.cv * g.cv)
		at = at.Add(time.Duration(gammaDraw(rng, shape) / shape / g.rate * float64(time.Second)))
		u := rng.Float64() * 10
		task := ""
		for _, n := range names {
			if u -= g.mix[n]; u < 0 {
				task = n
				break
			}
		}
		var messages []map[string]string
		if session%2 == 0 {
			messages = append(messages, map[string]string{"role": "system", "content": g.system})
		}
		now, in := at, g.in.Draw(rng)
		for k := range turns.Draw(rng) {
			if len(all) == 50_000 {
				break
			}
			text := fmt.Sprintf(ask[task], session)
			if k > 0 {
				text = fmt.Sprintf("And what about step %d of %d?", k, session)
			} else if planted < len(sentences) && session%30 == 0 {
				text += " " + sentences[planted]
				planted++
			}
			messages = append(messages, map[string]string{"role": "user", "content": text})
			out := g.out.Draw(rng)
			took := time.Duration(out) * 20 * time.Millisecond
			b, err := json.Marshal(map[string]any{
				"timestamp": now.Format(time.RFC3339Nano), "latency_ms": int(took / time.Millisecond), "user": fmt.Sprintf("user-%d", session), "model": "m",
				"messages": messages, "usage": map[string]any{"prompt_tokens": in, "completion_tokens": out, "prompt_tokens_details": map[string]int{"cached_tokens": in / 4}}, "status": "success",
			})
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, line{now, b})
			messages = append(messages, map[string]string{"role": "assistant", "content": "As I said."})
			think := time.Duration(g.thinkMedian * math.Exp(g.thinkSigma*rng.NormFloat64()) * float64(time.Second))
			now, in = now.Add(took+think), in+out+30
		}
	}
	if planted < len(sentences) {
		t.Fatalf("only %d of %d items were planted", planted, len(sentences))
	}
	slices.SortStableFunc(all, func(a, b line) int { return a.at.Compare(b.at) })
	var buf bytes.Buffer
	for _, l := range all {
		buf.Write(l.text)
		buf.WriteByte('\n')
	}
	return &buf
}

func gammaDraw(r *rand.Rand, shape float64) float64 {
	boost := 1.0
	if shape < 1 {
		boost = math.Pow(1-r.Float64(), 1/shape)
		shape++
	}
	d := shape - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		x := r.NormFloat64()
		v := math.Pow(1+c*x, 3)
		if v > 0 && math.Log(1-r.Float64()) < 0.5*x*x+d-d*v+d*math.Log(v) {
			return boost * d * v
		}
	}
}

func learnFrom(t testing.TB, r io.Reader, o Options) *Model {
	t.Helper()
	l := New(o)
	for rec, err := range Records("log", r) {
		if err != nil {
			t.Fatal(err)
		}
		l.Add(rec)
	}
	m, err := l.Model()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestLearnRecoversWhatMadeTheLog allows 10 % for rates, turns, pauses and burstiness, 3 %
// for medians of lengths and 2 points for shares.
func TestLearnRecoversWhatMadeTheLog(t *testing.T) {
	items, sentences := planted(500, rand.New(rand.NewPCG(3, 3)))
	buf := log50k(t, sentences)
	m := learnFrom(t, buf, Options{})
	g := generated
	for _, c := range []struct {
		name                 string
		got, want, tolerance float64
	}{
		{"rows", float64(m.Rows), 50_000, 0},
		{"sessions a second", m.Rate, g.rate, 0.10 * g.rate},
		{"CV of the gaps", m.CV, g.cv, 0.10 * g.cv},
		{"mean turns", m.MeanTurns, g.turns, 0.10 * g.turns},
		{"median pause", m.ThinkMedian, g.thinkMedian, 0.10 * g.thinkMedian},
		{"spread of the pause", m.ThinkSigma, g.thinkSigma, 0.10 * g.thinkSigma},
		{"median prompt", m.In.X[6], math.Exp(6), 0.03 * math.Exp(6)},
		{"P95 prompt", m.In.X[11], math.Exp(6 + 1.645*0.8), 0.05 * math.Exp(6+1.645*0.8)},
		{"median answer", m.Out.X[6], math.Exp(5), 0.03 * math.Exp(5)},
		{"correlation", m.Correlation, 0, 0.05},
		{"follow-up", m.FollowUp.X[6], 30, 1},
		{"cached", m.Cached, 0.25, 0.01},
	} {
		t.Logf("%s: %.4g; made with %.4g", c.name, c.got, c.want)
		if math.Abs(c.got-c.want) > c.tolerance {
			t.Errorf("%s is %.4g; want %.4g within %.3g", c.name, c.got, c.want, c.tolerance)
		}
	}
	total := 0.0
	for _, s := range m.Mix {
		total += s.Weight
	}
	for _, s := range m.Mix {
		if got, want := s.Weight/total, g.mix[s.Task]/10; math.Abs(got-want) > 0.02 {
			t.Errorf("the share of %s is %.3f; want %.3f", s.Task, got, want)
		}
	}
	if m.SharedPrefix <= 0 || m.SharedTokens < 60 {
		t.Errorf("shared prefix %.3f of %d tokens; want some", m.SharedPrefix, m.SharedTokens)
	}
	var out bytes.Buffer
	if err := m.Write(&out); err != nil {
		t.Fatal(err)
	}
	left := leaks(out.String(), items)
	t.Logf("%d of 500 planted items are in the output; replaced %v", len(left), m.Removed)
	if len(left) > 0 || len(m.Examples) == 0 {
		t.Errorf("personal items in the output: %v; examples of %d kinds", left, len(m.Examples))
	}
	back, err := Read(bytes.NewReader(out.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tasks.NewGenerator(back.Options(1)); err != nil {
		t.Errorf("the model makes no generator: %v", err)
	}
}

func TestNoTextKeepsNoText(t *testing.T) {
	_, sentences := planted(25, rand.New(rand.NewPCG(4, 4)))
	var log strings.Builder
	for i, s := range sentences {
		b, _ := json.Marshal(map[string]any{"timestamp": 1.7e9 + float64(i), "messages": []any{map[string]string{"role": "system", "content": "Secret rules."}, map[string]string{"role": "user", "content": "Tell me: " + s}}, "usage": map[string]int{"prompt_tokens": 50, "completion_tokens": 5}})
		log.Write(append(b, '\n'))
	}
	m := learnFrom(t, strings.NewReader(log.String()), Options{NoText: true})
	var out bytes.Buffer
	if err := m.Write(&out); err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"Tell", "Secret", "example", "[NAME"} {
		if strings.Contains(out.String(), word) {
			t.Errorf("the model without text holds %q:\n%s", word, out.String())
		}
	}
	if m.Examples != nil || m.In.N != 25 {
		t.Errorf("examples %v, %d lengths", m.Examples, m.In.N)
	}
}

func TestLogFormats(t *testing.T) {
	for _, c := range []struct {
		about, in string
		want      Record
	}{
		{"OpenAI style with request and response", `{"created":1700000000,"request":{"model":"m","user":"u","messages":[{"role":"user","content":[{"type":"text","text":"hi there"}]}]},"response":{"usage":{"prompt_tokens":9,"completion_tokens":3}}}`,
			Record{At: time.Unix(1700000000, 0), Model: "m", User: "u", Prompt: "hi there", In: 9, Out: 3, Cached: -1, Latency: -1}},
		{"LiteLLM", `{"startTime":"2026-11-30T10:00:00Z","endTime":"2026-11-30T10:00:02Z","model":"m","messages":[{"role":"system","content":"s"},{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":"c"}],"prompt_tokens":20,"completion_tokens":4,"metadata":{"session_id":"x"},"status":"failure"}`,
			Record{At: time.Date(2026, 11, 30, 10, 0, 0, 0, time.UTC), Session: "x", Model: "m", System: "s", Prompt: "c", History: "user\na\x00assistant\nb\x00", In: 20, Out: 4, Cached: -1, Latency: 2 * time.Second, Failed: true}},
		{"vLLM's request line", `INFO 11-30 10:00:01 [logger.py:39] Received request chatcmpl-1: prompt: 'say "hi"\nnow', params: SamplingParams(n=1, max_tokens=16), prompt_token_ids: [1, 2, 3, 4], lora_request: None.`,
			Record{At: time.Date(2000, 11, 30, 10, 0, 1, 0, time.UTC), Prompt: "say \"hi\"\nnow", In: 4, Out: -1, Cached: -1, Latency: -1}},
		{"OTLP", `{"resourceSpans":[{"scopeSpans":[{"spans":[{"startTimeUnixNano":"1700000000000000000","endTimeUnixNano":"1700000001500000000","attributes":[{"key":"gen_ai.usage.input_tokens","value":{"intValue":"12"}},{"key":"gen_ai.usage.output_tokens","value":{"intValue":"7"}},{"key":"gen_ai.request.model","value":{"stringValue":"m"}}]}]}]}]}`,
			Record{At: time.Unix(1700000000, 0), Model: "m", In: 12, Out: 7, Cached: -1, Latency: 1500 * time.Millisecond}},
		{"CSV with a header", "\xef\xbb\xbftimestamp,session_id,prompt_tokens,completion_tokens,latency_ms,status\r\n2026-11-30 10:00:00,s1,12,7,250,200\r\n",
			Record{At: time.Date(2026, 11, 30, 10, 0, 0, 0, time.UTC), Session: "s1", In: 12, Out: 7, Cached: -1, Latency: 250 * time.Millisecond}},
	} {
		var got []Record
		for rec, err := range Records("f", strings.NewReader(c.in)) {
			if err != nil {
				t.Errorf("%s: %v", c.about, err)
			}
			got = append(got, rec)
		}
		if len(got) != 1 {
			t.Errorf("%s: %d records; want 1", c.about, len(got))
			continue
		}
		if !got[0].At.Equal(c.want.At) {
			t.Errorf("%s: time %s; want %s", c.about, got[0].At, c.want.At)
		}
		got[0].At, c.want.At = time.Time{}, time.Time{}
		if got[0] != c.want {
			t.Errorf("%s: %+v; want %+v", c.about, got[0], c.want)
		}
	}
}

func TestBadLogLinesAreNamedAndNotQuoted(t *testing.T) {
	in := "starting up\n{\"prompt_tokens\":5,\"completion_tokens\":1}\n{\"secret\":\n{\"prompt\":\"x\",\"time\":\"my secret\"}\n"
	var lines []int
	n := 0
	for _, err := range Records("f", strings.NewReader(in)) {
		var le *LineError
		switch {
		case err == nil:
			n++
		case errors.As(err, &le):
			lines = append(lines, le.Line)
			if strings.Contains(err.Error(), "secret") {
				t.Errorf("the error quotes the log: %v", err)
			}
		}
	}
	if n != 1 || !slices.Equal(lines, []int{3, 4}) {
		t.Errorf("%d records and errors on lines %v; want 1 and [3 4]", n, lines)
	}
	if _, err := New(Options{}).Model(); err == nil {
		t.Error("a log without requests makes a model")
	}
}

func TestTasksAreRecognised(t *testing.T) {
	r := taskRules()
	for task, prompts := range map[string][]string{
		"summarise": {"Summarise the following in 3 sentences.", "请用3句话概括下面的内容。"}, "translate": {"Translate this into French."}, "code": {"Write a Python function that sorts."},
		"extract": {"Extract every time of day as JSON objects."}, "classify": {"Label the text below with exactly one of: a, b."}, "reasoning": {"How many crates are left? Think step by step."},
		"creative": {"Write a short story about a boat."}, "qa": {"Why is the sky blue?"}, "chat": {"hey, rough day today"}, "rag": {"Answer from the documents below only: [1] a"}, "review": {"Review the code below."},
	} {
		for _, p := range prompts {
			if got := classify(r, p); got != task {
				t.Errorf("classify(%q) = %s; want %s", p, got, task)
			}
		}
	}
}

func FuzzRecords(f *testing.F) {
	f.Add(`{"prompt_tokens":5,"completion_tokens":1,"messages":[{"role":"user","content":"x"}]}`)
	f.Add("timestamp,prompt_tokens\n1,2\n")
	f.Add(`INFO 11-30 10:00:01 x Received request a: prompt: 'b', params: prompt_token_ids: [1]`)
	f.Add(`{"resourceSpans":[{"scopeSpans":[{"spans":[{"attributes":[{"key":"gen_ai.usage.input_tokens","value":{"intValue":"1"}}]}]}]}]}`)
	f.Fuzz(func(t *testing.T, s string) {
		l := New(Options{})
		for rec, err := range Records("f", strings.NewReader(s)) {
			if err == nil {
				l.Add(rec)
			}
		}
		if m, err := l.Model(); err == nil {
			if err := m.Write(io.Discard); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func FuzzClean(f *testing.F) {
	_, sentences := planted(25, rand.New(rand.NewPCG(5, 5)))
	for _, s := range sentences {
		f.Add(s)
	}
	d := NewDeidentifier()
	f.Fuzz(func(_ *testing.T, s string) { d.Clean(s, map[string]int{}) })
}

func BenchmarkClean(b *testing.B) {
	d := NewDeidentifier()
	text := "Please explain why the tide gauge near the north quay sticks when the wind turns, and what the crew could try first. " +
		"We looked at the float, the cable and the drum, and none of them seemed worn at all."
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		d.Clean(text, nil)
	}
}
