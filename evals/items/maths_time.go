package items

import "math/big"

// templatesTime are problems about rates, durations and speeds.
func templatesTime() []template {
	return []template{
		{"ferry-queue", 2, "A ferry takes {c} cars on every crossing and makes {n} crossings before noon. When the first boat leaves, {q} cars are already waiting, and {r} more cars join the queue before noon. If every boat leaves full, how many cars are still waiting at noon?",
			spans(in("c", 10, 28), in("n", 3, 6), in("q", 60, 150), in("r", 20, 90)),
			func(p params) bool { return p["q"]+p["r"] > p["c"]*p["n"] },
			always(func(p params) int { return p["q"] + p["r"] - p["c"]*p["n"] })},
		{"leaky-tank", 2, "A pump adds {i} litres of water to an empty tank every minute, but a crack lets {o} litres out every minute. After {t} minutes the crack is sealed and the pump runs for another {v} minutes. How many litres are in the tank then?",
			spans(in("i", 25, 60), in("o", 4, 15), in("t", 10, 40), in("v", 5, 25)), nil,
			always(func(p params) int { return (p["i"]-p["o"])*p["t"] + p["i"]*p["v"] })},
		{"relay", 2, "In a relay, each of {n} runners covers {m} metres. The first runner takes {t} seconds, and every later runner is {g} seconds faster than the one before. How many seconds does the whole relay take?",
			spans(in("n", 4, 7), by("m", 200, 400, 50), in("t", 60, 90), in("g", 1, 5)), nil,
			always(func(p params) int { return p["n"]*p["t"] - p["g"]*p["n"]*(p["n"]-1)/2 })},
		{"train-meeting", 3, "Two trains leave towns that are {d} kilometres apart at the same moment and travel towards each other. One goes at {a} kilometres an hour and the other at {b} kilometres an hour. How many kilometres has the first train travelled when they meet?",
			spans(by("d", 120, 600, 20), by("a", 40, 110, 10), by("b", 50, 120, 10)),
			func(p params) bool { return p["a"] != p["b"] && p["d"]*p["a"]%(p["a"]+p["b"]) == 0 },
			always(func(p params) int { return p["d"] * p["a"] / (p["a"] + p["b"]) })},
		{"reading-plan", 1, "A novel has {n} pages. {who} reads {a} pages a day for {d} days and wants to finish the rest in {e} more days, reading the same number of pages each day. How many pages a day is that?",
			spans(in("n", 180, 520), in("a", 12, 30), in("d", 4, 9), in("e", 3, 9)),
			func(p params) bool { left := p["n"] - p["a"]*p["d"]; return left > 0 && left%p["e"] == 0 },
			always(func(p params) int { return (p["n"] - p["a"]*p["d"]) / p["e"] })},
		{"two-printers", 3, "One machine makes {a} labels a minute and a second makes {b} labels a minute. The first runs alone for {t} minutes, and then both run until {n} labels are made in all. For how many minutes does the second machine run?",
			spans(in("a", 12, 40), in("b", 15, 50), in("t", 5, 20), by("n", 600, 2400, 20)),
			func(p params) bool {
				left := p["n"] - p["a"]*p["t"]
				return left > 0 && left%(p["a"]+p["b"]) == 0
			},
			always(func(p params) int { return (p["n"] - p["a"]*p["t"]) / (p["a"] + p["b"]) })},
		{"shift-pay", 2, "{who} works from {s}:00 to {e}:00 with an unpaid break of {b} minutes and earns ${w} an hour. How many dollars does {who} earn in {d} such days?",
			spans(in("s", 6, 10), in("e", 15, 20), by("b", 30, 60, 15), by("w", 12, 28, 4), in("d", 3, 6)), nil,
			func(p params) *big.Rat { return ratio(((p["e"]-p["s"])*60-p["b"])*p["w"]*p["d"], 60) }},
		{"night-temperature", 2, "At noon the temperature in a mountain hut is {a} degrees Celsius. It drops by {d} degrees every hour for {h} hours and then rises by {u} degrees before sunrise. What is the temperature at sunrise, in degrees Celsius? Use a minus sign if it is below zero.",
			spans(in("a", 4, 17), in("d", 2, 6), in("h", 5, 11), in("u", 1, 7)),
			func(p params) bool { return p["a"]-p["d"]*p["h"]+p["u"] < 0 },
			always(func(p params) int { return p["a"] - p["d"]*p["h"] + p["u"] })},
		{"cyclist-average", 3, "{who} cycles {a} kilometres at {x} kilometres an hour and then {b} kilometres at {y} kilometres an hour. What is the average speed of the whole ride in kilometres an hour?",
			spans(by("a", 20, 90, 10), by("x", 10, 30, 5), by("b", 20, 90, 10), by("y", 10, 30, 5)),
			func(p params) bool {
				top, bottom := (p["a"]+p["b"])*p["x"]*p["y"], p["a"]*p["y"]+p["b"]*p["x"]
				return p["x"] != p["y"] && top*2%bottom == 0 && (p["x"]+p["y"])*bottom != 2*top
			},
			func(p params) *big.Rat {
				return ratio((p["a"]+p["b"])*p["x"]*p["y"], p["a"]*p["y"]+p["b"]*p["x"])
			}},
		{"candle-race", 2, "Two candles are lit together. The first is {a} millimetres tall and burns {x} millimetres an hour; the second is {b} millimetres tall and burns {y} millimetres an hour. After how many hours are they equally tall?",
			spans(in("a", 200, 420), in("x", 14, 30), in("b", 120, 199), in("y", 4, 12)),
			func(p params) bool {
				d := p["a"] - p["b"]
				t := d / (p["x"] - p["y"])
				return d%(p["x"]-p["y"]) == 0 && p["a"] > p["x"]*t && t > 1
			},
			always(func(p params) int { return (p["a"] - p["b"]) / (p["x"] - p["y"]) })},
		{"bus-timetable", 3, "Buses leave a stop every {k} minutes, the first one at {h}:00. {who} reaches the stop {m} minutes after {h}:00 and takes the next bus, whose ride lasts {r} minutes. How many minutes pass between reaching the stop and the end of the ride?",
			spans(in("k", 7, 18), in("h", 6, 11), in("m", 20, 170), in("r", 12, 55)),
			func(p params) bool { return p["m"]%p["k"] != 0 },
			always(func(p params) int { return p["k"] - p["m"]%p["k"] + p["r"] })},
	}
}
