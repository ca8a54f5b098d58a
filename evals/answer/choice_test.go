package answer

import "testing"

func TestChoice(t *testing.T) {
	for _, c := range []struct {
		what, reply string
		want        byte
	}{
		{"the letter alone", "B", 'B'},
		{"with a bracket and text", "(C) Oslo", 'C'},
		{"with a full stop", "D.", 'D'},
		{"announced", "I compared them. The answer is **B**.", 'B'},
		{"the last announcement counts", "Answer: A? No. Answer: C", 'C'},
		{"the only one that stands alone", "It must be B because of the harbour", 'B'},
		{"two candidates are none", "Either B or C", 0},
		{"an article is no choice", "A harbour is near", 0},
		{"a letter outside the options is none", "E", 0},
		{"a word is none", "Because", 0},
		{"nothing", "", 0},
		{"a list of the options is no choice", "A) Oslo\nB) Lima\nC) Cairo", 0},
		{"a choice after a list", "A) Oslo\nB) Lima\n\nAnswer: B", 'B'},
		{"option written out", "Option D", 'D'},
	} {
		if got := Choice(c.reply, 4); got != c.want {
			t.Errorf("%s: Choice(%q) = %q; want %q", c.what, c.reply, got, c.want)
		}
	}
}

func TestContradicts(t *testing.T) {
	const question = "What is the capital of Ireland, EIR?"
	options := [][]string{{"Dublin"}, {"Havana", "La Habana"}, {"Buenos Aires"}, {"Oslo"}}
	for _, c := range []struct {
		what, reply string
		letter      byte
		said        string
	}{
		{"the letter alone says nothing else", "A", 'A', ""},
		{"letter and own text", "A) Dublin", 'A', ""},
		{"own text in another accepted form", "B) La Habana", 'B', ""},
		{"another option's text", "A) Havana", 'A', "Havana"},
		{"another option's text in another form", "A) La Habana", 'A', "Havana"},
		{"another option's text without a bracket", "A Havana", 'A', "Havana"},
		{"a text that is no option at all", "A) Reykjavik", 'A', "Reykjavik"},
		{"two words that are no option", "(A) New York", 'A', "New York"},
		{"emphasis does not hide it", "**A)** **Havana**", 'A', "Havana"},
		{"the text before the letter", "Havana is right. Answer: A", 'A', "Havana"},
		{"own text and another", "A) Dublin, as Havana is in Cuba", 'A', ""},
		{"the other is ruled out", "A, not Havana", 'A', ""},
		{"several others in an explanation", "A, since Havana is in Cuba and Oslo in Norway", 'A', ""},
		{"an explanation without a name", "A) because of the harbour there", 'A', ""},
		{"a comment is no text", "A) is correct", 'A', ""},
		{"words of the question", "A) EIR", 'A', ""},
		{"no letter", "Havana", 0, ""},
		{"a letter outside the options", "E) Havana", 'E', ""},
	} {
		said, ok := Contradicts(c.reply, c.letter, question, options)
		if said != c.said || ok != (c.said != "") {
			t.Errorf("%s: Contradicts(%q, %q) = %q, %v; want %q", c.what, c.reply, c.letter, said, ok, c.said)
		}
	}
}

func FuzzContradicts(f *testing.F) {
	for _, s := range []string{"A) Havana", "A", "**A)** [", "Havana not Dublin", "\xff A) \u00a0", ""} {
		f.Add(s)
	}
	options := [][]string{{"Dublin"}, {"Havana"}, {"12"}, {"H2O"}}
	f.Fuzz(func(t *testing.T, reply string) {
		letter := Choice(reply, len(options))
		if said, ok := Contradicts(reply, letter, "What?", options); ok && (letter == 0 || said == "") {
			t.Errorf("Contradicts(%q, %q) = %q, %v", reply, letter, said, ok)
		}
	})
}
