package trace

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Window is one stretch of one client's arrivals in ServeGen's parameters.
type Window struct {
	Start  time.Duration
	Rate   float64 // requests per second; 0 for an idle window
	CV     float64 // of the gaps
	Family string  // "Gamma", "Weibull" or ""
	Shape  float64
	Scale  float64
}

// Client is one ServeGen client: when it asks, and how long prompts and answers are.
type Client struct {
	Windows []Window
	// Lengths are histograms by the start of the stretch they hold for, ascending.
	Lengths []Histograms
}

// Histograms are the token counts of one stretch, by field, such as "input_tokens".
type Histograms struct {
	Start  time.Duration
	Fields map[string]Histogram
}

// Histogram is a distribution over token counts, as a running sum of probabilities.
type Histogram struct {
	Tokens []int     // ascending
	Sum    []float64 // of the probabilities up to and including each; the last is 1
}

// Draw is the smallest count whose running sum passes u.
func (h Histogram) Draw(u float64) int {
	i, _ := slices.BinarySearch(h.Sum, u)
	return h.Tokens[min(i, len(h.Tokens)-1)]
}

// ReadServeGen reads one client: its windows ("chunk-N-trace.csv") and its length
// histograms ("chunk-N-dataset.json"), which may be nil where only arrivals are wanted.
func ReadServeGen(name string, windows, dataset io.Reader) (*Client, error) {
	c := &Client{}
	for l, err := range lines(windows) {
		if err != nil {
			return nil, &LineError{name, l.n, err.Error()}
		}
		w, err := window(string(l.text))
		if err != nil {
			return nil, &LineError{name, l.n, err.Error()}
		}
		if n := len(c.Windows); n > 0 && w.Start <= c.Windows[n-1].Start {
			return nil, &LineError{name, l.n, fmt.Sprintf("the window starts at %s, not after the one before", w.Start)}
		}
		c.Windows = append(c.Windows, w)
	}
	if len(c.Windows) == 0 {
		return nil, fmt.Errorf("%s: no windows in it", name)
	}
	if dataset == nil {
		return c, nil
	}
	return c, c.readLengths(dataset)
}

func window(text string) (Window, error) {
	f := strings.Split(text, ",")
	if len(f) != 6 {
		return Window{}, fmt.Errorf("%d columns; a window has 6: start, rate, CV, family, shape, scale", len(f))
	}
	var v [6]float64
	for _, i := range []int{0, 1, 2, 4, 5} {
		x, err := strconv.ParseFloat(strings.TrimSpace(f[i]), 64)
		if err != nil || !(x >= 0) || x > 1e9 {
			return Window{}, fmt.Errorf("column %d: %q is not a number from 0 up", i+1, f[i])
		}
		v[i] = x
	}
	w := Window{time.Duration(v[0] * float64(time.Second)), v[1], v[2], strings.TrimSpace(f[3]), v[4], v[5]}
	switch {
	case w.Family != "" && w.Family != "Gamma" && w.Family != "Weibull":
		return w, fmt.Errorf("column 4: family %q is not Gamma or Weibull", w.Family)
	case w.Rate > 0 && w.Family != "" && (w.Shape <= 0 || w.Scale <= 0):
		return w, fmt.Errorf("shape %g and scale %g are not both above 0", w.Shape, w.Scale)
	}
	return w, nil
}

// maxDataset bounds a length file, in bytes.
const maxDataset = 256 << 20

func (c *Client) readLengths(r io.Reader) error {
	data, err := io.ReadAll(io.LimitReader(r, maxDataset+1))
	if err != nil {
		return fmt.Errorf("servegen lengths: %w", err)
	}
	if len(data) > maxDataset {
		return fmt.Errorf("servegen lengths: longer than %d bytes", maxDataset)
	}
	var raw map[string]map[string]string
	if err := json.Unmarshal(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")), &raw); err != nil {
		return fmt.Errorf("servegen lengths: %w", jsonError(err))
	}
	for start, fields := range raw {
		s, err := strconv.ParseFloat(start, 64)
		if err != nil || s < 0 || s > 1e9 {
			return fmt.Errorf("servegen lengths: window %q is not a number of seconds", start)
		}
		h := Histograms{time.Duration(s * float64(time.Second)), map[string]Histogram{}}
		for name, text := range fields {
			if !strings.HasSuffix(name, "_tokens") {
				continue // a ratio, not a count
			}
			hist, err := histogram(text)
			if err != nil {
				return fmt.Errorf("servegen lengths: window %s, %s: %w", start, name, err)
			}
			if len(hist.Tokens) > 0 {
				h.Fields[name] = hist
			}
		}
		c.Lengths = append(c.Lengths, h)
	}
	slices.SortFunc(c.Lengths, func(a, b Histograms) int { return int(a.Start/time.Second - b.Start/time.Second) })
	return nil
}

