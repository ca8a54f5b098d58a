//go:build race

package monitor

// raceEnabled is set when the race detector slows everything down.
const raceEnabled = true
