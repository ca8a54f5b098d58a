// Package twin makes the simulator a twin of the server under test, and asks it what to expect
// of configurations before they are measured.
//
//	default's trial ─► Observer: one user, a few, many ─► step costs, in the journal
//	                                                        │
//	model, GPU, launch command ─► simulator ◄── calibrated ─┘
//	                                 └─► search.Opinion, if it plays the default as it was measured
//
// Everything that follows from it is a function of the journal. Where model or device are not
// known, where the engine is not played, or where the twin is not like the server, there is
// none, and the reason is said.
package twin
