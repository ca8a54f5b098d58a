// Package kvevents counts what happens to the blocks of a server's KV cache: stored, removed,
// all cleared. vLLM, SGLang and others publish it over ZeroMQ when told to.
//
// It speaks just as much of the wire protocol (ZMTP 3) and of the encoding (MessagePack) as
// that takes, and connects to the publisher or lets it connect, as servers do either.
//
// Values, all cumulative since the source was opened: kv_blocks_stored_total,
// kv_blocks_removed_total, kv_cache_cleared_total, kv_event_batches_total and
// kv_event_batches_lost_total (by gaps in the publisher's numbering).
package kvevents
