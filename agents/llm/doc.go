// Package llm is the agents' access to language models: one call with one schema-checked
// answer, under a budget, with a transcript of every call.
//
// A [Model] makes one call. A [Caller] turns a prompt of package prompts into a checked
// answer: it renders, calls, validates against the prompt's schema and the caller's own
// rules, asks once for a repair, and then gives up with an error; what happens instead is
// the caller's deterministic fallback. Nothing streams: a truncated stream looks like an
// answer.
//
// [Cassette] records the HTTP exchanges of a run and plays them back, so that a campaign
// with a model is reproducible and testable without one.
package llm
