package sim

import "math"

// allReduce is the time of one all-reduce by message size, for one link and group size.
type allReduce struct {
	us    []float64 // at the sizes of arBytes, µs
	scale float64
}

// arBytes are the message sizes of the measured points.
var arBytes = []float64{16 << 10, 1 << 20, 16 << 20, 128 << 20}

// arTable is measured times in µs of captured all-reduces, by link and group size. Where a
// size was not measured it is continued at the bandwidth of the last step.
var arTable = map[string]map[int][]float64{
	"h100": {2: {4.5, 8, 81, 469}, 4: {4.8, 13, 99, 619}, 8: {5.3, 15, 92, 577}},
	"a100": {2: {5.3, 13, 126, 820}, 4: {6.0, 18, 183, 1190}, 8: {6.5, 22, 214, 1390}},
	"pcie": {2: {6, 60, 892, 7136}, 4: {18, 361, 6676, 53408}, 8: {27, 583, 15806, 126448}},
}

// newAllReduce returns nil for a single GPU: nil costs nothing.
func newAllReduce(link string, tp int) *allReduce {
	if tp <= 1 {
		return nil
	}
	scale := 1.0
	if link == "b200" { // the same protocol over twice the bandwidth
		link, scale = "h100", 0.5
	}
	byTP, ok := arTable[link]
	if !ok {
		byTP = arTable["pcie"]
	}
	group := 2
	for group < tp && group < 8 {
		group *= 2
	}
	return &allReduce{us: byTP[group], scale: scale}
}

// seconds interpolates between the measured sizes in log-log space.
func (a *allReduce) seconds(bytes float64) float64 {
	if a == nil {
		return 0
	}
	last := len(arBytes) - 1
	us := a.us[0]
	switch {
	case bytes <= arBytes[0]:
	case bytes >= arBytes[last]:
		us = a.us[last] * bytes / arBytes[last]
	default:
		i := 0
		for bytes > arBytes[i+1] {
			i++
		}
		f := math.Log(bytes/arBytes[i]) / math.Log(arBytes[i+1]/arBytes[i])
		us = a.us[i] * math.Pow(a.us[i+1]/a.us[i], f)
	}
	if bytes > arBytes[1] { // the small sizes are latency, which more bandwidth does not cut
		us *= a.scale
	}
	return us * 1e-6
}
