// Package trace reads public request traces and turns them into load: who asked when,
// with how long a prompt and how long an answer, and which prefixes were shared.
//
// Formats, told apart by their columns or keys:
//
//	azure      CSV TIMESTAMP, ContextTokens, GeneratedTokens (2023, 2024; 2025 has NumImages too)
//	burstgpt   CSV Timestamp, Model, Request tokens, Response tokens, … columns by name
//	etalon     CSV num_prefill_tokens, num_decode_tokens: lengths without times
//	mooncake   JSONL timestamp (ms), input_length, output_length, hash_ids of 512 tokens
//	bailian    JSONL as mooncake with chat_id, parent_chat_id, turn, type; blocks of 16 tokens
//	ghcp       JSONL, one coding-agent session a line, with turns, model calls and tool batches
//	native     JSONL t_ms, session_id, turn, input_tokens, output_tokens, …
//	servegen   CSV windows of rate and burstiness; see [ReadServeGen]
//
// Files may be plain, gzip, zstd, or tar archives of such, with a byte order mark and with
// either kind of line end. They are streamed and every line is bounded; a bad line is
// named by file and number.
//
// [Inspect] reports what a trace is like before it is used, and [NewPlan] refuses to
// replay time stamps that lie on a coarse grid, because the bursts it would send are not
// in the traffic; it spreads them over the grid when asked to.
package trace
