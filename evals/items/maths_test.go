package items

import (
	"math"
	"math/big"
	"math/rand/v2"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/inferencebench/inferencebench/evals/answer"
)

// recounts works out every template a second time, by acting the story out step by step
// in floating point instead of by a formula.
var recounts = map[string]func(p params) float64{
	"orchard-crates": func(p params) float64 {
		pears := 0
		for range p["a"] {
			pears += p["per"]
		}
		for range p["a"] - p["b"] {
			pears += p["per"]
		}
		return float64(pears - p["s"])
	},
	"print-shop": func(p params) float64 {
		bill := 0.0
		for range p["k"] {
			bill += float64(p["f"])
			for range p["p"] {
				bill += float64(p["u"]) / 100
			}
		}
		return bill
	},
	"loyalty-points": func(p params) float64 {
		points := 0
		for _, visit := range []int{p["x"], p["y"]} {
			for ; visit >= p["d"]; visit -= p["d"] {
				points += p["e"]
			}
		}
		return float64(points)
	},
	"parking-tiers": func(p params) float64 {
		pay := 0
		for hour := 1; hour <= p["h"]; hour++ {
			switch {
			case hour == 1:
				pay += p["a"]
			case hour <= 1+p["k"]:
				pay += p["b"]
			default:
				pay += p["c"]
			}
		}
		return float64(pay)
	},
	"market-stall": func(p params) float64 {
		purse := -p["r"]
		for range p["n"] {
			purse += p["s"]
			purse -= p["c"]
		}
		return float64(purse)
	},
	"ticket-change": func(p params) float64 {
		purse := p["note"]
		for range p["a"] {
			purse -= p["x"]
		}
		for range p["k"] {
			purse -= p["y"]
		}
		return float64(purse)
	},
	"discount-pair": func(p params) float64 {
		return float64(p["j"])*(1-float64(p["d"])/100) + float64(p["b"])*(1-float64(p["e"])/100)
	},
	"savings-goal": func(p params) float64 {
		weeks := 0
		for have := p["s"]; have < p["g"]; weeks++ {
			have += p["w"] - p["x"]
		}
		return float64(weeks)
	},
	"bulk-packs": func(p params) float64 {
		cost, need := 0, p["n"]
		for need >= p["k"] {
			need -= p["k"]
			cost += p["c"]
		}
		for ; need > 0; need-- {
			cost += p["u"]
		}
		return float64(cost)
	},
	"commission": func(p params) float64 { return float64(p["b"]) + float64(p["v"])*float64(p["c"])/100 },
	"exchange-fee": func(p params) float64 {
		crowns := 0
		for range p["d"] - p["f"] {
			crowns += p["r"]
		}
		return float64(crowns - p["back"])
	},
	"ferry-queue": func(p params) float64 {
		queue := p["q"] + p["r"]
		for range p["n"] {
			queue -= p["c"]
		}
		return float64(queue)
	},
	"leaky-tank": func(p params) float64 {
		litres := 0
		for minute := range p["t"] + p["v"] {
			litres += p["i"]
			if minute < p["t"] {
				litres -= p["o"]
			}
		}
		return float64(litres)
	},
	"relay": func(p params) float64 {
		sum, next := 0, p["t"]
		for range p["n"] {
			sum += next
			next -= p["g"]
		}
		return float64(sum)
	},
	"train-meeting": func(p params) float64 {
		hours := float64(p["d"]) / (float64(p["a"]) + float64(p["b"]))
		return hours * float64(p["a"])
	},
	"reading-plan": func(p params) float64 {
		left := p["n"]
		for range p["d"] {
			left -= p["a"]
		}
		return float64(left) / float64(p["e"])
	},
	"two-printers": func(p params) float64 {
		made, minutes := p["a"]*p["t"], 0
		for made < p["n"] {
			made += p["a"] + p["b"]
			minutes++
		}
		return float64(minutes)
	},
	"shift-pay": func(p params) float64 {
		hours := float64(p["e"]-p["s"]) - float64(p["b"])/60
		return hours * float64(p["w"]) * float64(p["d"])
	},
	"night-temperature": func(p params) float64 {
		t := p["a"]
		for range p["h"] {
			t -= p["d"]
		}
		return float64(t + p["u"])
	},
	"cyclist-average": func(p params) float64 {
		hours := float64(p["a"])/float64(p["x"]) + float64(p["b"])/float64(p["y"])
		return float64(p["a"]+p["b"]) / hours
	},
	"candle-race": func(p params) float64 {
		a, b, hours := p["a"], p["b"], 0
		for a > b {
			a -= p["x"]
			b -= p["y"]
			hours++
		}
		return float64(hours)
	},
	"bus-timetable": func(p params) float64 {
		bus := 0
		for bus < p["m"] {
			bus += p["k"]
		}
		return float64(bus - p["m"] + p["r"])
	},
	"reservoir-percent": func(p params) float64 {
		v := float64(p["w"])
		v -= v * float64(p["p"]) / 100
		v += v * float64(p["q"]) / 100
		return v
	},
	"class-share": func(p params) float64 {
		return float64(p["n"]) * (float64(p["p"]) / 100) * (float64(p["q"]) / 100)
	},
	"mixture": func(p params) float64 {
		pure := float64(p["a"])*float64(p["x"])/100 + float64(p["b"])*float64(p["y"])/100
		return pure / float64(p["a"]+p["b"]) * 100
	},
	"inheritance": func(p params) float64 {
		part := float64(p["n"]) / float64(p["a"]+p["b"]+p["c"])
		return part*float64(p["c"]) - part*float64(p["a"])
	},
	"battery-drain": func(p params) float64 {
		charge, hours := p["s"], 0
		for range p["x"] {
			charge -= p["f"]
		}
		for charge > p["l"] {
			charge -= p["m"]
			hours++
		}
		return float64(hours)
	},
	"recipe-scale": func(p params) float64 {
		each := float64(p["g"]) / float64(p["a"])
		return each*float64(p["b"]) - float64(p["h"])
	},
	"price-before": func(p params) float64 {
		return float64(p["n"])/(1+float64(p["p"])/100) - float64(p["d"])
	},
	"mean-target": func(p params) float64 {
		for need := range 101 {
			if p["m"]*p["k"]+need == p["g"]*(p["k"]+1) {
				return float64(need)
			}
		}
		return math.NaN()
	},
	"bakery-third-quarter": bakery(3, 4),
	"bakery-quarter-fifth": bakery(4, 5),
	"bakery-fifth-sixth":   bakery(5, 6),
	"sibling-ages": func(p params) float64 {
		for brother := 1; brother < 100; brother++ {
			if brother*p["r"]+p["t"]+brother+p["t"] == p["s"] {
				return float64(brother * p["r"])
			}
		}
		return math.NaN()
	},
	"coach-seats": func(p params) float64 {
		people, seats := p["c"]*p["n"]+p["t"], 0
		for seats < people {
			seats += p["s"]
		}
		return float64(seats - people)
	},
	"garden-path": func(p params) float64 {
		squares := 0
		for x := -p["w"]; x < p["a"]+p["w"]; x++ {
			for y := -p["w"]; y < p["b"]+p["w"]; y++ {
				if x < 0 || y < 0 || x >= p["a"] || y >= p["b"] {
					squares++
				}
			}
		}
		return float64(squares)
	},
	"fence-posts": func(p params) float64 {
		cost := 0
		for at := 0; at <= p["d"]; at += p["g"] {
			cost += p["c"]
		}
		return float64(cost)
	},
	"tiles": func(p params) float64 {
		tiles := 0
		for x := 0; x < p["a"]*100; x += p["s"] {
			for y := 0; y < p["b"]*100; y += p["s"] {
				tiles++
			}
		}
		boxes := 0
		for ; tiles > 0; tiles -= p["k"] {
			boxes++
		}
		return float64(boxes)
	},
	"legs": func(p params) float64 {
		for goats := range p["n"] + 1 {
			if 4*goats+2*(p["n"]-goats) == p["l"] {
				return float64(goats)
			}
		}
		return math.NaN()
	},
	"doubling-pond": func(p params) float64 {
		area := p["a"]
		for range p["k"] {
			area += area
		}
		return float64(area - p["r"])
	},
	"stacked-seats": func(p params) float64 {
		seats, row := 0, p["a"]
		for range p["r"] {
			seats += row
			row += p["d"]
		}
		return float64((seats - p["e"]) * p["c"])
	},
	"library-shelves": func(p params) float64 {
		last := 0
		for range p["n"] {
			if last == p["k"] {
				last = 0
			}
			last++
		}
		return float64(last)
	},
	"handshakes": func(p params) float64 {
		shakes := 0
		for a := range p["n"] {
			for b := range a {
				if a >= p["k"] || b >= p["k"] {
					shakes++
				}
			}
		}
		return float64(shakes)
	},
	"box-weight": func(p params) float64 {
		melon := float64(p["t"]-p["e"]) / float64(p["n"])
		return float64(p["e"]) + melon*float64(p["m"])
	},
}

