package answer

import (
	"strings"
	"testing"
	"time"
)

func TestExtract(t *testing.T) {
	for _, c := range []struct {
		what, reply, want string
		method            Method
	}{
		{"a full stop is no part of the number", "The answer is 18.", "18", Marker},
		{"an answer that ends the text is read whole", "The answer is 18", "18", Marker},
		{"an answer that ends its line is read whole", "The answer is 18\n", "18", Marker},
		{"one digit is enough", "The answer is 8", "8", Marker},
		{"currency is ignored", "The answer is $18.", "18", Marker},
		{"emphasis is ignored", "The answer is **18**.", "18", Marker},
		{"18.00 is 18", "The answer is 18.00.", "18", Marker},
		{"the minus sign U+2212 is a minus", "The answer is −5.", "-5", Marker},
		{"what follows the sentence does not count", "The answer is 70,000 dollars. Let me double-check with 2 more steps.", "70000", Marker},
		{"a sum is worth its result", "The answer is 5 + 3 = 8.", "8", Marker},
		{"the first number of the announced segment counts", "The answer is 10 apples and 2 pears", "10", Marker},
		{"hash with currency", "#### $18", "18", Strict},
		{"a box inside a marker is a box", `The final answer is $\boxed{18}$`, "18", Boxed},
		{"{,} is a thousands comma", `$$\boxed{1{,}800}$$`, "1800", Boxed},
		{"LaTeX fractions are exact", `\boxed{\frac{3}{4}}`, "0.75", Boxed},
		{"exponents", "Answer: 1.5e3", "1500", Marker},
		{"known limit: a bracketed last number wins", "20% more, i.e. 60 minutes (1 hour).", "1", Flexible},
		{"known limit: an unclosed box is only a last number", `so \boxed{18`, "18", Flexible},
		{"known limit: a negated answer is read as given", "The answer is not 5; it is 6", "5", Marker},
		{"hash with x =", "#### x = 12", "12", Strict},
		{"hash with a unit", "#### 5 apples", "5", Strict},
		{"hash with a minus", "#### -7", "-7", Strict},
		{"minus before currency", "The answer is -$5.", "-5", Marker},
		{"minus after currency", "The answer is $-5.", "-5", Marker},
		{"a leading point", "Answer: .5", "0.5", Marker},
		{"a mixed number", "Answer: 1 1/2 hours", "1.5", Marker},
		{"million", "Answer: 1.5 million", "1500000", Marker},
		{"an attached k", "Answer: $70k", "70000", Marker},
		{"kilometres are no thousands", "Answer: 5 km", "5", Marker},
		{"a subtraction is worth its result", "Answer: 100 - 58 = 42", "42", Marker},
		{"two-digit LaTeX fraction", `\boxed{\dfrac12}`, "0.5", Boxed},
		{"text in a box", `\boxed{\text{42 apples}}`, "42", Boxed},
		{"escaped currency in a box", `\boxed{\$1,250.00}`, "1250", Boxed},
		{"a box beats later prose", `\boxed{5} so she pays $20 less`, "5", Boxed},
		{"the last box counts", `\boxed{5} no, \boxed{6}`, "6", Boxed},
		{"a range is not negative", "Between 5-7 items, so the answer is 6", "6", Marker},
		{"odd commas are dropped", "The answer is 1,2", "12", Marker},
		{"the number may stand on the next line with text", "Answer:\n\n42", "42", Marker},
		{"Chinese marker", "答案是 42。", "42", Marker},
		{"full-width digits and colon", "Answer：４２", "42", Marker},
		{"words are no numbers", "the answer is three", "", None},
		{"a refusal has no answer", "I am sorry, I cannot help with that.", "", None},
		{"nothing at all", "", "", None},
		{"B96: thousands commas in running text", "So the profit is $200,000 - $130,000 = $70,000.", "70000", Flexible},
		{"B96: two commas", "1,234,567", "1234567", Flexible},
		{"B96: commas after the hash", "#### 2,125", "2125", Strict},
		{"B97: cents", "the total cost is $29.00.", "29", Flexible},
		{"B97: trailing full stop", "The answer is 72.", "72", Marker},
		{"B97: decimals", "He pays $7.50", "7.5", Flexible},
		{"B100: minus kept", "The change is -3.", "-3", Flexible},
		{"B100: a minus between digits is no sign", "From 5-3=2 we get #### 2", "2", Strict},
		{"B100: a plus sign", "The answer is +7", "7", Marker},
		{"B102: boxed", `Thus \boxed{18}`, "18", Boxed},
		{"B102: boxed currency with {,}", `\boxed{\$1{,}250}`, "1250", Boxed},
		{"B102: the marker comes first", "**Answer: 5** (not 6)", "5", Marker},
		{"B102: a whole solution with its hash", "He has 5 and 6.\n#### 70000", "70000", Strict},
		{"the last hash counts: reasoning models recite examples", "#### 3\nso now\n#### 4", "4", Strict},
		{"a heading of level four is no answer", "#### Step 2: add\nThe answer is 9", "9", Marker},
		{"hash wins over a box", `\boxed{4}` + "\n#### 5", "5", Strict},
		{"an invented next question is cut off", "The total is 12.\nQuestion: Tom has 5 pens. 5+5=10", "12", Flexible},
		{"a restated question is not", "Question: Tom has 5 pens and buys 2.\nAnswer: 7", "7", Marker},
		{"no-break space between groups", "Answer: 70\u00a0000", "70000", Marker},
		{"thin space between groups", "Answer: 70\u2009000", "70000", Marker},
		{"an en dash range", "takes 5–7 days, so 6", "6", Flexible},
		{"a division by zero is only a number", "Answer: 5/0", "5", Marker},
		{"emphasised hash", "#### **18**", "18", Strict},
		{"hash with a marker", "#### Answer: 18", "18", Strict},
		{"the last marker without a number is passed over", "The answer is 5. The result is good.", "5", Marker},
		{"a marker in the middle of a word is none", "Nonanswer: 5 and then 6", "6", Flexible},
	} {
		got, method := Extract(c.reply)
		text := ""
		if got != nil {
			text = Format(got)
		}
		if text != c.want || method != c.method {
			t.Errorf("%s: Extract(%q) = %q by %s; want %q by %s", c.what, c.reply, text, method, c.want, c.method)
		}
	}
}

