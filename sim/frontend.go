package sim

import "time"

// FrontendCost is the CPU time that the API server's one busy thread spends.
type FrontendCost struct {
	PerRequest     time.Duration // f0: parse, validate, hand over
	PerPromptToken time.Duration // f1: tokenise
	PerToken       time.Duration // f2: detokenise and write one streamed token
}

// Times returns the cost multiplied by k.
func (c FrontendCost) Times(k float64) FrontendCost {
	return FrontendCost{
		PerRequest:     time.Duration(k * float64(c.PerRequest)),
		PerPromptToken: time.Duration(k * float64(c.PerPromptToken)),
		PerToken:       time.Duration(k * float64(c.PerToken)),
	}
}

// DefaultFrontend is a healthy Python API server.
var DefaultFrontend = FrontendCost{PerRequest: 400 * time.Microsecond, PerPromptToken: 1 * time.Microsecond, PerToken: 15 * time.Microsecond}

// Frontend is the API server as one FIFO station: requests and streamed tokens pass it in
// the order in which they reach it. The zero value with a cost is idle.
type Frontend struct {
	Cost FrontendCost
	free time.Duration
	busy time.Duration
}

// Busy is the CPU time spent so far.
func (f *Frontend) Busy() time.Duration { return f.busy }

// Request returns when a request that arrives at an instant reaches the engine.
func (f *Frontend) Request(at time.Duration, prompt int) time.Duration {
	return f.serve(at, f.Cost.PerRequest+time.Duration(prompt)*f.Cost.PerPromptToken)
}

// Tokens returns when n tokens that the engine made at an instant leave for the client.
func (f *Frontend) Tokens(at time.Duration, n int) time.Duration {
	return f.serve(at, time.Duration(n)*f.Cost.PerToken)
}

func (f *Frontend) serve(at, cost time.Duration) time.Duration {
	f.free = max(f.free, at) + cost
	f.busy += cost
	return f.free
}