func bakery(x, y float64) func(p params) float64 {
	return func(p params) float64 {
		rolls := float64(p["w"])
		rolls -= rolls / x
		rolls -= rolls / y
		return rolls - float64(p["h"])
	}
}

func TestMathsAnswersRecounted(t *testing.T) {
	for _, tpl := range templates() {
		recount := recounts[tpl.name]
		if recount == nil {
			t.Errorf("template %s has no recount", tpl.name)
			continue
		}
		r := rand.New(rand.NewPCG(7, 11))
		answers := map[string]bool{}
		for range 300 {
			p := tpl.draw(r)
			exact := tpl.solve(p)
			got, _ := exact.Float64()
			if want := recount(p); math.Abs(got-want) > 1e-6*math.Max(1, math.Abs(want)) {
				t.Fatalf("%s %v: formula gives %v, acting it out gives %v", tpl.name, p, got, want)
			}
			if got <= 0 && tpl.name != "night-temperature" {
				t.Fatalf("%s %v: answer %v is not positive", tpl.name, p, got)
			}
			answers[answer.Format(exact)] = true
		}
		if len(answers) < 20 {
			t.Errorf("%s: 300 draws give %d different answers; want 20 or more", tpl.name, len(answers))
		}
	}
}

var placeholder = regexp.MustCompile(`[{}]`)

