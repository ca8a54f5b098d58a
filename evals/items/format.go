package items

import (
	"fmt"
	"strings"
)

// FormatVersion changes whenever a format task is added or changed.
const FormatVersion = 1

// Format is an instruction about the form of the answer. Exactly one of Schema and
// Pattern is set.
type Format struct {
	ID      string
	Prompt  string
	Schema  string // JSON Schema that the answer, a JSON text, must meet
	Pattern string // regular expression that the whole answer must match
	Good    string // an answer that keeps the format
	Bad     string // one that does not
}

// Formats returns the format tasks.
func Formats() []Format {
	out := append(jsonFormats(), patternFormats()...)
	for i := range out {
		out[i].ID = fmt.Sprintf("format/%d", i)
	}
	return out
}

const onlyJSON = " Answer with the JSON text alone, without a code block and without any other word."

func jsonFormats() []Format {
	f := func(prompt, schema, good, bad string) Format {
		return Format{Prompt: prompt + onlyJSON, Schema: schema, Good: good, Bad: bad}
	}
	object := func(props, required string) string {
		return `{"type":"object","properties":{` + props + `},"required":[` + required + `],"additionalProperties":false}`
	}
	return []Format{
		f(`Describe a bicycle as a JSON object with exactly the keys "name" (text) and "wheels" (whole number).`, object(`"name":{"type":"string"},"wheels":{"type":"integer"}`, `"name","wheels"`), `{"name": "bicycle", "wheels": 2}`, `{"name": "bicycle"}`),
		f(`Write the first five even numbers above zero as a JSON array of numbers.`, `{"type":"array","items":{"type":"integer","multipleOf":2},"minItems":5,"maxItems":5}`, `[2, 4, 6, 8, 10]`, `[2, 4, 6]`),
		f(`Write three colours as a JSON array of three texts.`, `{"type":"array","items":{"type":"string","minLength":1},"minItems":3,"maxItems":3}`, `["red", "green", "blue"]`, `red, green, blue`),
		f(`Say whether 7 is a prime number as a JSON object with the one key "prime", which is true or false.`, object(`"prime":{"type":"boolean"}`, `"prime"`), `{"prime": true}`, `{"prime": "yes"}`),
		f(`Give a city and its country as a JSON object with exactly the keys "city" and "country", both texts.`, object(`"city":{"type":"string"},"country":{"type":"string"}`, `"city","country"`), `{"city": "Oslo", "country": "Norway"}`, `{"city": "Oslo", "country": "Norway", "extra": 1}`),
		f(`Write a JSON object with the key "items" that holds an array of exactly two objects, each with the keys "id" (whole number) and "label" (text).`, object(`"items":{"type":"array","minItems":2,"maxItems":2,"items":`+object(`"id":{"type":"integer"},"label":{"type":"string"}`, `"id","label"`)+`}`, `"items"`), `{"items": [{"id": 1, "label": "a"}, {"id": 2, "label": "b"}]}`, `{"items": [{"id": 1, "label": "a"}]}`),
		f(`Give the mood of the sentence "What a lovely day" as a JSON object with the one key "mood", whose value is "good", "bad" or "neutral".`, object(`"mood":{"enum":["good","bad","neutral"]}`, `"mood"`), `{"mood": "good"}`, `{"mood": "happy"}`),
		f(`Write a JSON object with the key "temperature" that is a number from -10 to 40.`, object(`"temperature":{"type":"number","minimum":-10,"maximum":40}`, `"temperature"`), `{"temperature": 21.5}`, `{"temperature": 95}`),
		f(`Write an empty JSON array.`, `{"type":"array","maxItems":0}`, `[]`, `{}`),
		f(`Write a JSON object with exactly the keys "a", "b" and "c", whose values are 1, 2 and 3.`, object(`"a":{"const":1},"b":{"const":2},"c":{"const":3}`, `"a","b","c"`), `{"a": 1, "b": 2, "c": 3}`, `{"a": 1, "b": 2, "c": 4}`),
		f(`Write a JSON object with the key "tags": an array of one to four different texts about the sea.`, object(`"tags":{"type":"array","items":{"type":"string"},"minItems":1,"maxItems":4,"uniqueItems":true}`, `"tags"`), `{"tags": ["wave", "salt"]}`, `{"tags": ["wave", "wave"]}`),
		f(`Write a JSON object with the key "nothing" whose value is null.`, object(`"nothing":{"type":"null"}`, `"nothing"`), `{"nothing": null}`, `{"nothing": "null"}`),
		f(`Describe a book as a JSON object with the keys "title" (text), "year" (whole number from 1500 to 2100) and "author" (an object with the one key "name").`, object(`"title":{"type":"string"},"year":{"type":"integer","minimum":1500,"maximum":2100},"author":`+object(`"name":{"type":"string"}`, `"name"`), `"title","year","author"`), `{"title": "Emma", "year": 1815, "author": {"name": "Jane Austen"}}`, `{"title": "Emma", "year": "1815", "author": "Jane Austen"}`),
		f(`Write the truth table of "and" as a JSON array of four arrays, each with three values that are true or false.`, `{"type":"array","minItems":4,"maxItems":4,"items":{"type":"array","minItems":3,"maxItems":3,"items":{"type":"boolean"}}}`, `[[false,false,false],[false,true,false],[true,false,false],[true,true,true]]`, `[[0,0,0],[0,1,0],[1,0,0],[1,1,1]]`),
		f(`Write a JSON object with the key "code" whose value is three upper-case letters.`, object(`"code":{"type":"string","pattern":"^[A-Z]{3}$"}`, `"code"`), `{"code": "ABC"}`, `{"code": "abc"}`),
	}
}

