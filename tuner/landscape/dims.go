package landscape

import (
	"slices"
	"strconv"

	"github.com/inferencebench/inferencebench/tuner/space"
)

// ordered is a knob with numbers in order; unset is what the server has, which takes its
// place among them.
func ordered(name string, unset float64, values ...float64) space.Dim {
	d := space.Dim{Name: name, Ordered: true, Unset: number(unset)}
	values = append(slices.Clone(values), unset)
	slices.Sort(values)
	for _, v := range slices.Compact(values) {
		if v == unset {
			d.Values = append(d.Values, "")
		} else {
			d.Values = append(d.Values, number(v))
		}
	}
	return d
}

// choice is a knob with names; unset comes first.
func choice(name, unset string, values ...string) space.Dim {
	return space.Dim{Name: name, Unset: unset, Values: append([]string{""}, values...)}
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// The knobs that several landscapes share. The unset values of the first three depend on the
// device.
func seqs(unset float64, values ...float64) space.Dim {
	return ordered("--max-num-seqs", unset, values...)
}

func tokens(unset float64, values ...float64) space.Dim {
	return ordered("--max-num-batched-tokens", unset, values...)
}

func memory(values ...float64) space.Dim {
	return ordered("--gpu-memory-utilization", 0.92, values...)
}

func chunk(values ...float64) space.Dim {
	return ordered("--long-prefill-token-threshold", 0, values...)
}

func block() space.Dim  { return ordered("--block-size", 16, 32, 64) }
func kvType() space.Dim { return choice("--kv-cache-dtype", "auto", "fp8") }
func weights(values ...string) space.Dim {
	return choice("--quantization", "none", values...)
}

// The default of these servers schedules in step with the GPU.
func async() space.Dim  { return choice("--async-scheduling", "false", "true") }
func prefix() space.Dim { return choice("--enable-prefix-caching", "true", "false") }
func eager() space.Dim  { return choice("--enforce-eager", "false", "true") }

func servers() space.Dim { return ordered("--api-server-count", 1, 2, 4) }

// draft is speculative decoding by looking n-grams up or with a small head; the acceptance
// of drafts is the workload's, see acceptance.
func draft(tokens ...int) space.Dim {
	d := space.Dim{Name: "--speculative-config", Values: []string{""}}
	for _, k := range tokens {
		d.Values = append(d.Values, draftOf(k))
	}
	return d
}

// Knobs that the simulator does not know.
func backend() space.Dim {
	return choice("--attention-backend", "auto", "FLASH_ATTN", "FLASHINFER", "TRITON_ATTN")
}
func level() space.Dim    { return ordered("--optimization-level", 2, 0, 1, 3) }
func interval() space.Dim { return ordered("--stream-interval", 1, 4, 10) }
func mode() space.Dim {
	return choice("--performance-mode", "balanced", "interactivity", "throughput")
}
func dtype() space.Dim  { return choice("--dtype", "auto", "float16") }
func reduce() space.Dim { return choice("--disable-custom-all-reduce", "false", "true") }
func expert() space.Dim { return choice("--enable-expert-parallel", "false", "true") }

// draftOf is the value of the draft knob with so many tokens.
func draftOf(tokens int) string {
	return `{"method":"eagle3","num_speculative_tokens":` + strconv.Itoa(tokens) + `}`
}
