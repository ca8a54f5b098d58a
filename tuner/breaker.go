package tuner

import "github.com/inferencebench/inferencebench/tuner/space"

// breakerRest is for how many trials a value that crashed is left alone before it may be
// tried once more.
const breakerRest = 10

// Tripped reports whether the circuit breaker keeps an assignment from being launched, and
// by which knob's value. A value trips when its last limit trials all ended in a crash or
// never became ready, and stays so for ten trials; then one more is let through.
func Tripped(history []Trial, a space.Assignment, limit int) (value string, tripped bool) {
	for knob, v := range a {
		bad, last := 0, 0
		for i := range history {
			t := &history[i]
			if t.Config[knob] != v {
				continue
			}
			switch t.Outcome {
			case Crash, StartTimeout:
				bad, last = bad+1, i
			default:
				bad = 0
			}
		}
		if name := knob + "=" + v; bad >= limit && len(history)-last <= breakerRest && (value == "" || name < value) {
			value, tripped = name, true
		}
	}
	return value, tripped
}
