// Package learn reads access logs of an inference server and makes a private workload
// model of them: lengths, turns, think times, task mix, burstiness and prefix sharing,
// and, unless it is told to keep no text, example prompts with everything personal taken
// out.
//
// Log formats, told apart by their first line or given by name: JSON lines in the shape of
// the OpenAI API or of LiteLLM, request lines of vLLM's log, OTLP spans in JSON, and CSV
// with a header.
//
// De-identification is on by default. It works on whole texts before anything of them is
// kept, replaces what it finds by typed placeholders such as [EMAIL_1], and reports how
// many of each kind there were. It is a filter of patterns and word lists and not a proof:
// a single unusual name with nothing around it that marks it as one can stay. The mode
// without text is for logs that must not leave any trace.
package learn
