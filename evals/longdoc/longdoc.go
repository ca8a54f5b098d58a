// Package longdoc writes documents with facts at chosen depths, and questions about them
// that can be scored by rule.
//
// A document is the log book of a coast watch: one entry a day, each at an invented place,
// with weather, people, stores and small incidents, all from a seed. Some entries hold a
// seal number such as "430-MCD-79". Every seal and every place that a question names
// occurs once, so that an answer cannot be right by accident; a reply that names another
// seal of the document is wrong, so that listing all of them does not help.
package longdoc

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Ask is the kind of question.
type Ask string

// The questions.
const (
	Single  Ask = "single"  // the seal of one place
	Update  Ask = "update"  // the seal of one place, which a later entry changed
	Sum     Ask = "sum"     // the sum of two counts in different entries
	TwoHop  Ask = "two_hop" // the seal of the place where a named person was last posted
	Missing Ask = "missing" // the seal of a place that the book does not mention
)

// Asks lists all kinds.
func Asks() []Ask { return []Ask{Single, Update, Sum, TwoHop, Missing} }

// NotStated is the right answer to a question about what the book does not hold.
const NotStated = "NOT STATED"

// Document is a generated document with one question.
type Document struct {
	Text     string
	Question string
	Answer   string
	// Decoys are other seals of the document: a right reply names none of them.
	Decoys []string
}

// Spec says what to write.
type Spec struct {
	Seed  uint64
	Chars int     // length aimed at, in characters; at least 2,000
	Depth float64 // where the fact stands: 0 is the start, 1 the end
	Ask   Ask
}

var (
	firsts  = []string{"Grey", "Long", "Stone", "Fern", "Otter", "Copper", "Willow", "Raven", "Salt", "Amber", "North", "Thorn", "Gull", "Marsh", "Iron", "Birch", "Heron", "Slate"}
	seconds = []string{"Point", "Haven", "Ness", "Cove", "Light", "Rock", "Sound", "Bar", "Head", "Reach", "Landing", "Bight", "Shoal", "Beacon"}
	names   = []string{"Adela", "Borys", "Cosima", "Darko", "Edda", "Fenna", "Gaspar", "Hanne", "Ilian", "Jorun", "Kasimir", "Ludo", "Marta", "Nils", "Odile", "Petra", "Quirin", "Runa", "Silvan", "Tilda", "Ulla", "Vito", "Wanda", "Yorick", "Zelda"}
	skies   = []string{"fog until noon", "a hard frost", "rain from the west", "a clear sky and little wind", "squalls before dawn", "low cloud all day", "sleet after dusk", "a warm haze", "a steady breeze from the south", "thunder far out at sea"}
	jobs    = []string{"mended the signal lamp", "counted the ropes", "painted the north door", "sounded the channel", "cleared drift wood from the slip", "wrote letters for the mail boat", "dried the sails in the loft", "tarred the small boat", "looked for the lost buoy", "greased the winch", "took the weight of the nets", "measured the tide at both stakes"}
	events  = []string{"A coaster passed close in and showed no flag.", "Two herring boats waited for the tide.", "A seal slept on the slip and would not move.", "The well ran low, and water was fetched by cart.", "A pilot came for supper and told of shoals further up.", "The bell rope broke and was spliced again.", "A crate of oranges washed ashore.", "Nothing else was seen before the lamp was lit.", "The old telescope was lent to the school.", "Someone had left a lantern burning in the shed.", "A swarm of bees settled under the stairs.", "The post brought three newspapers and a bill."}
	goods   = []string{"candles", "biscuits", "flares", "blankets", "lamp wicks", "nails", "tins of oil", "jars of salt"}
)

