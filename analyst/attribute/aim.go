package attribute

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// aims are the settings whose present value the engine tells under one of names, by cause,
// with the value to try. An ok of false leaves the advice in general words.
var aims = []struct {
	cause, verb string
	flags       []string // by which the advice is known
	names       []string
	target      func(now float64, f *Facts) (float64, bool)
}{
	{Cap, "Raise", []string{"--max-num-seqs", "--max-running-requests", "--parallel"}, []string{"max_num_seqs", "max_running_requests", "total_slots", "parallel", "n_parallel"},
		func(now float64, _ *Facts) (float64, bool) { return 2 * now, now >= 1 }},
	{KV, "Lower", []string{"--max-num-seqs", "--max-running-requests", "--parallel"}, []string{"max_num_seqs", "max_running_requests", "total_slots", "parallel", "n_parallel"},
		func(now float64, f *Facts) (float64, bool) {
			to := float64(int(0.8 * f.Running.V)) // what fits is less than what ran and was preempted
			return to, f.Running.OK && to >= 1 && to < now
		}},
	{KV, "Raise", []string{"--gpu-memory-utilization", "--mem-fraction-static"}, []string{"gpu_memory_utilization", "mem_fraction_static"},
		func(now float64, _ *Facts) (float64, bool) { return 0.95, now > 0 && now < 0.95 }},
	{Interference, "Lower", []string{"--max-num-batched-tokens", "--chunked-prefill-size", "--ubatch-size"}, []string{"max_num_batched_tokens", "chunked_prefill_size", "n_ubatch", "ubatch_size"},
		func(now float64, _ *Facts) (float64, bool) {
			if now > 2048 {
				return 2048, true
			}
			return float64(int(now / 2)), now >= 512
		}},
}

// aim gives a change the value that the setting has and the one to try.
func (c *change) aim(cause string, f *Facts) {
	flag, _, _ := strings.Cut(c.knob, " ")
	for _, a := range aims {
		if a.cause != cause || !slices.Contains(a.flags, flag) {
			continue
		}
		for _, n := range a.names {
			now, err := strconv.ParseFloat(f.Settings[n], 64)
			if err != nil {
				continue
			}
			to, ok := a.target(now, f)
			if !ok {
				return
			}
			c.from, c.to = number(now), number(to)
			c.action = fmt.Sprintf("%s %s from %s to %s.", a.verb, flag, c.from, c.to)
			c.knob = flag
			return
		}
	}
}

func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