func patternFormats() []Format {
	f := func(prompt, pattern, good, bad string) Format {
		return Format{Prompt: prompt, Pattern: pattern, Good: good, Bad: bad}
	}
	out := []Format{
		f("Is ice cold? Answer with the one word yes or no, in lower case and without a full stop.", `yes|no`, "yes", "Yes."),
		f("Write today's greeting in capital letters only: one to four words, no punctuation.", `[A-Z]+( [A-Z]+){0,3}`, "GOOD MORNING", "Good morning"),
		f("Write any date of the year 2020 in the form YYYY-MM-DD and nothing else.", `2020-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])`, "2020-05-17", "May 17, 2020"),
		f("Write a time of day in the form HH:MM with 24 hours and nothing else.", `([01]\d|2[0-3]):[0-5]\d`, "07:30", "7:30 am"),
		f("Write four fruits on one line, separated by a comma and one space, in lower case and nothing else.", `[a-z]+(, [a-z]+){3}`, "apple, pear, plum, fig", "apple, pear and plum"),
		f("Write a number from 1 to 9 between square brackets and nothing else.", `\[[1-9]\]`, "[5]", "5"),
		f("Write one sentence about rain. It must start with the word Rain and end with a full stop, and there must be nothing else.", `Rain\b[^.!?\n]*\.`, "Rain fell all night.", "It rained all night."),
		f("Write the words alpha, beta and gamma, each on its own line, in this order and nothing else.", `alpha\nbeta\ngamma`, "alpha\nbeta\ngamma", "alpha beta gamma"),
		f("Answer with a single word between the tags <word> and </word> and nothing else.", `<word>[A-Za-z]+</word>`, "<word>sea</word>", "sea"),
		f("Write a hexadecimal colour such as #1a2b3c, with six digits in lower case and nothing else.", `#[0-9a-f]{6}`, "#ff8800", "#FF88"),
		f("Write a comma-separated table with the header name,age and exactly two rows below it and nothing else.", `name,age\n[^,\n]+,\d+\n[^,\n]+,\d+`, "name,age\nAnn,30\nBob,25", "name,age\nAnn,30"),
		f("Write a Markdown heading of level two about birds and nothing else.", `## \S[^\n]*`, "## Birds of the coast", "# Birds"),
		f("Write an arithmetic equation of the form a + b = c with three numbers and nothing else.", `\d+ \+ \d+ = \d+`, "2 + 3 = 5", "2+3=5"),
		f("Choose one of A, B, C and D and answer with the letter and a closing bracket, such as A), and nothing else.", `[A-D]\)`, "B)", "B"),
		f("Write a question about cats that ends with a question mark, as one line and nothing else.", `[^?!.\n]+\?`, "Do cats dream?", "Cats dream."),
		f("Write a short file path that starts with /data/ and ends with .csv and nothing else.", `/data/[\w\-/]+\.csv`, "/data/sales/2020.csv", "data/sales.csv"),
		f("Write three numbered lines, starting with 1., 2. and 3., and nothing else.", `1\. [^\n]+\n2\. [^\n]+\n3\. [^\n]+`, "1. one\n2. two\n3. three", "- one\n- two\n- three"),
		f("Repeat exactly this text and nothing else: the quick lamp, 42 times!", `the quick lamp, 42 times!`, "the quick lamp, 42 times!", "The quick lamp, 42 times!"),
		f("Write a version number with three parts, such as 1.2.3, and nothing else.", `\d+\.\d+\.\d+`, "2.0.11", "v2"),
		f("Write a word of exactly five letters in lower case and nothing else.", `[a-z]{5}`, "river", "rivers"),
		f("Write a key and a value joined by one equals sign without spaces, such as key=value, and nothing else.", `\w+=\w+`, "mode=fast", "mode = fast"),
	}
	for _, n := range []int{3, 5, 8, 10} {
		words := strings.Fields("we saw the old boat come home again last night")
		out = append(out, f(fmt.Sprintf("Write exactly %d words, separated by single spaces, in lower case, without punctuation and nothing else.", n),
			fmt.Sprintf(`[a-z]+( [a-z]+){%d}`, n-1), strings.Join(words[:n], " "), strings.Join(words[:n-1], " ")))
	}
	return out
}