func TestSame(t *testing.T) {
	for _, c := range []struct {
		what, got, gold string
		want            bool
	}{
		{"equal integers", "18", "18", true},
		{"cents of nothing", "29.00", "29", true},
		{"a cent off is wrong", "29.01", "29", false},
		{"the sign matters", "3", "-3", false},
		{"fractions are decimals", "3/4", "0.75", true},
		{"a rounded third is near enough", "0.3333333", "1/3", true},
		{"a coarse third is not", "0.333", "1/3", false},
		{"an integer gold has no tolerance", "1000000.1", "1000000", false},
		{"gold with commas", "2125", "2,125", true},
	} {
		got, ok1 := Parse(c.got)
		gold, ok2 := Parse(c.gold)
		if !ok1 || !ok2 {
			t.Fatalf("%s: Parse found no number", c.what)
		}
		if s := Same(got, gold); s != c.want {
			t.Errorf("%s: Same(%s, %s) = %v; want %v", c.what, c.got, c.gold, s, c.want)
		}
	}
}

func TestVisible(t *testing.T) {
	for _, c := range []struct {
		what, text, want string
		cut              bool
	}{
		{"no reasoning", "a < b", "a < b", false},
		{"reasoning is removed", "<think>5 or 6?</think>It is 6.", "It is 6.", false},
		{"any case, any name", "<Thinking>5</THINKING>6<reasoning>7</reasoning>8", "68", false},
		{"a closing tag alone ends injected reasoning", "maybe 5</think>6", "6", false},
		{"an opening tag alone is a cut", "<think>maybe 5", "", true},
		{"other tags stay", "<b>5</b>", "<b>5</b>", false},
	} {
		got, cut := Visible(c.text)
		if got != c.want || cut != c.cut {
			t.Errorf("%s: Visible(%q) = %q, %v; want %q, %v", c.what, c.text, got, cut, c.want, c.cut)
		}
	}
}

func TestFormat(t *testing.T) {
	for in, want := range map[string]string{"18": "18", "1,338.50": "1338.5", "2/3": "2/3", "-7": "-7", "1e3": "1000"} {
		n, ok := Parse(in)
		if !ok {
			t.Fatalf("Parse(%q) found no number", in)
		}
		if got := Format(n); got != want {
			t.Errorf("Format(%s) = %s; want %s", in, got, want)
		}
	}
}

// TestExtractHostile feeds megabytes of the constructs that the rules search for.
func TestExtractHostile(t *testing.T) {
	for _, unit := range []string{"####", `\boxed{`, "answer: ", "the answer is = ", "1", "1,", "(", "<think", "\\frac{", "9e9 ", "=", "Q:\n", "{", "\xff", "1/"} {
		text := strings.Repeat(unit, 2_000_000/len(unit))
		start := time.Now()
		v, _ := Visible(text)
		Extract(v)
		if took := time.Since(start); took > 10*time.Second {
			t.Errorf("2 MB of %q took %v", unit, took)
		}
	}
}

func FuzzExtract(f *testing.F) {
	for _, s := range []string{"#### 18", `\boxed{\frac{1}{2}}`, "Answer: -$1,5e3k", "<think>x</think>答案是 42。", "\xff\xe2\x88", "(3)/(4)", "1 1/2"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v, _ := Visible(s)
		got, method := Extract(v)
		if (got == nil) != (method == None) {
			t.Errorf("Extract(%q): number %v by method %s", s, got, method)
		}
		if got != nil && len(Format(got)) <= maxDigits {
			if back, ok := Parse(Format(got)); !ok || !Same(back, got) {
				t.Errorf("Format(%s) = %q does not read back", got, Format(got))
			}
		}
	})
}
