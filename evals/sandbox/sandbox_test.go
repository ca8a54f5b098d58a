package sandbox

import (
	"context"
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	MaybeInit()
	os.Exit(m.Run())
}

func TestNew(t *testing.T) {
	r, err := New(context.Background(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Log(r.Support(), r.Support().Speed)
}
