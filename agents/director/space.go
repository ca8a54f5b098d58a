package director

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/inferencebench/inferencebench/tasks"
)

// Setting is one thing about the traffic that the search may change.
type Setting struct {
	Name     string
	About    string    // one clause, with its unit
	Values   []float64 // allowed, ascending
	Baseline int       // index of the ordinary value
}

// Space is what the search may change, in a fixed order.
type Space []Setting

// Point is one combination: an index into the values of each setting.
type Point []int

// The settings of [Traffic].
const (
	SettingRate      = "rate"       // sessions a second, as a multiple of the base rate
	SettingBurst     = "burst"      // coefficient of variation of the gaps between sessions
	SettingISL       = "isl"        // tokens of an ordinary first prompt
	SettingOSL       = "osl"        // tokens of an answer
	SettingLongShare = "long_share" // share of sessions whose first prompt is long
	SettingLongISL   = "long_isl"   // tokens of a long prompt
	SettingShared    = "shared"     // share of the first prompt that all sessions have in common
	SettingTurns     = "turns"      // turns of a session
)

// Traffic is the space of ordinary chat traffic and of what may be done to it.
func Traffic() Space {
	return Space{
		{SettingRate, "sessions a second, as a multiple of the base rate", []float64{0.5, 1, 1.5, 2}, 1},
		{SettingBurst, "coefficient of variation of the gaps between sessions; 1 is Poisson", []float64{1, 2, 4, 8}, 0},
		{SettingISL, "tokens of an ordinary first prompt", []float64{128, 512, 1024, 2048}, 1},
		{SettingOSL, "tokens of an answer", []float64{32, 128, 256, 512}, 1},
		{SettingLongShare, "share of sessions whose first prompt is long", []float64{0, 0.02, 0.05, 0.1, 0.2}, 0},
		{SettingLongISL, "tokens of a long first prompt", []float64{4096, 8192, 16384, 24576}, 0},
		{SettingShared, "share of an ordinary first prompt that all sessions have in common", []float64{0, 0.5, 0.9}, 0},
		{SettingTurns, "turns of a session", []float64{1, 3, 6}, 0},
	}
}

// Baseline is the ordinary traffic.
func (s Space) Baseline() Point {
	p := make(Point, len(s))
	for i := range s {
		p[i] = s[i].Baseline
	}
	return p
}

// Size is the number of points.
func (s Space) Size() int {
	n := 1
	for i := range s {
		n *= len(s[i].Values)
	}
	return n
}

// Values are a point's settings by name.
func (s Space) Values(p Point) map[string]float64 {
	out := make(map[string]float64, len(s))
	for i := range s {
		out[s[i].Name] = s[i].Values[p[i]]
	}
	return out
}

// Find is the point with the given settings. Every setting must be there with one of its
// allowed values, and no other.
func (s Space) Find(values map[string]float64) (Point, error) {
	p := make(Point, len(s))
	for i, set := range s {
		v, ok := values[set.Name]
		if !ok {
			return nil, fmt.Errorf("setting %s is missing", set.Name)
		}
		if p[i] = slices.Index(set.Values, v); p[i] < 0 {
			return nil, fmt.Errorf("%s is %g; allowed are %s", set.Name, v, list(set.Values))
		}
	}
	for name := range values {
		if !slices.ContainsFunc(s, func(set Setting) bool { return set.Name == name }) {
			return nil, fmt.Errorf("no setting is called %.40q", name)
		}
	}
	return p, nil
}

// Change is one setting that differs from the baseline.
type Change struct {
	Setting string  `json:"setting"`
	From    float64 `json:"from"`
	To      float64 `json:"to"`
}

// Changes lists what differs from the baseline.
func (s Space) Changes(p Point) []Change {
	var out []Change
	for i := range s {
		if p[i] != s[i].Baseline {
			out = append(out, Change{s[i].Name, s[i].Values[s[i].Baseline], s[i].Values[p[i]]})
		}
	}
	return out
}

// String lists the settings for a prompt.
func (s Space) String() string {
	var b strings.Builder
	for _, set := range s {
		fmt.Fprintf(&b, "- %s: %s. Allowed: %s; baseline %g\n", set.Name, set.About, list(set.Values), set.Values[set.Baseline])
	}
	return b.String()
}

func list(v []float64) string {
	s := make([]string, len(v))
	for i, x := range v {
		s[i] = strconv.FormatFloat(x, 'g', -1, 64)
	}
	return strings.Join(s, ", ")
}

// key identifies a point.
func (p Point) key() string { return fmt.Sprint([]int(p)) }

// Load is the traffic that a point of [Traffic] stands for.
type Load struct {
	Source tasks.Source
	Rate   float64 // sessions a second
	CV     float64 // of the gaps between them
}

// NewLoad makes the sessions of a point of [Traffic]. baseRate is the sessions a second of
// rate 1. o gives everything that the space does not: seed, salt, mix, languages, counter.
func NewLoad(s Space, p Point, baseRate float64, o tasks.Options) (*Load, error) {
	v := s.Values(p)
	isl := int(v[SettingISL])
	o.ISL, o.OSL, o.Turns = tasks.Fixed(isl), tasks.Fixed(int(v[SettingOSL])), tasks.Fixed(int(v[SettingTurns]))
	long := o
	long.ISL, long.Turns = tasks.Fixed(int(v[SettingLongISL])), tasks.Fixed(1)
	o.SharedPrefixTokens = int(v[SettingShared] * float64(isl))
	short, err := tasks.NewGenerator(o)
	if err != nil {
		return nil, err
	}
	tall, err := tasks.NewGenerator(long)
	if err != nil {
		return nil, err
	}
	share := v[SettingLongShare]
	return &Load{
		Source: tasks.SourceFunc(func(i uint64) tasks.Session {
			if isLong(i, share) {
				return tall.Session(i)
			}
			return short.Session(i)
		}),
		Rate: v[SettingRate] * baseRate, CV: v[SettingBurst],
	}, nil
}

// isLong picks a share of session numbers, evenly over any stretch of them.
func isLong(i uint64, share float64) bool {
	const golden = 0.6180339887498949
	x := float64(i%(1<<40)) * golden
	return x-float64(uint64(x)) < share
}
