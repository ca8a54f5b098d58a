package dialect

import (
	"fmt"
	"strings"
)

// Dialect is one engine's way of showing its state.
type Dialect struct {
	Name  string                     // adapter name, such as "vllm"
	Path  string                     // of the metrics page
	Owner string                     // owned_by of its models, before it says that it is simulated
	Page  func(engs []Source) []byte // Prometheus text
}

// Lookup returns the dialect of that name; "" is vLLM's. The short names trtllm and llamacpp
// are known too.
func Lookup(name string) (Dialect, error) {
	switch name {
	case "trtllm":
		name = "tensorrt_llm"
	case "llamacpp", "llama.cpp":
		name = "llama_cpp"
	}
	for _, d := range Dialects() {
		if d.Name == name || name == "" {
			return d, nil
		}
	}
	return Dialect{}, fmt.Errorf("unknown dialect %q: known are %s", name, strings.Join(Names(), ", "))
}

// Dialects lists them, vLLM's first.
func Dialects() []Dialect {
	return []Dialect{
		{"vllm", "/metrics", "vllm", VLLM},
		{"sglang", "/metrics", "sglang", SGLang},
		{"tgi", "/metrics", "", TGI},
		{"tensorrt_llm", "/prometheus/metrics", "tensorrt_llm", TensorRTLLM},
		{"llama_cpp", "/metrics", "llamacpp", LlamaCPP},
	}
}

// Names lists the dialects' names.
func Names() (names []string) {
	for _, d := range Dialects() {
		names = append(names, d.Name)
	}
	return names
}
