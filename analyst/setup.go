package analyst

import (
	"strconv"

	"github.com/inferencebench/inferencebench/analyst/roofline"
)

// resolve finds the device and the model's shape: from the options, else from what the
// manifest tells of GPUs, served name and settings. ok is false when either is unknown.
func (w *work) resolve() (s roofline.Setup, ok bool) {
	m := w.in.Manifest
	name := w.opts.Device
	if name == "" && len(m.GPUs) > 0 {
		name = m.GPUs[0].Name
	}
	if name == "" {
		name = w.setting("gpu")
	}
	device, okDevice := roofline.FindDevice(name)
	model, okModel := roofline.FindModel(m.Server.Model)
	if w.opts.Model != nil {
		model, okModel = *w.opts.Model, true
	}
	if !okDevice || !okModel {
		return roofline.Setup{}, false
	}
	s = roofline.Setup{Device: device, Model: model, TP: w.opts.TP}
	if s.TP == 0 {
		for _, k := range []string{"tensor_parallel_size", "tp_size", "tp", "tensor_parallel"} {
			if n, err := strconv.Atoi(w.setting(k)); err == nil && n > 0 && n <= 1024 {
				s.TP = n
				break
			}
		}
	}
	s.TP = max(s.TP, 1)
	if w.opts.Model == nil {
		if b, ok := roofline.DTypeBytes(w.setting("quantization")); ok {
			s.Model.WeightBytes = b
		}
	}
	for _, k := range []string{"kv_cache_dtype", "cache_dtype"} {
		if b, ok := roofline.DTypeBytes(w.setting(k)); ok {
			s.KVElem = b
			break
		}
	}
	return s, true
}
