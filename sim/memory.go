package sim

import (
	"errors"
	"fmt"
	"time"
)

// ErrOutOfMemory marks a configuration that the device's memory cannot hold.
var ErrOutOfMemory = errors.New("out of memory")

// Memory is how a configuration divides the memory of one GPU, in bytes.
type Memory struct {
	Weights  float64 // this GPU's share of the weights
	Reserved float64 // runtime, activations and captured graphs
	KV       float64 // what is left for the KV cache
	Blocks   int     // KV blocks that fit
	Tokens   int     // tokens that fit in them
}

// Memory computes the KV cache's size, or says why the engine would not start, in the words
// that its log would use. The error wraps [ErrOutOfMemory].
func (c Config) Memory() (Memory, error) {
	c = c.withDefaults()
	w, err := weightBytes(c.Quantization)
	if err != nil {
		return Memory{}, err
	}
	tp := float64(c.TensorParallel)
	emb := c.Model.HeadParams()
	if !c.Model.Tied {
		emb *= 2
	}
	m := Memory{
		Weights:  (c.Model.Params()*w + emb*2) / tp, // embedding and head stay in 16 bits
		Reserved: c.GPU.Reserved,
	}
	if s := c.Speculative; s.Tokens > 0 {
		m.Weights += c.Model.Params() * 2 * s.DraftShare / tp
	}
	// Activations grow with the largest batch: about twenty-four 16-bit vectors of the hidden
	// size a token. Those of the device's default batch are in Reserved.
	usual := Config{GPU: c.GPU, Model: c.Model}.withDefaults().MaxNumBatchedTokens
	act := float64(c.MaxNumBatchedTokens-usual) * float64(c.Model.Hidden) * 2 * 24 / tp
	m.Reserved += max(act, -0.5*giga)
	if c.EnforceEager {
		m.Reserved = max(m.Reserved-0.6*giga, 0.5*giga)
	}
	m.KV = c.GPUMemoryUtilization*c.GPU.Memory - m.Weights - m.Reserved
	perToken := c.Model.KVBytes(c.kvElem())
	if c.Model.Latent == 0 {
		perToken /= min(tp, float64(c.Model.KV)) // fewer heads than GPUs are replicated
	}
	perBlock := perToken * float64(c.BlockSize)
	if c.GPUMemoryUtilization > 0.98 {
		return m, fmt.Errorf("%w: Free memory on device (%.2f/%.2f GiB) on startup is less than desired GPU memory utilization (%g, %.2f GiB). Decrease --gpu-memory-utilization",
			ErrOutOfMemory, 0.98*c.GPU.Memory/gib, c.GPU.Memory/gib, c.GPUMemoryUtilization, c.GPUMemoryUtilization*c.GPU.Memory/gib)
	}
	if m.KV < perBlock {
		return m, fmt.Errorf("%w: No available memory for the cache blocks: weights take %.2f GiB and the runtime %.2f GiB of the %.2f GiB that --gpu-memory-utilization %g allows. "+
			"Increase it, quantise the weights, or raise --tensor-parallel-size", ErrOutOfMemory, m.Weights/gib, m.Reserved/gib, c.GPUMemoryUtilization*c.GPU.Memory/gib, c.GPUMemoryUtilization)
	}
	m.Blocks = int(m.KV / perBlock)
	if c.NumGPUBlocksOverride > 0 {
		m.Blocks = c.NumGPUBlocksOverride
	}
	m.Tokens = m.Blocks * c.BlockSize
	if m.Tokens < c.MaxModelLen && c.NumGPUBlocksOverride == 0 {
		return m, fmt.Errorf("%w: To serve at least one request with the model's max seq len (%d), %.2f GiB KV cache is needed, which is larger than the available KV cache memory (%.2f GiB). "+
			"Based on the available memory, the estimated maximum model length is %d. Increase --gpu-memory-utilization or decrease --max-model-len",
			ErrOutOfMemory, c.MaxModelLen, perToken*float64(c.MaxModelLen)/gib, m.KV/gib, m.Tokens)
	}
	return m, nil
}

// StartUp estimates how long the engine takes from launch to ready: ten seconds of imports
// and process start, the weights at 2.5 GB/s, and without --enforce-eager thirty seconds of
// compilation and graph capture.
func (c Config) StartUp() time.Duration {
	m, _ := c.Memory() // a configuration that does not fit fails after loading its weights
	t := 10 + m.Weights/(2.5*giga)
	if !c.EnforceEager {
		t += 30
	}
	return time.Duration(t * float64(time.Second))
}
