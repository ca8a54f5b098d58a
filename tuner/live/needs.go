package live

import (
	"fmt"
	"strconv"

	"github.com/inferencebench/inferencebench/engines"
	"github.com/inferencebench/inferencebench/engines/launch"
)

// cacheElement is the bytes of a number of llama.cpp's cache in each format: blocks of 32
// numbers with their scales.
var cacheElement = map[string]float64{
	"": 2, "f16": 2, "bf16": 2, "f32": 4, "q8_0": 34. / 32, "q4_0": 18. / 32, "q4_1": 20. / 32, "iq4_nl": 18. / 32, "q5_0": 22. / 32, "q5_1": 24. / 32,
}

// hostNeeds is the host memory that a launch command is known to take, and what for: the
// weights and the KV cache of the context that it asks for. It is 0 where that is not known:
// for servers that keep both on a device, and where the context follows from the memory.
func hostNeeds(argv []string, a *engines.Adapter, k Known, gpus bool) (bytes uint64, what string) {
	if a.Name != "llama_cpp" || k.Shape == nil || k.Bytes == 0 {
		return 0, ""
	}
	set := launch.Set(argv, a.Knobs)
	layers := set["--n-gpu-layers"]
	if layers != "" && layers != "0" || layers == "" && gpus {
		return 0, ""
	}
	context, err := strconv.Atoi(set["--ctx-size"])
	if err != nil || context <= 0 || context > 1<<28 {
		return 0, ""
	}
	key, ok1 := cacheElement[set["--cache-type-k"]]
	value, ok2 := cacheElement[set["--cache-type-v"]]
	if !ok1 || !ok2 {
		return 0, ""
	}
	cache := k.Shape.KVRead(float64(context), (key+value)/2)
	return uint64(k.Bytes + cache), fmt.Sprintf("the weights (%.0f MiB) and a KV cache for %d tokens (%.0f MiB)", k.Bytes/(1<<20), context, cache/(1<<20))
}
