package tasks

import (
	"math"
	"testing"
)

func TestBlend(t *testing.T) {
	class := func(name string, w float64) Class {
		return Class{name, w, SourceFunc(func(uint64) Session { return oneTurnSession{name} })}
	}
	src, err := Blend(3, class("steady", 3), class("bursty", 1))
	if err != nil {
		t.Fatal(err)
	}
	again, err := Blend(3, class("steady", 3), class("bursty", 1))
	if err != nil {
		t.Fatal(err)
	}
	n := map[string]int{}
	for i := range uint64(4000) {
		a, _ := src.Session(i).Next("")
		b, _ := again.Session(i).Next("")
		if a.User != b.User {
			t.Fatalf("session %d is of two classes", i)
		}
		n[a.User]++
	}
	if math.Abs(float64(n["steady"])-3000) > 120 {
		t.Errorf("classes drawn: %v; want steady near 3000", n)
	}
	for about, classes := range map[string][]Class{"none": nil, "a weight of 0": {class("a", 0)}, "no source": {{"a", 1, nil}}} {
		if _, err := Blend(1, classes...); err == nil {
			t.Errorf("%s is accepted", about)
		}
	}
}
