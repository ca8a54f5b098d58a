// Package faults is the ground truth for attribution: conditions with a known cause, made
// by turning one knob of the simulated world and read back as ordinary records.
//
// A label always comes from the knob that was turned, never from what the simulator shows.
// Severity, seed, hardware, model and workload vary; distractors add anomalies that are
// true but irrelevant; signals can be withheld, in which case "undecided" is the right
// verdict where the mandatory one is gone.
package faults
