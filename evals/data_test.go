package evals

import (
	"os"
	"path/filepath"
	"testing"
)

// reference returns the path of a file of the reference data, which lies beside a
// development checkout; without it the test is skipped.
func reference(t *testing.T, name string) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Fatal("no go.mod above the test")
		}
		dir = up
	}
	path := filepath.Join(dir, "..", "shared", "data", name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("reference data %s is not here", name)
	}
	return path
}
