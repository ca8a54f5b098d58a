package probe

import (
	"testing"

	"github.com/inferencebench/inferencebench/archive"
)

// P7 takes long prompts away. Gaps that shrink confirm, gaps that were never long refute, and
// gaps that stay long say that the ordinary prompts stall tokens too.
func TestUnstalled(t *testing.T) {
	seen := func(p50, p99 float64) Seen { return Seen{ITL50: archive.Some(p50), ITL99: archive.Some(p99)} }
	for _, c := range []struct {
		why       string
		base, arm Seen
		want      string
	}{
		{"the stalls are gone", seen(20, 120), seen(20, 40), Confirmed},
		{"there were none to take away", seen(20, 40), seen(20, 40), Refuted},
		{"they stay", seen(22, 119), seen(22, 119), Untested},
		{"nothing was seen", Seen{}, seen(20, 40), Untested},
	} {
		if got, text := unstalled([]Seen{c.base, c.arm}); got != c.want {
			t.Errorf("%s: %s (%s), want %s", c.why, got, text, c.want)
		}
	}
	found, unknown := Lookup([]string{"P7"})
	if len(found) != 1 {
		t.Fatalf("P7 is unknown: %v", unknown)
	}
	// Nine prompts of 500 tokens and one of 16,000: the limit follows the nine.
	if arm := found[0].Arms(Seen{Prompt: archive.Some(2050.), Prompt50: archive.Some(500.)})[0]; arm.Longest != 1000 {
		t.Errorf("prompts above %d tokens are left out, want above 1000", arm.Longest)
	}
}
