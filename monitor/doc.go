// Package monitor watches a run: the server's metrics page, the GPUs, the host and this
// program itself, all on the run's clock.
//
// A [Source] is read at a fixed interval in a goroutine of its own, so that a slow or
// hanging source delays no other. Each reading becomes an [archive.Sample] that says when
// the reading began, how late that was against the plan, and how long it took. What happens to the
// sources themselves, such as one that stops answering or a server that starts anew, becomes
// an [archive.Event].
//
// The sources live in the subpackages: prom reads metrics pages, host and self read the
// operating system and the Go runtime, proc the server's processes, nvml and gpu read GPUs,
// slots reads a route of llama.cpp, logs follows a log, otlp takes
// request spans and kvevents cache events in.
//
// Names of values, beside those of the engine (package engines):
//
//	host    cpu_percent, steal_percent, load1, memory_used_bytes, memory_available_bytes,
//	        net_rx_bytes_total, net_tx_bytes_total, tcp_retransmits_total, and on Linux
//	        pressure_{cpu,memory,io}_seconds_total, context_switches_total,
//	        major_faults_total, oom_kills_total, cpu_energy_joules_total; for the server's
//	        own processes see package proc
//	client  cpu_cores (cores kept busy by this process), rss_bytes, goroutines, open_fds,
//	        gc_pause_seconds_total, gc_pause_max_seconds (since the reading before),
//	        sched_latency_p99_seconds (since the reading before), in_flight,
//	        requests_ok_total, requests_failed_total, output_tokens_total
//	gpu     util_percent, memory_used_bytes, memory_total_bytes, power_watts,
//	        power_limit_watts, energy_joules_total, sm_clock_mhz, sm_clock_max_mhz,
//	        temperature_celsius, throttle_thermal and throttle_power (0 or 1), and on
//	        Hopper and later, or from an exporter, sm_active_percent,
//	        sm_occupancy_percent, tensor_active_percent, dram_active_percent
package monitor
