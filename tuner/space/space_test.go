package space_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/inferencebench/inferencebench/tuner/space"
)

// An assignment and its point are two views of one configuration.
func TestPointAndAt(t *testing.T) {
	s := &space.Space{Dims: []space.Dim{
		{Name: "--threads", Values: []string{"", "1", "2"}, Ordered: true},
		{Name: "--flash-attn", Values: []string{"on", "off"}},
	}}
	for _, a := range []space.Assignment{
		{"--flash-attn": "on"},
		{"--threads": "2", "--flash-attn": "off"},
	} {
		p, err := s.Point(a)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(a, s.At(p)); diff != "" {
			t.Error(diff)
		}
	}
	for _, bad := range []space.Assignment{
		{},                                       // a knob that cannot be left unset
		{"--flash-attn": "maybe"},                // a value outside the grid
		{"--flash-attn": "on", "--threadz": "1"}, // a knob that is not in the study
	} {
		if _, err := s.Point(bad); err == nil {
			t.Errorf("%v was accepted", bad)
		}
	}
	if s.Size() != 6 {
		t.Errorf("size = %d; want 6", s.Size())
	}
}
