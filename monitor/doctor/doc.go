// Package doctor looks at a server and at the machine before a run: what the server can be
// seen to do, what of that is switched off and how to switch it on, and what on this
// machine would disturb a measurement.
//
// It changes nothing and makes no server generate. What it cannot find out it reports as
// unknown.
package doctor
