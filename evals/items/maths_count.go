package items

import "math/big"

// templatesCount are problems about counting, ages, areas and remainders.
func templatesCount() []template {
	return []template{
		{"sibling-ages", 2, "{who} is {r} times as old as a younger brother. In {t} years the sum of their ages will be {s}. How old is {who} now?",
			spans(in("r", 2, 5), in("t", 3, 9), in("s", 30, 90)),
			func(p params) bool {
				sum := p["s"] - 2*p["t"]
				return sum > 0 && sum%(p["r"]+1) == 0 && sum/(p["r"]+1) >= 3
			},
			always(func(p params) int { return p["r"] * (p["s"] - 2*p["t"]) / (p["r"] + 1) })},
		{"coach-seats", 3, "A school takes {c} classes of {n} pupils and {t} teachers on a trip. Each coach has {s} seats and the school hires as few coaches as possible. How many seats stay empty?",
			spans(in("c", 3, 7), in("n", 21, 32), in("t", 6, 14), in("s", 45, 57)),
			func(p params) bool { return (p["c"]*p["n"]+p["t"])%p["s"] != 0 },
			always(func(p params) int { return p["s"] - (p["c"]*p["n"]+p["t"])%p["s"] })},
		{"garden-path", 3, "A rectangular lawn is {a} metres long and {b} metres wide. A path {w} metres wide runs all the way round the outside of it. How many square metres does the path cover?",
			spans(in("a", 12, 40), in("b", 6, 30), in("w", 1, 4)),
			func(p params) bool { return p["a"] > p["b"] },
			always(func(p params) int { return (p["a"]+2*p["w"])*(p["b"]+2*p["w"]) - p["a"]*p["b"] })},
		{"fence-posts", 3, "A straight fence {d} metres long has a post at each end and a post every {g} metres. Each post costs ${c}. How many dollars do all the posts cost?",
			spans(in("d", 40, 240), in("g", 2, 8), in("c", 6, 20)),
			func(p params) bool { return p["d"]%p["g"] == 0 },
			always(func(p params) int { return (p["d"]/p["g"] + 1) * p["c"] })},
		{"tiles", 2, "A floor of {a} metres by {b} metres is covered with square tiles of {s} centimetres by {s} centimetres. Tiles come in boxes of {k}. How many boxes must be bought?",
			spans(in("a", 3, 9), in("b", 2, 8), by("s", 20, 50, 5), in("k", 9, 18)),
			func(p params) bool {
				return p["a"]*100%p["s"] == 0 && p["b"]*100%p["s"] == 0
			},
			always(func(p params) int {
				n := (p["a"] * 100 / p["s"]) * (p["b"] * 100 / p["s"])
				return (n + p["k"] - 1) / p["k"]
			})},
		{"legs", 2, "A farmer keeps hens and goats, {n} animals in all, and the animals have {l} legs together. How many goats are there?",
			spans(in("n", 14, 60), by("l", 40, 200, 2)),
			func(p params) bool { return p["l"] > 2*p["n"]+4 && p["l"] < 4*p["n"]-4 },
			always(func(p params) int { return (p["l"] - 2*p["n"]) / 2 })},
		{"doubling-pond", 2, "Water lilies cover {a} square metres of a pond, and the covered area doubles every week. After {k} weeks a gardener removes {r} square metres of lilies. How many square metres are covered then?",
			spans(in("a", 2, 9), in("k", 3, 6), in("r", 5, 60)),
			func(p params) bool { return p["a"]<<p["k"] > p["r"] },
			always(func(p params) int { return p["a"]<<p["k"] - p["r"] })},
		{"stacked-seats", 2, "A theatre has {r} rows. The first row has {a} seats and every following row has {d} seats more than the row before it. All but {e} seats are sold at ${c} each. How many dollars does the theatre take?",
			spans(in("r", 6, 12), in("a", 10, 24), in("d", 1, 4), in("e", 3, 20), in("c", 5, 15)), nil,
			always(func(p params) int {
				return (p["r"]*p["a"] + p["d"]*p["r"]*(p["r"]-1)/2 - p["e"]) * p["c"]
			})},
		{"library-shelves", 1, "A library moves {n} books onto shelves that hold {k} books each and fills every shelf before it starts the next. How many books stand on the last shelf?",
			spans(in("n", 150, 900), in("k", 16, 40)),
			func(p params) bool { return p["n"]%p["k"] != 0 },
			always(func(p params) int { return p["n"] % p["k"] })},
		{"handshakes", 2, "At a meeting of {n} people everybody shakes hands once with everybody else, except that {k} of them, who came together, do not shake hands among themselves. How many handshakes are there?",
			spans(in("n", 9, 24), in("k", 2, 5)), nil,
			always(func(p params) int { return p["n"]*(p["n"]-1)/2 - p["k"]*(p["k"]-1)/2 })},
		{"box-weight", 1, "An empty crate weighs {e} kilograms. Filled with {n} equal melons it weighs {t} kilograms. How many kilograms does the crate weigh with {m} such melons in it?",
			spans(in("e", 2, 6), in("n", 4, 10), in("t", 14, 60), in("m", 11, 18)),
			func(p params) bool { return p["t"] > p["e"]+p["n"] && (p["t"]-p["e"])*2%p["n"] == 0 },
			func(p params) *big.Rat { return ratio(p["e"]*p["n"]+(p["t"]-p["e"])*p["m"], p["n"]) }},
	}
}
