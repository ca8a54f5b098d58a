// Package compare tells whether two runs differ and by how much, and gates on it.
//
// A run is the unit that is compared: values inside one run depend on one another, so
// intervals come from resampling stretches of time. Where both runs sent the same
// requests, which a frozen workload makes certain, the same stretches are drawn from both,
// and what the requests have in common cancels out.
//
// A gate raises an alarm where the degradation is beyond its tolerance by more than
// chance explains, corrected for how many metrics are looked at. An alarm alone is not a
// failure: the gate asks for a second pair of runs and fails only where they agree.
package compare
