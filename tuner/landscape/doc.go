// Package landscape is the ground truth for tuning: simulated servers whose best
// configuration is known, so that a search can be judged by what it finds and a protocol by
// what it certifies.
//
// A landscape is a GPU, a model, a workload and a few knobs under vLLM's names. Its truth
// is a table: every configuration played once by the simulator on one frozen workload,
// without noise. A bench measures with noise on a virtual clock, on which starting, loading
// and crashing take their time:
//
//	ln value = ln truth + workload + configuration × workload + launch + machine + drift
//
// The first two terms follow from the load alone, as a frozen workload has it, so that
// trials under equal loads can be compared in pairs; the launch term is drawn at each start,
// the machine term for each part of a trial.
//
// What the simulator does not know is added by hand: combinations that do not start, that
// end under load, that spoil the answers, and settings that change nothing.
package landscape
