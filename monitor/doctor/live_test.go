package doctor

import (
	"bytes"
	"net/http"
	"os"
	"testing"

	"github.com/inferencebench/inferencebench/engines"
)

// liveEnv names a running server that TestLive looks at.
const liveEnv = "INFERENCEBENCH_LIVE_URL"

func TestLive(t *testing.T) {
	raw := os.Getenv(liveEnv)
	if raw == "" {
		t.Skip("set " + liveEnv + " to the address of a server to run this")
	}
	base, err := engines.NormalizeBase(raw)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Examine(t.Context(), Options{Client: &http.Client{}, Base: base})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := r.Write(&out); err != nil {
		t.Fatal(err)
	}
	t.Logf("\n%s", out.String())
	if r.Worst() == Fail {
		t.Error("the server cannot be used")
	}
}
