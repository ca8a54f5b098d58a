// Package loadgen is the load driver: it decides when each turn of each session is sent,
// hands it to a [Sender], and accounts for every request that it planned.
//
// A run is a list of phases. A phase is either a closed loop, in which a fixed number of
// users each have at most one request open ([Phase.Concurrency]), or an open loop, in
// which sessions arrive at the instants of an arrival process whatever the server does
// ([Phase.Rate], [Phase.Arrival]). The turns inside a session are closed in both: turn
// k+1 is due at the end of turn k plus the think time.
//
// Three rules hold everywhere:
//
//   - Latency counts from the intended instant. A request that leaves late, or waits for
//     a slot, keeps the instant at which the plan wanted it sent, so a slow server cannot
//     hide behind a generator that waits for it.
//   - Due times are absolute. The driver sleeps until an instant, never for a gap, so
//     lateness does not add up.
//   - Every planned request is recorded exactly once. A request is planned when it comes
//     due; it ends ok, failed or cancelled, also when the run is interrupted.
//
// Memory does not grow with the length of a run: a finished request is handed to
// [Config.Record] and forgotten.
package loadgen
