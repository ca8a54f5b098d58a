package drift

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/inferencebench/inferencebench/archive"
)

func TestDiverge(t *testing.T) {
	for _, c := range []struct {
		what  string
		a, b  Reply
		at    int
		equal bool
		unit  Unit
	}{
		{"equal texts", Reply{Text: "abc"}, Reply{Text: "abc"}, 3, true, CodePoints},
		{"a difference", Reply{Text: "abc"}, Reply{Text: "abd"}, 2, false, CodePoints},
		{"a shorter one", Reply{Text: "abc"}, Reply{Text: "ab"}, 2, false, CodePoints},
		{"characters, not bytes", Reply{Text: "äöü"}, Reply{Text: "äöx"}, 2, false, CodePoints},
		{"broken bytes", Reply{Text: "a\xff"}, Reply{Text: "a\xfe"}, 1, false, CodePoints},
		{"tokens where both have them", Reply{Text: "ab", Tokens: []string{"a", "b"}}, Reply{Text: "ac", Tokens: []string{"a", "c"}}, 1, false, Tokens},
		{"nothing equals nothing", Reply{}, Reply{}, 0, true, CodePoints},
	} {
		at, equal, unit := Diverge(c.a, c.b)
		if at != c.at || equal != c.equal || unit != c.unit {
			t.Errorf("%s: %d, %v, %s; want %d, %v, %s", c.what, at, equal, unit, c.at, c.equal, c.unit)
		}
	}
}

func TestMeasure(t *testing.T) {
	last := func(s string) string { f := strings.Fields(s); return f[len(f)-1] }
	l := Measure("under_load", []Series{
		{"p", Reply{Text: "so it is 5"}, []Reply{{Text: "so it is 5"}, {Text: "so it was 5"}}},
		{"q", Reply{Text: "it is 7"}, []Reply{{Text: "it is 8"}, {Text: "it is 7"}}},
	}, last)
	if l.Replies != 4 || l.Equal != 2 || l.Distinct != 2 || l.Unit != CodePoints {
		t.Errorf("%+v; want 4 replies, 2 equal, 2 distinct texts a prompt", l)
	}
	if a, _ := l.Agreement.Get(); a != 0.75 {
		t.Errorf("agreement %v; want 0.75", l.Agreement)
	}
	if m, _ := l.FirstMin.Get(); m != 6 {
		t.Errorf("first divergence %v; want 6", l.FirstMin)
	}
	if want := 2000.0 / (10 + 6 + 6 + 7 + 2); math.Abs(l.Hazard-want) > 1e-9 || !l.HazardInterval.Contains(l.Hazard) {
		t.Errorf("hazard %v in %v; want %v", l.Hazard, l.HazardInterval, want)
	}
	if empty := Measure("idle", nil, nil); empty.Replies != 0 || empty.Agreement.Known() || empty.FirstMin.Known() {
		t.Errorf("without replies: %+v", empty)
	}
}

// TestMeasureCache tells differences that a prefix cache can explain from others.
func TestMeasureCache(t *testing.T) {
	cached := func(text string, n int) Reply { return Reply{Text: text, Cached: archive.Some(n)} }
	for _, c := range []struct {
		what    string
		replies []Reply
		want    [4]int // same, same and equal, other, other and equal
		text    string
	}{
		{"all equal", []Reply{cached("a", 1), cached("a", 9)}, [4]int{1, 1, 1, 1}, ""},
		{"only those with another extent differ", []Reply{cached("a", 1), cached("b", 9), cached("a", 9)}, [4]int{1, 1, 2, 1}, "prefix cache off"},
		{"those with the same extent differ as well", []Reply{cached("b", 1), cached("b", 9)}, [4]int{1, 0, 1, 0}, "0 of the 1 with the same extent"},
		{"the extent is the same throughout", []Reply{cached("b", 1), cached("a", 1)}, [4]int{2, 1, 0, 0}, "does not explain"},
		{"no reply has the same extent", []Reply{cached("b", 9)}, [4]int{0, 0, 1, 0}, "none came to the same extent; repeat"},
		{"the server does not say", []Reply{{Text: "b"}}, [4]int{}, ""},
	} {
		l := Measure("idle", []Series{{"p", cached("a", 1), c.replies}}, nil)
		if got := [4]int{l.SameCache, l.SameCacheEqual, l.OtherCache, l.OtherCacheEqual}; got != c.want {
			t.Errorf("%s: %v; want %v", c.what, got, c.want)
		}
		if got := l.CacheText(); c.text == "" && got != "" || !strings.Contains(got, c.text) {
			t.Errorf("%s: %q; want %q in it", c.what, got, c.text)
		}
	}
}

// TestBucketKL draws distributions and compares the bound with the true divergence.
func TestBucketKL(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	const vocabulary, k = 500, 20
	for range 200 {
		p, q := make([]float64, vocabulary), make([]float64, vocabulary)
		sp, sq := 0.0, 0.0
		for i := range p {
			base := r.NormFloat64() * 2
			p[i], q[i] = math.Exp(base), math.Exp(base+r.NormFloat64()*0.3)
			sp, sq = sp+p[i], sq+q[i]
		}
		exact := 0.0
		for i := range p {
			p[i], q[i] = p[i]/sp, q[i]/sq
			exact += p[i] * math.Log(p[i]/q[i])
		}
		got, ok := bucketKL(top(p, k), top(q, k))
		if !ok || got > exact+1e-9 || got < 0 {
			t.Fatalf("bound %v, true divergence %v", got, exact)
		}
	}
	if _, ok := bucketKL(map[string]float64{"a": -1}, map[string]float64{"b": -1}); ok {
		t.Error("lists without a common token give a figure")
	}
}

func top(p []float64, k int) map[string]float64 {
	out := map[string]float64{}
	for range k {
		best := -1
		for i, v := range p {
			if _, taken := out[fmt.Sprint(i)]; !taken && (best < 0 || v > p[best]) {
				best = i
			}
		}
		out[fmt.Sprint(best)] = math.Log(p[best])
	}
	return out
}

func TestCompare(t *testing.T) {
	pos := func(token string, lp float64, top ...any) Position {
		p := Position{Token: token, LogProb: lp, Top: map[string]float64{token: lp}}
		for i := 0; i < len(top); i += 2 {
			p.Top[top[i].(string)] = top[i+1].(float64)
		}
		return p
	}
	ref := []Position{pos("a", -0.1, "b", -3.0), pos("b", -0.2, "c", -1.9), pos("d", -0.1)}
	same := Compare(ref, ref)
	if v, _ := same.KL.Get(); same.Positions != 3 || v > 1e-9 || same.Top1.Or(0) != 1 || same.Margin.Known() {
		t.Errorf("a reply against itself: %+v; want no distance", same)
	}
	other := []Position{pos("a", -0.3, "b", -2.0), pos("c", -0.9, "b", -1.0), pos("x", -5)}
	d := Compare(ref, other)
	if m, _ := d.Margin.Get(); d.Positions != 2 || math.Abs(m-1.7) > 1e-9 || d.Top1.Or(0) != 0.5 {
		t.Errorf("parting at the second token: %+v; want 2 positions, margin 1.7, half agree", d)
	}
	if Alarm(d, archive.Opt[float64]{}).Known() {
		t.Error("an alarm without an A/A figure")
	}
	if a, _ := Alarm(d, archive.Some(1e-4)).Get(); !a {
		t.Error("no alarm far beyond the A/A figure")
	}
	if none := Compare(nil, ref); none.KL.Known() || none.Top1.Known() {
		t.Errorf("without positions: %+v; want nothing known", none)
	}
}
