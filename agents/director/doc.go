// Package director is the agent that makes the load: it writes user turns from the
// conversation so far, and it steers a campaign towards the traffic that breaks an
// objective.
//
// [Turns] wraps a source of sessions. For a share of them a model writes the later user
// turns, during the pause before the turn is due and never on the send path: a turn that
// is not there in time is the seeded generator's, and is counted. The model decides the
// text of a turn and nothing else.
//
// [Search] looks for weaknesses over a typed [Space] of traffic settings. A deterministic
// Bayesian search proposes phases; a model may propose some of them, under the same
// rules. What it finds is confirmed with other seeds and cut down to the smallest change
// from the baseline that still breaks the objective.
//
// Replies of the server under test are data here. They reach a model only between fences
// that they cannot close, and no answer of a model can name anything but the text of a
// turn or a point of the space.
package director