func TestMathsSets(t *testing.T) {
	set := Maths(1, 4)
	if len(set) < 150 {
		t.Errorf("Maths(1, 4) has %d problems; want 150 or more", len(set))
	}
	ids, texts := map[string]bool{}, map[string]bool{}
	bands := map[int]int{}
	for _, p := range set {
		if ids[p.ID] || texts[p.Text] {
			t.Errorf("%s appears twice", p.ID)
		}
		ids[p.ID], texts[p.Text] = true, true
		bands[p.Band]++
		if placeholder.MatchString(p.Text) {
			t.Errorf("%s has an open placeholder: %s", p.ID, p.Text)
		}
		text := answer.Format(p.Answer)
		for _, reply := range []string{"Adding up, 3 and 4.\n#### " + text, `\boxed{` + text + `}`, "The answer is $" + text + ".", "so it is " + text} {
			if got, _ := answer.Extract(reply); got == nil || got.Cmp(p.Answer) != 0 {
				t.Errorf("%s: %q is not read as %s", p.ID, reply, text)
			}
		}
	}
	for band := 1; band <= 3; band++ {
		if bands[band] < 20 {
			t.Errorf("band %d has %d problems; want 20 or more", band, bands[band])
		}
	}
	if d := cmp.Diff(set, Maths(1, 4), cmp.Comparer(func(a, b *big.Rat) bool { return a.Cmp(b) == 0 })); d != "" {
		t.Errorf("the same seed gave another set:\n%s", d)
	}
	other := Maths(2, 4)
	same := 0
	for i := range set {
		if set[i].Text == other[i].Text {
			same++
		}
	}
	if same > len(set)/20 {
		t.Errorf("two seeds share %d of %d problems", same, len(set))
	}
}
