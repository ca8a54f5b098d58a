package answer

import "testing"

func TestFact(t *testing.T) {
	for _, c := range []struct {
		what, reply string
		accepted    []string
		want        bool
	}{
		{"the bare answer", "Lisbon", []string{"Lisbon"}, true},
		{"a sentence", "The capital of Portugal is **Lisbon**.", []string{"Lisbon"}, true},
		{"an alias", "lisboa!", []string{"Lisbon", "Lisboa"}, true},
		{"part of a word is not it", "Lisbonne", []string{"Lisbon"}, false},
		{"several words", "It is buenos  aires.", []string{"Buenos Aires"}, true},
		{"articles do not count", "the Moon", []string{"Moon"}, true},
		{"thousands commas", "3,600 seconds", []string{"3600"}, true},
		{"a number in a larger one is not it", "13600", []string{"3600"}, false},
		{"a decimal is another number", "7.5", []string{"7"}, false},
		{"a minus makes another number", "-7", []string{"7"}, false},
		{"subscripts", "H₂O", []string{"H2O", "H₂O"}, true},
		{"a hyphen separates", "thirty-one", []string{"thirty one"}, true},
		{"nothing", "", []string{"x"}, false},
		{"no accepted answer", "x", nil, false},
		{"a letter", "The last letter is r.", []string{"r"}, true},
	} {
		if _, got := Fact(c.reply, c.accepted); got != c.want {
			t.Errorf("%s: Fact(%q, %q) = %v; want %v", c.what, c.reply, c.accepted, got, c.want)
		}
	}
}
