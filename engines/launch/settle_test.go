package launch_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/inferencebench/inferencebench/engines/launch"
)

// Memory that a server held is waited for, and what is not released is told.
func TestSettle(t *testing.T) {
	const gib = 1 << 30
	for _, c := range []struct {
		why    string
		used   [][]uint64 // by reading; the last stays
		before []uint64
		held   uint64
		reads  int
	}{
		{"released at the third look", [][]uint64{{40 * gib, 1 * gib}, {20 * gib, 1 * gib}, {gib, gib}}, []uint64{gib, gib}, 0, 3},
		{"a little more than before is as good", [][]uint64{{gib + 400<<20}}, []uint64{gib}, 0, 1},
		{"never released", [][]uint64{{9 * gib}}, []uint64{gib}, 8 * gib, 4},
		{"another number of GPUs cannot be compared", [][]uint64{{9 * gib}}, []uint64{gib, gib}, 0, 1},
		{"nothing is known of before", [][]uint64{{9 * gib}}, nil, 0, 0},
	} {
		reads := 0
		clock := time.Unix(0, 0)
		m := machine()
		m.Poll = time.Microsecond
		m.Now = func() time.Time { return clock }
		m.GPU = func() ([]uint64, error) {
			now := c.used[min(reads, len(c.used)-1)]
			reads++
			clock = clock.Add(10 * time.Second)
			return now, nil
		}
		if held := launch.Settle(t.Context(), m, c.before, 35*time.Second); held != c.held || reads != c.reads {
			t.Errorf("%s: %d bytes held after %d readings; want %d after %d", c.why, held, reads, c.held, c.reads)
		}
	}
	m := machine()
	m.GPU = func() ([]uint64, error) { return nil, errors.New("no driver") }
	if held := launch.Settle(t.Context(), m, []uint64{0}, time.Hour); held != 0 {
		t.Errorf("%d bytes held by what cannot be read", held)
	}
}

func TestTimeoutFor(t *testing.T) {
	small, large := launch.TimeoutFor(16e9), launch.TimeoutFor(140e9)
	if launch.TimeoutFor(0) != launch.DefaultTimeout || small < 9*time.Minute || small > 15*time.Minute || large < 20*time.Minute || launch.TimeoutFor(1e15) != 2*time.Hour {
		t.Errorf("8B: %v, 70B: %v, unknown: %v, huge: %v", small, large, launch.TimeoutFor(0), launch.TimeoutFor(1e15))
	}
}

// A server that is known not to fit is not started.
func TestRoom(t *testing.T) {
	s := spec(t, "serves")
	s.MinMemory, s.Needs, s.For = 1<<30, 7<<30+1, "the weights and a KV cache of 8192 tokens"
	f, ok := errors.AsType[*launch.Failure](start(t, s))
	if !ok || f.Kind != launch.OOM || !strings.Contains(f.Reason, "not started: the weights and a KV cache of 8192 tokens take 7168 MiB") {
		t.Errorf("%+v", f)
	}
}
