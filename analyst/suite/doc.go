// Package suite measures how well the analyst attributes: it plays the conditions of
// package faults, whose causes are known because they were injected, analyses the records
// as those of any run, and compares.
//
// Thresholds were tuned on the combinations of device and model in [Tuning] only. The
// figures that count are those of [Held], which holds other devices, other models and
// other seeds.
package suite
