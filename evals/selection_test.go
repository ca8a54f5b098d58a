package evals

import (
	"strings"
	"testing"
)

func TestOpen(t *testing.T) {
	m, err := Open(Selection{Kinds: []string{"all"}, Seed: 2})
	if err != nil || len(m) != len(Kinds()) {
		t.Fatalf("all kinds: %d sets, %v; want %d", len(m), err, len(Kinds()))
	}
	for i, k := range Kinds() {
		if m[i].Kind != k {
			t.Errorf("set %d is of kind %s; want %s", i, m[i].Kind, k)
		}
	}
	if m, err := Open(Selection{}); err != nil || len(m) != 1 || m[0].Kind != KindMaths {
		t.Errorf("no kind: %v, %v; want maths", m, err)
	}
	if _, err := Open(Selection{Kinds: []string{"poetry"}}); err == nil || !strings.Contains(err.Error(), "longdoc") {
		t.Errorf("an unknown kind: %v; want the list", err)
	}
	if _, err := Open(Selection{GSM8K: "/no/file"}); err == nil || !strings.Contains(err.Error(), "/no/file") {
		t.Errorf("a missing file: %v", err)
	}
}
