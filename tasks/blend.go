package tasks

import (
	"errors"
	"fmt"
	"math"
)

// Class is one class of clients: a source of sessions with its share of the traffic.
type Class struct {
	Name   string
	Weight float64 // relative to the other classes; above 0
	Source Source
}

// Blend mixes classes of clients. Which class session i belongs to is a function of seed
// and i, and it is session i of that class's source.
func Blend(seed uint64, classes ...Class) (Source, error) {
	if len(classes) == 0 {
		return nil, errors.New("blend: no classes")
	}
	var total float64
	for _, c := range classes {
		if !(c.Weight > 0) || math.IsInf(c.Weight, 0) {
			return nil, fmt.Errorf("blend: the weight of class %q is %g; it must be above 0", c.Name, c.Weight)
		}
		if c.Source == nil {
			return nil, fmt.Errorf("blend: class %q has no source", c.Name)
		}
		total += c.Weight
	}
	return SourceFunc(func(i uint64) Session {
		u := stream(seed, streamClass, i).Float64() * total
		for _, c := range classes {
			if u -= c.Weight; u < 0 {
				return c.Source.Session(i)
			}
		}
		return classes[len(classes)-1].Source.Session(i)
	}), nil
}
