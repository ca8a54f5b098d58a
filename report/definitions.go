package report

import (
	"bytes"
	"encoding/json"
)

// definition is one entry of the page's glossary.
type definition struct{ Name, Text string }

// terms are the definitions of archive.Definitions in words.
func terms() []definition {
	return []definition{
		{"TTFT", "Time to first token: from the intended send time to the first token of any channel. Measured from the intended time, so a client that sends late cannot hide a wait."},
		{"TTFT (service)", "The same from the moment the first request byte was written: what other tools report."},
		{"TPOT", "Time per output token: (last token − first token) / (output tokens − 1), one value a request with two tokens or more. A request of one token has none."},
		{"ICL", "Inter-chunk latency: the gaps between token-bearing chunks of one stream, pooled over requests. A chunk can carry several tokens."},
		{"ITL", "Inter-token latency: given only where the server says how many tokens each chunk carries."},
		{"E2EL", "End-to-end latency: from the intended send time to the last token."},
		{"Throughput", "Events inside the measured window divided by its length: requests completed, output tokens, input tokens."},
		{"Goodput", "Requests a second that met every objective, over all requests that were meant to be sent: failures, timeouts and unsent requests miss."},
		{"Send lag", "Write of the first byte − intended time: the client's own lateness."},
		{"Population", "Latencies cover successful requests of the measured load. Warm-up, checkpoints, probes, failed and cancelled requests are counted, not mixed in."},
		{"Interval", "The 95 % confidence interval. A percentile that the sample is too small to support is withheld, with the number of values it needs."},
	}
}

// configText is the campaign as resolved, indented.
func configText(raw json.RawMessage) string {
	if len(raw) == 0 {
		return ""
	}
	var b bytes.Buffer
	if err := json.Indent(&b, raw, "", "  "); err != nil {
		return string(raw)
	}
	return b.String()
}
