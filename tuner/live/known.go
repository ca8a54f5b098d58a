package live

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/inferencebench/inferencebench/analyst/roofline"
	"github.com/inferencebench/inferencebench/campaign"
	"github.com/inferencebench/inferencebench/sim"
)

// Known is what is known of model and devices before anything runs, and where not, why.
type Known struct {
	// Shape is the model's for arithmetic, Played the same for the simulator; nil where unknown.
	Shape  *roofline.Model
	Played *sim.Model
	// Bytes is the size of the weights; 0 where unknown.
	Bytes float64
	// GPU is the device that the simulator has constants of; nil where unknown. Devices is how
	// many this machine shows; 0 where unknown.
	GPU     *sim.GPU
	Devices int
	// NoModel and NoGPU say why Played and GPU are unknown, each as the end of a sentence.
	NoModel, NoGPU string
}

// device is the GPU of a name as users, drivers or the simulator write it.
func device(name string) (sim.GPU, bool) {
	if g, err := sim.LookupGPU(name); err == nil {
		return g, true
	}
	want, ok := roofline.FindDevice(name)
	if !ok {
		return sim.GPU{}, false
	}
	for _, n := range sim.GPUNames() {
		g, err := sim.LookupGPU(n)
		if d, found := roofline.FindDevice(g.Label); err == nil && found && d.Name == want.Name {
			return g, true
		}
	}
	return sim.GPU{}, false
}

// Know gathers what the study's file, its launch command and the files that it names tell of
// model and device. gpus are the names of this machine's GPUs as the driver has them; they
// count where the server runs here.
func (f *File) Know(gpus []string) Known {
	var k Known
	if f.Simulate {
		if l, err := sim.ParseFlags(f.Command); err == nil {
			e := l.Config.Resolved()
			k.Played, k.GPU = &e.Model, &e.GPU
			if m, ok := roofline.FindModel(e.Model.Name); ok {
				k.Shape = &m
			}
		}
		return k
	}
	name := modelOf(f.Command)
	k.model(f.Target.ModelConfig, name)
	if k.Played == nil && f.Target.Model != "" {
		k.named(f.Target.Model)
	}
	if k.Played == nil && k.NoModel == "" {
		k.NoModel = "the shape of the model is not known; give its config.json with --model-config"
	}
	here := f.Launcher.Kind == "" || f.Launcher.Kind == LaunchProcess
	switch {
	case f.Target.GPU != "":
		k.device(f.Target.GPU)
	case here && len(gpus) > 0:
		k.Devices = len(gpus)
		k.device(gpus[0])
		if slices.ContainsFunc(gpus, func(g string) bool { return g != gpus[0] }) {
			k.GPU, k.NoGPU = nil, "this machine has GPUs of several kinds; name the server's with --gpu"
		}
	default:
		k.NoGPU = "the server's GPU is not known; name it with --gpu"
	}
	return k
}

func (k *Known) device(name string) {
	if g, ok := device(name); ok {
		k.GPU = &g
		return
	}
	k.NoGPU = "the simulator has no constants of the GPU " + name + "; it has those of " + strings.Join(sim.GPUNames(), ", ")
}

// model reads the shape from a file that the user names, or that the launch command does.
func (k *Known) model(config, name string) {
	files := []string{config}
	if info, err := os.Stat(name); name != "" && err == nil {
		if info.IsDir() {
			files = append(files, filepath.Join(name, "config.json"))
			k.Bytes = weightsIn(name)
		} else {
			files = append(files, name)
			k.Bytes = float64(info.Size())
		}
	}
	for _, path := range files {
		if path == "" || k.Shape != nil {
			continue
		}
		if m, err := campaign.ReadModel(path); err == nil {
			k.Shape = m
			k.size(m.TotalBytes())
		} else if path == config {
			k.NoModel = "the model's file cannot be read: " + firstLine(err)
		}
		if b, err := os.ReadFile(path); err == nil && strings.HasSuffix(path, ".json") {
			if m, err := sim.ReadModel(name, b); err == nil {
				k.Played = &m
			}
		}
	}
	if k.Played == nil && name != "" {
		k.named(name)
	}
}

// named looks a model up that many know by name.
func (k *Known) named(name string) {
	if m, err := sim.LookupModel(name); err == nil {
		k.Played = &m
	}
	if k.Shape == nil {
		if m, ok := roofline.FindModel(name); ok {
			k.Shape = &m
			k.size(m.TotalBytes())
		}
	}
}

func (k *Known) size(bytes float64) {
	if k.Bytes == 0 {
		k.Bytes = bytes
	}
}

// weightsIn sums the files of weights in a folder.
func weightsIn(dir string) float64 {
	sum := 0.0
	for _, pattern := range []string{"*.safetensors", "*.bin", "*.gguf"} {
		paths, _ := filepath.Glob(filepath.Join(dir, pattern)) // the pattern is well formed
		for _, p := range paths {
			if info, err := os.Stat(p); err == nil {
				sum += float64(info.Size())
			}
		}
	}
	return sum
}

// modelOf is the model that a launch command names: the value of its flag, or the first word
// behind "serve"; "" where there is none.
func modelOf(argv []string) string {
	for i, word := range argv {
		flag, value, joined := strings.Cut(word, "=")
		switch flag {
		case "--model", "--model-path", "-m":
			if joined {
				return value
			}
			if i+1 < len(argv) && (flag != "-m" || !strings.Contains(argv[i+1], "sglang") && !strings.HasPrefix(argv[i+1], "vllm.")) {
				return argv[i+1]
			}
		case "serve":
			if i+1 < len(argv) && !strings.HasPrefix(argv[i+1], "-") {
				return argv[i+1]
			}
		}
	}
	return ""
}
