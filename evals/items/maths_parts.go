package items

import "math/big"

var fractionWords = map[int]string{3: "third", 4: "quarter", 5: "fifth", 6: "sixth"}

// templatesParts are problems about fractions, percentages and shares.
func templatesParts() []template {
	all := []template{
		{"reservoir-percent", 2, "A reservoir holds {w} cubic metres of water. During a dry month the volume falls by {p}%, and during the following wet month it rises by {q}% of what was left. How many cubic metres does the reservoir hold after the wet month?",
			spans(by("w", 20000, 90000, 2000), by("p", 10, 40, 5), by("q", 10, 50, 5)),
			func(p params) bool { return p["p"] != p["q"] },
			func(p params) *big.Rat { return ratio(p["w"]*(100-p["p"])*(100+p["q"]), 10000) }},
		{"class-share", 1, "A school has {n} pupils. {p}% of them play an instrument, and {q}% of those play in the orchestra. How many pupils play in the orchestra?",
			spans(by("n", 200, 1200, 20), by("p", 20, 60, 5), by("q", 10, 60, 10)),
			func(p params) bool { return p["n"]*p["p"]*p["q"]%10000 == 0 },
			always(func(p params) int { return p["n"] * p["p"] * p["q"] / 10000 })},
		{"mixture", 3, "A gardener mixes {a} litres of a liquid that is {x}% fertiliser with {b} litres of one that is {y}% fertiliser. How many per cent of the mixture is fertiliser?",
			spans(in("a", 4, 20), by("x", 10, 40, 2), in("b", 4, 20), by("y", 42, 80, 2)),
			func(p params) bool { return (p["a"]*p["x"]+p["b"]*p["y"])%(p["a"]+p["b"]) == 0 && p["a"] != p["b"] },
			always(func(p params) int { return (p["a"]*p["x"] + p["b"]*p["y"]) / (p["a"] + p["b"]) })},
		{"inheritance", 2, "Three cousins share ${n} in the ratio {a} to {b} to {c}. How many dollars more does the cousin with the largest share get than the one with the smallest?",
			spans(by("n", 600, 4800, 60), in("a", 1, 3), in("b", 4, 6), in("c", 7, 9)),
			func(p params) bool { return p["n"]%(p["a"]+p["b"]+p["c"]) == 0 },
			always(func(p params) int { return p["n"] / (p["a"] + p["b"] + p["c"]) * (p["c"] - p["a"]) })},
		{"battery-drain", 2, "A phone is charged to {s}%. Every hour of film uses {f}% and every hour of music uses {m}%. {who} watches {x} hours of film and then listens to music until {l}% is left. How many hours of music is that?",
			spans(in("s", 80, 100), in("f", 11, 18), in("m", 2, 5), in("x", 2, 4), in("l", 5, 15)),
			func(p params) bool {
				left := p["s"] - p["f"]*p["x"] - p["l"]
				return left > 0 && left%p["m"] == 0
			},
			always(func(p params) int { return (p["s"] - p["f"]*p["x"] - p["l"]) / p["m"] })},
		{"recipe-scale", 1, "A soup for {a} people needs {g} grams of lentils. {who} cooks for {b} people and already has {h} grams. How many more grams of lentils are needed?",
			spans(in("a", 3, 8), by("g", 240, 720, 20), in("b", 9, 24), by("h", 50, 400, 10)),
			func(p params) bool {
				return p["g"]*p["b"]%p["a"] == 0 && p["g"]*p["b"]/p["a"] > p["h"] && p["b"] != p["a"]
			},
			always(func(p params) int { return p["g"]*p["b"]/p["a"] - p["h"] })},
		{"price-before", 3, "After a rise of {p}% a season ticket costs ${n}. A year before the rise the ticket had been ${d} cheaper than just before the rise. How many dollars did it cost in that earlier year?",
			spans(by("p", 5, 60, 5), by("n", 63, 480, 1), in("d", 4, 30)),
			func(p params) bool { return p["n"]*100%(100+p["p"]) == 0 && p["n"]*100/(100+p["p"]) > p["d"] },
			always(func(p params) int { return p["n"]*100/(100+p["p"]) - p["d"] })},
		{"mean-target", 3, "{who} has an average of {m} points over the first {k} tests. How many points are needed in the next test to bring the average over all tests to {g}?",
			spans(in("m", 55, 80), in("k", 3, 7), in("g", 60, 90)),
			func(p params) bool {
				need := p["g"]*(p["k"]+1) - p["m"]*p["k"]
				return p["g"] > p["m"] && need <= 100
			},
			always(func(p params) int { return p["g"]*(p["k"]+1) - p["m"]*p["k"] })},
	}
	// The words for the fractions cannot be drawn like numbers: one template a pair.
	for _, f := range [][2]int{{3, 4}, {4, 5}, {5, 6}} {
		x, y := f[0], f[1]
		all = append(all, template{"bakery-" + fractionWords[x] + "-" + fractionWords[y], 2,
			"A baker makes {w} rolls. One " + fractionWords[x] + " of them go to the school, and one " + fractionWords[y] + " of what is left goes to the market. The baker gives {h} of the remaining rolls to a helper and keeps the rest. How many rolls does the baker keep?",
			spans(by("w", 120, 960, 60), in("h", 5, 25)),
			func(p params) bool { w := p["w"]; return w%x == 0 && (w-w/x)%y == 0 },
			always(func(p params) int { left := p["w"] - p["w"]/x; return left - left/y - p["h"] })})
	}
	return all
}
