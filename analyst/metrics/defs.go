package metrics

// Def is the definition of one distribution over requests.
type Def struct {
	ID, Label, Unit string
	Of              func(*Row) (float64, bool)
}

// Defs are the per-request metrics in the order of a report.
func Defs() []Def {
	return []Def{
		{"ttft", "Time to first token", "ms", (*Row).TTFT},
		{"ttft_service", "Time to first token, from the send", "ms", (*Row).TTFTService},
		{"ttfo", "Time to first answer text", "ms", (*Row).TTFO},
		{"tpot", "Time per output token", "ms", (*Row).TPOT},
		{"e2e", "End-to-end latency", "ms", (*Row).E2EL},
		{"e2e_service", "End-to-end latency, from the send", "ms", (*Row).E2ELService},
		{"norm_latency", "Normalised latency", "ms/tok", (*Row).NormLatency},
		{"output_speed", "Output speed of one user", "tok/s", (*Row).OutputSpeed},
		{"send_lag", "Send lag", "ms", (*Row).SendLag},
		{"queue", "Wait inside the client", "ms", (*Row).Queue},
		{"tokens_per_chunk", "Tokens per chunk", "tokens", (*Row).TokensPerChunk},
		{"fluidity", "Fluidity: share of token deadlines met", "ratio", (*Row).Fluid},
		{"prompt_length", "Prompt length", "tokens", (*Row).PromptTokens},
		{"output_length", "Output length", "tokens", (*Row).OutputTokens},
	}
}
