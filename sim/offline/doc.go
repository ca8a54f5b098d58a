// Package offline runs the simulated engine on a virtual clock, together with everything
// around it: clients with a plan, a network, a proxy, the API server and a router over
// replicas. A run of minutes takes milliseconds and leaves the same records as a real
// campaign.
//
//	plan ─► client (CPU, connections) ─► network ─► router ─► frontend ─► engine
//	                ▲                                             │
//	                └──────────── network ◄─ proxy ◄──────────────┘
//
// Equal configurations give equal runs.
package offline
