package integrity

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/inferencebench/inferencebench/analyst/roofline"
	"github.com/inferencebench/inferencebench/tuner/space"
)

// physics asks whether one stream alone is faster than memory and arithmetic allow:
// a token reads every weight once, TPOT ≥ B_w/BW, and new prompts of n tokens in all take
// F(n)/F_peak at least.
func (c *Check) physics(s *sides) finding {
	const (
		maxMBU = 1.05
		maxMFU = 1.0
	)
	if c.c.Setup == nil {
		return unknown("device and model's shape are not known, so it is open whether the speed is possible")
	}
	setup, ok := c.c.Setup(s.config)
	usual, ok2 := c.c.Setup(s.baseConfig)
	if !ok || !ok2 {
		return unknown("device and model's shape are not known, so it is open whether the speed is possible")
	}
	mbu, mfu := used(setup, s.head)
	if b, f := used(usual, s.base); b > maxMBU || f > maxMFU {
		return unknown("the default itself would need %.0f %% of the memory bandwidth and %.0f %% of the arithmetic of a %s: device or model are not those that were named", 100*b, 100*f, usual.Device.Name)
	}
	switch {
	case mbu == 0 && mfu == 0:
		return unknown("nothing could be timed")
	case mbu > maxMBU || mfu > maxMFU:
		return fail("one stream alone would need %.0f %% of the memory bandwidth, and new prompts %.0f %% of the arithmetic of a %s: that cannot be", 100*mbu, 100*mfu, setup.Device.Name)
	}
	return pass("one stream alone takes %.0f %% of the memory bandwidth, and new prompts %.0f %% of the arithmetic", 100*mbu, 100*mfu)
}

// used is the largest share of bandwidth and arithmetic that sightings would need.
func used(setup roofline.Setup, ws []Sighting) (mbu, mfu float64) {
	for _, w := range ws {
		if t := w.Speed.TPOT; t > 0 {
			mbu = max(mbu, setup.Model.StepBytes(1)/(t*setup.Bandwidth()))
		}
		if t := w.Speed.Burst; t > 0 {
			each := float64(w.Speed.Prompt) / float64(max(w.Speed.Prompts, 1))
			mfu = max(mfu, float64(w.Speed.Prompts)*setup.Model.PrefillFLOPs(each, 0)/(t*setup.Peak()))
		}
	}
	return mbu, mfu
}

// Lenient returns a CheckConfig.Setup for a server whose default runs as base: the most
// favourable reading of an assignment's knobs, so that what exceeds it exceeds everything.
// Weights in an unknown format count as half a byte, drafted tokens as all accepted, 16 of
// them where their number is not told, and parallel devices add up.
func Lenient(base roofline.Setup) func(space.Assignment) (roofline.Setup, bool) {
	return func(a space.Assignment) (roofline.Setup, bool) {
		s := base
		tokens := 1 // of one step
		for knob, v := range a {
			k := strings.ToLower(knob)
			switch {
			case strings.Contains(k, "quant"), strings.Contains(k, "dtype") && !strings.Contains(k, "kv"), strings.Contains(k, "load-format"):
				w, ok := roofline.DTypeBytes(strings.ToLower(v))
				if !ok {
					w = 0.5
				}
				if stored := s.Model.WeightBytes; v != "" && v != "none" && v != "auto" && (stored == 0 || w < stored) {
					s.Model.WeightBytes, s.Model.FileBytes = w, 0
					s.Device.BF16 = max(s.Device.BF16, s.Device.FP8, s.Device.Int8)
				}
			case strings.Contains(k, "spec"), strings.Contains(k, "draft"):
				tokens = max(tokens, drafted(v)+1)
			case strings.Contains(k, "parallel"), k == "--tp", k == "--tp-size", k == "-tp":
				if n, err := strconv.Atoi(v); err == nil && n > 0 && n <= 1024 {
					s.TP = max(s.TP, n)
				}
			}
		}
		s.Device.BW *= float64(tokens)
		return s, s.Device.BW > 0 && s.Model.Validate() == nil
	}
}

// drafted is the number of tokens that a setting of speculative decoding drafts: a number,
// or num_speculative_tokens of an object; else 16.
func drafted(v string) int {
	const most = 16
	if n, err := strconv.Atoi(v); err == nil && n >= 0 && n < 1024 {
		return n
	}
	var o struct {
		N *int `json:"num_speculative_tokens"`
	}
	if json.Unmarshal([]byte(v), &o) == nil && o.N != nil && *o.N >= 0 && *o.N < 1024 {
		return *o.N
	}
	return most
}
