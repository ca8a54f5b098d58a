// Package engines knows the servers: how to recognise one, where its metrics are and what
// they mean, what it can be told at launch, and where its behaviour departs from the
// OpenAI API that all of them speak.
//
// Most of that is data, one file a server in the folder data, read once by [Table]. Code
// is only what data cannot say: [NormalizeBase] for addresses, [Probe] for looking at a
// running server, [Adapter.Signals] for reading a metrics page.
//
// A signal has one canonical name whatever the server calls it; [Canonical] lists them.
// In a reading
//
//	gauge X        is "X"; kv_cache_usage, a mean over engines, has "kv_cache_usage_max" beside it
//	counter X      is "X_total"
//	histogram X    is "X_sum", "X_count" and, for each bucket, "X_bucket:LE" (cumulative)
//	a breakdown    of any of them by a label's value V is "NAME:V"
//
// A signal that the server does not expose is absent. Nothing is filled with zero.
package engines
