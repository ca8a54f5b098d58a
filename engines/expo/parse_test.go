package expo

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

func TestParse(t *testing.T) {
	lb := func(kv ...string) (out []Label) {
		for i := 0; i < len(kv); i += 2 {
			out = append(out, Label{kv[i], kv[i+1]})
		}
		return out
	}
	tests := []struct {
		why  string
		in   string
		want []Sample
		bad  int
	}{
		{"a plain line", "up 1\n", []Sample{{"up", nil, 1}}, 0},
		{"colons in the name and a final line without newline", "vllm:x{a=\"1\"} 2", []Sample{{"vllm:x", lb("a", "1"), 2}}, 0},
		{"CRLF line ends", "a 1\r\nb 2\r\n", []Sample{{"a", nil, 1}, {"b", nil, 2}}, 0},
		{"a timestamp in milliseconds", "a 1 1712345678901\n", []Sample{{"a", nil, 1}}, 0},
		{"a timestamp in fractional seconds", "a 1 1712345678.901\n", []Sample{{"a", nil, 1}}, 0},
		{"an OpenMetrics exemplar", "a_bucket{le=\"1\"} 3 # {trace_id=\"x\"} 0.4 1712345678.9\n", []Sample{{"a_bucket", lb("le", "1"), 3}}, 0},
		{"spaces anywhere that they are allowed and a trailing comma", "a { x = \"1\" , y=\"2\", }  3", []Sample{{"a", lb("x", "1", "y", "2"), 3}}, 0},
		{"escapes in a label value", `a{x="q\"b\\n\n"} 1`, []Sample{{"a", lb("x", "q\"b\\n\n"), 1}}, 0},
		{"a quoted UTF-8 name", `{"näme",x="1"} 1`, []Sample{{"näme", lb("x", "1"), 1}}, 0},
		{"NaN and infinities are kept as written", "a NaN\nb +Inf\nc -Inf\n", []Sample{{"a", nil, math.NaN()}, {"b", nil, math.Inf(1)}, {"c", nil, math.Inf(-1)}}, 0},
		{"a bad line does not cost its neighbours", "a 1\nb{ 2\nc 3\n", []Sample{{"a", nil, 1}, {"c", nil, 3}}, 1},
		{"numbers that only Go reads", "a 0x10\nb 1_000\n", nil, 2},
		{"an HTML page has no samples", "<!DOCTYPE html>\n<html><body>hello</body></html>\n", nil, 2},
		{"a value that is missing", "a\nb{}\n", nil, 2},
		{"nothing after the end mark is read", "a 1\n# EOF\nb 2\n", []Sample{{"a", nil, 1}}, 0},
		{"an unclosed string", "a{x=\"1} 1\n", nil, 1},
		{"rubbish after the value", "a 1 2 3\n", nil, 1},
		{"an unknown escape", `a{x="\q"} 1`, nil, 1},
		{"no name at all", "{} 1\n", nil, 1},
	}
	for _, tt := range tests {
		got := Parse([]byte(tt.in))
		if d := cmp.Diff(tt.want, got.Samples, cmpopts.EquateNaNs(), cmpopts.EquateEmpty()); d != "" || got.Bad != tt.bad {
			t.Errorf("%s: Parse(%q) bad = %d; want %d; samples (-want +got):\n%s", tt.why, tt.in, got.Bad, tt.bad, d)
		}
	}
}

func TestTypes(t *testing.T) {
	p := Parse([]byte(`# HELP x words with TYPE inside
# TYPE x counter
# TYPE x gauge
# TYPE lat histogram
# TYPE "quo ted" gauge
# TYPE build info
x_total 3
lat_bucket{le="+Inf"} 1
build_info{v="1"} 1
`))
	for name, want := range map[string]Type{
		"x": Counter, "x_total": Counter, "lat_bucket": Histogram, "lat_sum": Histogram,
		"quo ted": Gauge, "build_info": Info, "nothing": Untyped,
	} {
		if got := p.Type(name); got != want {
			t.Errorf("Type(%q) = %q; want %q", name, got, want)
		}
	}
	if len(p.Get("x_total")) != 1 || p.Has("x") || !p.HasPrefix("lat_") || p.HasPrefix("zzz") {
		t.Errorf("index is wrong: %v", p.byName)
	}
}

func TestLimits(t *testing.T) {
	long := "a{x=\"" + strings.Repeat("y", MaxLine) + "\"} 1\nb 2\n"
	if p := Parse([]byte(long)); p.Bad != 1 || len(p.Samples) != 1 || len(p.FirstBad) > 200 {
		t.Errorf("a line over the limit: bad %d, samples %d; want 1, 1", p.Bad, len(p.Samples))
	}
	many := bytes.Repeat([]byte("a 1\n"), MaxSamples+1)
	if p := Parse(many); p.Truncated == "" || len(p.Samples) != MaxSamples {
		t.Errorf("too many samples: truncated %q, %d samples", p.Truncated, len(p.Samples))
	}
	if p := Parse(bytes.Repeat([]byte("#\n"), MaxPage/2+8)); p.Truncated == "" {
		t.Error("a page over the limit is not reported as truncated")
	}
	labels := "a{" + strings.Repeat(`l="1",`, maxLabels+1) + "} 1"
	if p := Parse([]byte(labels)); p.Bad != 1 {
		t.Errorf("too many labels: bad %d; want 1", p.Bad)
	}
}

// reference reads the page with expfmt and flattens it to name → values.
func reference(b []byte) (map[string][]float64, bool) {
	tp := expfmt.NewTextParser(model.UTF8Validation)
	fams, err := tp.TextToMetricFamilies(bytes.NewReader(b))
	if err != nil {
		return nil, false
	}
	out := map[string][]float64{}
	for name, f := range fams {
		for _, m := range f.Metric {
			switch f.GetType() {
			case dto.MetricType_COUNTER:
				out[name] = append(out[name], m.GetCounter().GetValue())
			case dto.MetricType_GAUGE:
				out[name] = append(out[name], m.GetGauge().GetValue())
			case dto.MetricType_UNTYPED:
				out[name] = append(out[name], m.GetUntyped().GetValue())
			default:
				return nil, false // aggregated by the reference parser; not comparable line by line
			}
		}
	}
	return out, true
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"# TYPE a counter\na{x=\"1\"} 2 345\na{x=\"2\"} NaN\n",
		"a_bucket{le=\"1\"} 3 # {t=\"x\"} 0.4 1.5\n# EOF\n",
		"vllm:kv_cache_usage_perc{engine=\"0\",model_name=\"m\"} 0.42\n",
		"{\"q\\\"uoted\",x=\"1\"} 1\n", "a 1 \nb\t2\r\n", "# TYPE \"x y\" gauge\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 1<<16 {
			return
		}
		got := Parse(b)
		n := 0
		for name, at := range got.byName {
			n += len(at)
			if name == "" || len(got.Get(name)) != len(at) {
				t.Fatalf("index of %q is wrong", name)
			}
		}
		if n != len(got.Samples) {
			t.Fatalf("index has %d samples; want %d", n, len(got.Samples))
		}
		if bytes.Contains(b, []byte("EOF")) {
			return // the end mark is a comment to the reference parser
		}
		want, ok := reference(b)
		if !ok {
			return
		}
		for name, vs := range want {
			var have []float64
			for _, s := range got.Get(name) {
				have = append(have, s.Value)
			}
			if d := cmp.Diff(vs, have, cmpopts.EquateNaNs(), cmpopts.EquateEmpty()); d != "" {
				t.Fatalf("%q differs from the reference parser (-want +got):\n%s\npage %q", name, d, b)
			}
		}
	})
}