// histogram reads a text such as "{45: 0.25, 46: 0.75}".
func histogram(text string) (Histogram, error) {
	t := strings.TrimSpace(text)
	if len(t) < 2 || t[0] != '{' || t[len(t)-1] != '}' {
		return Histogram{}, fmt.Errorf("%.30q is not a histogram such as {45: 0.5}", text)
	}
	type bin struct {
		n int
		p float64
	}
	var bins []bin
	var total float64
	for entry := range strings.SplitSeq(t[1:len(t)-1], ",") {
		if strings.TrimSpace(entry) == "" {
			continue
		}
		k, v, ok := strings.Cut(entry, ":")
		n, err1 := strconv.ParseFloat(strings.TrimSpace(k), 64)
		p, err2 := strconv.ParseFloat(strings.TrimSpace(v), 64)
		if !ok || err1 != nil || err2 != nil || !(n >= 0) || n > maxTokens || !(p >= 0) || math.IsInf(p, 0) {
			return Histogram{}, fmt.Errorf("entry %.40q is not a count and a probability", entry)
		}
		bins = append(bins, bin{int(n), p})
		total += p
	}
	if len(bins) > 0 && !(total > 0) {
		return Histogram{}, fmt.Errorf("the probabilities add up to %g", total)
	}
	slices.SortFunc(bins, func(a, b bin) int { return a.n - b.n })
	var h Histogram
	sum := 0.0
	for _, b := range bins {
		sum += b.p / total
		h.Tokens, h.Sum = append(h.Tokens, b.n), append(h.Sum, sum)
	}
	return h, nil
}

// Generate makes a trace of the clients' parameters over [from, to): their arrivals drawn
// window by window and their lengths from the histograms in force, prompt and answer
// apart. Clients without lengths give requests of the fallback lengths.
func Generate(clients []*Client, from, to time.Duration, seed uint64, fallbackIn, fallbackOut int) (*Trace, error) {
	t := &Trace{Name: "servegen", Format: Native}
	for k, c := range clients {
		r := rand.New(rand.NewPCG(seed, uint64(k)+1))
		for i, w := range c.Windows {
			end := w.Start + 600*time.Second
			if i+1 < len(c.Windows) {
				end = c.Windows[i+1].Start
			}
			start := max(w.Start, from)
			for at := start.Seconds() + w.gap(r)*r.Float64(); w.Rate > 0 && at < min(end, to).Seconds(); at += w.gap(r) {
				if len(t.Rows) == maxRows {
					return nil, fmt.Errorf("servegen: more than %d requests; take a shorter part", maxRows)
				}
				row := Row{At: time.Duration(at*float64(time.Second)) - from, Timed: true, Cached: -1, Session: "", Type: "client-" + strconv.Itoa(k)}
				row.In, row.Out = c.lengths(time.Duration(at*float64(time.Second)), r, fallbackIn, fallbackOut)
				t.Rows = append(t.Rows, row)
			}
		}
	}
	if len(t.Rows) == 0 {
		return nil, fmt.Errorf("servegen: no client asks anything between %s and %s", from, to)
	}
	slices.SortStableFunc(t.Rows, func(a, b Row) int {
		switch {
		case a.At < b.At:
			return -1
		case a.At > b.At:
			return 1
		}
		return 0
	})
	return t, nil
}

// gap draws one gap between arrivals, in seconds. The family's parameters give its mean;
// it is scaled to the window's rate, which is what was counted.
func (w Window) gap(r *rand.Rand) float64 {
	if w.Rate <= 0 {
		return math.Inf(1)
	}
	x := r.ExpFloat64()
	switch w.Family {
	case "Gamma":
		x = gammaDraw(r, w.Shape) / w.Shape
	case "Weibull":
		x = math.Pow(r.ExpFloat64(), 1/w.Shape) / math.Gamma(1+1/w.Shape)
	}
	return math.Max(x/w.Rate, 1e-9)
}

// gammaDraw draws from a gamma distribution with scale 1, by Marsaglia and Tsang's
// method of 2000; below shape 1 by the usual power of a uniform.
func gammaDraw(r *rand.Rand, shape float64) float64 {
	boost := 1.0
	if shape < 1 {
		boost = math.Pow(1-r.Float64(), 1/shape)
		shape++
	}
	d := shape - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		x := r.NormFloat64()
		v := 1 + c*x
		if v <= 0 {
			continue
		}
		v = v * v * v
		if u := 1 - r.Float64(); math.Log(u) < 0.5*x*x+d-d*v+d*math.Log(v) {
			return boost * d * v
		}
	}
}

func (c *Client) lengths(at time.Duration, r *rand.Rand, in, out int) (int, int) {
	i := len(c.Lengths) - 1
	for i > 0 && c.Lengths[i].Start > at {
		i--
	}
	if i < 0 {
		return in, out
	}
	f := c.Lengths[i].Fields
	if h, ok := f["input_tokens"]; ok {
		in = h.Draw(r.Float64())
	}
	if h, ok := f["output_tokens"]; ok {
		out = h.Draw(r.Float64())
	}
	return max(in, 1), max(out, 1)
}
