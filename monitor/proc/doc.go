// Package proc reads the server's processes where the server runs on this machine: their
// processor time, and how long their threads waited for a processor although they could
// have run. A GPU server whose threads wait, or whose busiest thread fills a core, is held
// back by the host.
//
// It reads Linux's /proc; elsewhere, and for a server on another machine, there is nothing
// to read.
//
// Values, all over the process and its descendants: process_cpu_seconds_total,
// process_runqueue_wait_seconds_total, process_cpu_cores and process_busiest_thread_cores
// (since the reading before), process_rss_bytes, process_threads, processes,
// process_major_faults_total, process_involuntary_switches_total (of the main threads), and
// where the process's control group tells them cgroup_throttled_seconds_total and
// cgroup_throttled_periods_total.
package proc
