package arrival

import "math"

// mix is the finaliser of SplitMix64 (Steele, Lea and Flood, 2014): a bijection of 64 bits
// in which every input bit moves about half of the output bits.
func mix(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}

// golden is the odd 64-bit integer nearest to 2^64 divided by the golden ratio: the step
// of SplitMix64's sequence.
const golden = 0x9e3779b97f4a7c15

// bits returns 64 random bits that are a function of the seed and of n.
func bits(seed, n uint64) uint64 {
	return mix(mix(seed+golden) + (n+1)*golden)
}

// unit maps random bits to a number in the open interval (0, 1).
func unit(b uint64) float64 { return (float64(b>>11) + 0.5) / (1 << 53) }

// exponential returns a draw from the exponential distribution of mean 1 that is a
// function of the seed and of n.
func exponential(seed, n uint64) float64 { return -math.Log(unit(bits(seed, n))) }
