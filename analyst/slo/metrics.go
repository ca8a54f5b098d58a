package slo

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// dimension is what a number measures. Values are in the dimension's base unit.
type dimension int

const (
	number  dimension = iota // a count or a quotient
	seconds                  // a time; base unit second
	ratio                    // a share between 0 and 1
	rate                     // something per second
)

// String names the dimension in an error.
func (d dimension) String() string {
	return [...]string{"a number", "a time", "a ratio", "a rate per second"}[d]
}

// metric is one entry of the vocabulary.
type metric struct {
	name string
	dim  dimension
	// dist says that it has a distribution, so that a statistic follows its name.
	dist bool
	// single says that one request has one value of it, so that a bare name is a limit on
	// each request.
	single bool
}

// vocabulary is the metrics that an expression may name: the ids of package analyst.
func vocabulary() []metric {
	return []metric{
		{"ttft", seconds, true, true}, {"ttft_service", seconds, true, true}, {"ttfo", seconds, true, true},
		{"tpot", seconds, true, true}, {"e2e", seconds, true, true}, {"e2e_service", seconds, true, true},
		{"norm_latency", seconds, true, true}, {"send_lag", seconds, true, true}, {"queue", seconds, true, true},
		{"itl", seconds, true, false}, {"icl", seconds, true, false},
		{"output_speed", rate, true, true}, {"tokens_per_chunk", number, true, false},
		{"prompt_length", number, true, false}, {"output_length", number, true, false},
		{"duration", seconds, false, false}, {"requests_ok", number, false, false}, {"requests_failed", number, false, false},
		{"input_tokens", number, false, false}, {"cached_tokens", number, false, false}, {"output_tokens", number, false, false},
		{"request_rate", rate, false, false}, {"output_rate", rate, false, false}, {"input_rate", rate, false, false},
		{"cached_rate", rate, false, false}, {"total_rate", rate, false, false}, {"goodput", rate, false, false},
		{"attainment", ratio, false, false}, {"error_rate", ratio, false, false},
		{"effective_concurrency", number, false, false}, {"peak_concurrency", number, false, false},
	}
}

// alias maps the names of other tools to ours.
func alias(name string) string {
	switch name {
	case "e2el", "latency", "e2e_latency", "request_latency":
		return "e2e"
	case "time_to_first_token":
		return "ttft"
	case "time_per_output_token":
		return "tpot"
	case "inter_token_latency":
		return "itl"
	case "ntpot", "normalized_latency":
		return "norm_latency"
	case "request_goodput":
		return "goodput"
	case "request_throughput":
		return "request_rate"
	case "output_throughput":
		return "output_rate"
	}
	return name
}

// reference is a name in an expression, resolved.
type reference struct {
	metric
	stat     string  // "p99", "mean", …; "" for a bare name
	quantile float64 // of a percentile; 0 for anything else
}

// key is the reference's name in an [Env].
func (r reference) key() string {
	if r.stat == "" {
		return r.name
	}
	return r.name + "_" + r.stat
}

// perRequest reports a bare name that limits each request.
func (r reference) perRequest() bool { return r.dist && r.stat == "" }

// resolve finds the metric and the statistic that a name stands for. The error says what
// could have been meant.
func resolve(name string) (reference, error) {
	words := vocabulary()
	find := func(name string) int {
		return slices.IndexFunc(words, func(m metric) bool { return m.name == alias(name) })
	}
	if i := find(name); i >= 0 {
		r := reference{metric: words[i]}
		if r.dist && !r.single {
			return r, fmt.Errorf("%s has no single value for a request; name a statistic, such as %s_p99", name, name)
		}
		return r, nil
	}
	// The longest metric that is a prefix, so that ttft_service_p99 is not ttft.
	best, stat := metric{}, ""
	for cut := strings.LastIndexByte(name, '_'); cut > 0 && best.name == ""; cut = strings.LastIndexByte(name[:cut], '_') {
		if i := find(name[:cut]); i >= 0 {
			best, stat = words[i], name[cut+1:]
		}
	}
	if best.name == "" {
		return reference{}, fmt.Errorf("%q is not a metric%s", name, suggestion(name, words))
	}
	if !best.dist {
		return reference{}, fmt.Errorf("%s is one number and has no statistic %q", best.name, stat)
	}
	r := reference{metric: best, stat: stat}
	switch stat {
	case "median":
		r.stat, r.quantile = "p50", 0.5
	case "mean", "std", "min", "max":
	default:
		q, ok := percentile(stat)
		if !ok {
			return reference{}, fmt.Errorf("%q is not a statistic of %s; use mean, std, min, max, median, p50, p99 or p999", stat, best.name)
		}
		r.quantile = q
	}
	return r, nil
}

// percentile reads p50, p5, p99, p999 (99.9 %), p99_9 and so on.
func percentile(stat string) (float64, bool) {
	digits, ok := strings.CutPrefix(stat, "p")
	digits = strings.ReplaceAll(digits, "_", "")
	if !ok || digits == "" || len(digits) > 6 || strings.Trim(digits, "0123456789") != "" {
		return 0, false
	}
	if len(digits) == 1 {
		digits = "0" + digits
	}
	q, err := strconv.ParseFloat("0."+digits, 64)
	return q, err == nil && q > 0
}

// suggestion names a metric that shares the beginning of name.
func suggestion(name string, words []metric) string {
	for n := len(name); n >= 3; n-- {
		for _, m := range words {
			if strings.HasPrefix(m.name, name[:n]) {
				return fmt.Sprintf("; did you mean %s?", m.name)
			}
		}
	}
	return "; such as ttft_p99, tpot_mean, e2e_p95, error_rate or goodput"
}
