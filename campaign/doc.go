// Package campaign runs one campaign: an ordered list of phases against one server. It
// joins what the packages below it do apart: the traffic of tasks, the sending of
// loadgen, the eyes of monitor, the scoring of evals and the records of archive.
//
// A [Config] says what to run. It comes from a YAML file ([Load]), from flags, or both,
// and [Config.Validate] finds every problem in it at once. [Run] carries it out and leaves
// a run directory behind, whatever happens on the way.
package campaign