// Write makes the document. The same spec always gives the same one.
func Write(s Spec) Document {
	r := rand.New(rand.NewPCG(s.Seed, 0x10c))
	w := &writer{r: r, used: map[string]bool{}}
	total := max(s.Chars, 2000)
	asked := w.place()
	fact, second := w.facts(s.Ask, asked)
	at := int(float64(total) * min(1, max(0, s.Depth)))
	// The second fact of a pair stands a fifth of the book away, before or after.
	other := at + total/5
	if other > total*19/20 {
		other = at - total/5
	}
	if s.Ask == Update && other < at {
		at, other = other, at
	}
	var b strings.Builder
	b.WriteString("Log book of the coast watch.\n\n")
	for day := 1; ; day++ {
		if fact != "" && b.Len() >= at {
			fmt.Fprintf(&b, "Day %d. %s %s\n\n", day, fact, w.filler())
			fact = ""
			continue
		}
		if second != "" && fact == "" && b.Len() >= other || second != "" && b.Len() >= other && other < at {
			fmt.Fprintf(&b, "Day %d. %s %s\n\n", day, second, w.filler())
			second = ""
			continue
		}
		if b.Len() >= total && fact == "" && second == "" {
			break
		}
		fmt.Fprintf(&b, "Day %d. %s\n\n", day, w.entry())
	}
	return Document{Text: b.String(), Question: w.question, Answer: w.answer, Decoys: w.decoys}
}

type writer struct {
	r        *rand.Rand
	used     map[string]bool
	number   int
	question string
	answer   string
	decoys   []string
}

func (w *writer) pick(list []string) string { return list[w.r.IntN(len(list))] }

// place invents a place that has not been used; a number makes more of them.
func (w *writer) place() string {
	for {
		p := w.pick(firsts) + " " + w.pick(seconds)
		if w.number++; w.number > 120 {
			p = fmt.Sprintf("%s Station %d", w.pick(firsts), w.number)
		}
		if !w.used[p] {
			w.used[p] = true
			return p
		}
	}
}

// seal invents a seal number that has not been used.
func (w *writer) seal() string {
	for {
		const letters = "BCDFGHJKLMNPQRSTVWXZ"
		s := fmt.Sprintf("%d-%c%c%c-%d", 100+w.r.IntN(900), letters[w.r.IntN(20)], letters[w.r.IntN(20)], letters[w.r.IntN(20)], 10+w.r.IntN(90))
		if !w.used[s] {
			w.used[s] = true
			return s
		}
	}
}

// facts writes the sentences that answer the question, and sets question and answer.
func (w *writer) facts(ask Ask, place string) (first, second string) {
	seal := w.seal()
	sealed := func(p, s string) string { return fmt.Sprintf("At %s the store room was closed with seal %s.", p, s) }
	w.question = fmt.Sprintf("With which seal was the store room at %s closed?", place)
	w.answer = seal
	switch ask {
	case Update:
		old := w.seal()
		w.decoys = append(w.decoys, old)
		w.question = fmt.Sprintf("Which seal was on the store room at %s in the end?", place)
		return sealed(place, old), fmt.Sprintf("The seal at %s was broken and replaced by seal %s.", place, seal)
	case Sum:
		thing, a, b := w.pick(goods), 11+w.r.IntN(80), 11+w.r.IntN(80)
		other := w.place()
		w.question = fmt.Sprintf("How many %s were brought to %s and %s together?", thing, place, other)
		w.answer = fmt.Sprint(a + b)
		return fmt.Sprintf("The boat brought %d %s to %s.", a, thing, place), fmt.Sprintf("The boat brought %d %s to %s.", b, thing, other)
	case TwoHop:
		who := w.pick(names) + " Halvorsen"
		w.question = fmt.Sprintf("With which seal was the store room closed at the place to which %s was posted?", who)
		return sealed(place, seal), fmt.Sprintf("Word came that %s had been posted to %s.", who, place)
	case Missing:
		absent := w.place()
		w.question = fmt.Sprintf("With which seal was the store room at %s closed?", absent)
		w.answer = NotStated
		w.decoys = append(w.decoys, seal)
		return sealed(place, seal), ""
	}
	return sealed(place, seal), ""
}

func (w *writer) filler() string {
	return fmt.Sprintf("There was %s, and %s %s. %s", w.pick(skies), w.pick(names), w.pick(jobs), w.pick(events))
}

// entry is one ordinary day; every sixth holds a seal that nobody asks for.
func (w *writer) entry() string {
	p := w.place()
	if w.r.IntN(6) == 0 {
		s := w.seal()
		w.decoys = append(w.decoys, s)
		return fmt.Sprintf("At %s the store room was closed with seal %s. %s", p, s, w.filler())
	}
	return fmt.Sprintf("%s reported from %s: %s. %s", w.pick(names), p, w.pick(skies), w.filler())
}
