package main

import (
	"context"
	"errors"
	"time"

	"github.com/inferencebench/inferencebench/engines/launch"
	"github.com/inferencebench/inferencebench/monitor"
	"github.com/inferencebench/inferencebench/monitor/gpu"
)

// machineGPUs are the names of this machine's GPUs and how the memory in use of each is read: by
// the driver's library, or by nvidia-smi in builds without it. Both are nil where neither can.
func machineGPUs() (names []string, used func() ([]uint64, error)) {
	sources, gpus, _ := monitor.OpenGPUs()
	for _, g := range gpus {
		names = append(names, g.Name)
	}
	if len(sources) > 0 {
		return names, func() ([]uint64, error) {
			var out []uint64
			for _, s := range sources {
				v, err := s.Read(context.Background())
				if err != nil {
					return nil, err
				}
				m, ok := v["memory_used_bytes"]
				if !ok {
					return nil, errors.New("a GPU does not tell its memory in use")
				}
				out = append(out, uint64(m))
			}
			return out, nil
		}
	}
	read := func() ([]gpu.Reading, error) {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		b, err := launch.Exec(ctx, gpu.SMICommands()[0], nil)
		if err != nil {
			return nil, err
		}
		return gpu.FromCSV(b)
	}
	rows, err := read()
	if err != nil || len(rows) == 0 {
		return nil, nil
	}
	for _, r := range rows {
		names = append(names, r.Name)
	}
	return names, func() ([]uint64, error) {
		rows, err := read()
		if err != nil {
			return nil, err
		}
		var out []uint64
		for _, r := range rows {
			m, ok := r.Values["memory_used_bytes"]
			if !ok {
				return nil, errors.New("a GPU does not tell its memory in use")
			}
			out = append(out, uint64(m))
		}
		return out, nil
	}
}
