package integrity

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// vocabulary is what prompts are made of: words that every model knows, and that say
// nothing together.
var vocabulary = strings.Fields(`anchor almond apron arrow attic bakery balloon barley basket beacon
bicycle blanket bottle branch bridge bucket button cabin camera candle canyon carpet castle cedar
cellar chapel cherry chimney cinnamon circus cliff clover compass copper cottage cotton cradle
crater crystal curtain dagger desert diamond donkey dragon drawer engine falcon feather fiddle
forest fountain garden garlic ginger glacier granite guitar hammer harbour harvest helmet hollow
honey island jacket jungle kettle kitchen ladder lantern leather lemon library lighthouse lobster
magnet maple marble market meadow mirror monsoon mountain museum mustard needle nutmeg oasis ocean
olive orchard orchid oyster paddle palace parrot pebble pepper piano pigeon pillow pirate planet
pocket prairie pumpkin puzzle rabbit raven ribbon river rocket saddle saffron salmon sandal
scarecrow shadow shovel silver spider squirrel stable statue sunrise temple thunder ticket timber
tunnel turtle umbrella valley velvet village violin volcano wagon walnut whistle willow window
winter wizard yogurt zebra`)

func pick(rng *rand.Rand, n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = vocabulary[rng.IntN(len(vocabulary))]
	}
	return out
}

// question is a short prompt that nobody can have seen before: five words of the
// vocabulary and a number, some 10^15 prompts.
func question(rng *rand.Rand) string {
	w := pick(rng, 5)
	return fmt.Sprintf("Write a short report number %d in which a %s, a %s, a %s, a %s and a %s all matter. Start with the report itself.",
		1000+rng.IntN(900000), w[0], w[1], w[2], w[3], w[4])
}

// syllables make words that no reply contains by chance.
var syllables = strings.Fields("zor vax qui bel tron mip lux gaf dor nim pex yul")

// codeword is such a word, in capitals.
func codeword(rng *rand.Rand) string {
	var b strings.Builder
	for range 3 {
		b.WriteString(syllables[rng.IntN(len(syllables))])
	}
	return strings.ToUpper(b.String())
}

// orders is a system message that asks for a first word. Its length makes its absence
// show in the count of prompt tokens.
func orders(word string) string {
	return fmt.Sprintf(`You write reports for a small archive. Keep to plain prose, do not ask questions back, and do not explain what you do. `+
		`The archive sorts what it gets by a code. Begin every reply with the word "%s" and a full stop, then go on as you would otherwise. This holds for each reply without exception.`, word)
}

// passage is a long text of n words that is new each time from its first word on.
func passage(rng *rand.Rand, n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Notes %d.", rng.Uint64())
	for n > 0 {
		k := min(n, 9)
		b.WriteString(" The ")
		b.WriteString(strings.Join(pick(rng, k), " "))
		b.WriteByte('.')
		n -= k
	}
	return b.String()
}
