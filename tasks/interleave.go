package tasks

// Interleave mixes checkpoint sessions into load: after every `every` sessions of load
// comes one session of checkpoints, so that session every, 2·every+1, … of the result are
// checkpoint sessions 0, 1, …, and the others are load sessions 0, 1, … in order. With
// every below 1, or without checkpoints, the result is load alone.
func Interleave(load, checkpoints Source, every int) Source {
	if every < 1 || checkpoints == nil {
		return load
	}
	n := uint64(every) + 1
	return SourceFunc(func(i uint64) Session {
		block, at := i/n, i%n
		if at == n-1 {
			return checkpoints.Session(block)
		}
		return load.Session(block*(n-1) + at)
	})
}
