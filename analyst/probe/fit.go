package probe

import (
	"math"

	"github.com/inferencebench/inferencebench/archive"
)

// Point is one answered request of a load at a known number of users: its tokens, and its
// time to first token and time a token in milliseconds.
type Point struct {
	Users, Prompt, Output float64
	TTFT, TPOT            float64
}

// Fits estimates constants of a server from requests at one and at a few users: the cost
// of a step, TPOT = base + each·users + context·users·(prompt + output/2), and the slope
// of the time to first token over the prompt at one user, linear and with a square term.
// Intervals are 95 %, by ordinary least squares. A constant that the points cannot tell is
// unknown with the reason.
func Fits(points []Point) []archive.Fit {
	var steps, slopes [][]float64
	var tpot, ttft []float64
	for _, p := range points {
		if p.TPOT > 0 && p.Users > 0 {
			steps = append(steps, []float64{1, p.Users, p.Users * (p.Prompt + p.Output/2) / 1000})
			tpot = append(tpot, p.TPOT)
		}
		if p.TTFT > 0 && p.Users == 1 && p.Prompt > 0 {
			k := p.Prompt / 1000
			slopes = append(slopes, []float64{1, k, k * k})
			ttft = append(ttft, p.TTFT)
		}
	}
	linear := make([][]float64, len(slopes))
	for i, row := range slopes {
		linear[i] = row[:2]
	}
	var out []archive.Fit
	add := func(rows [][]float64, y []float64, method string, names ...archive.Fit) {
		b, se, reason := leastSquares(rows, y)
		for i, f := range names {
			if f.ID == "" {
				continue
			}
			if f.Method, f.Reason = method, reason; reason == "" {
				f.Value = archive.Some(b[i])
				f.Low, f.High = archive.Some(b[i]-1.96*se[i]), archive.Some(b[i]+1.96*se[i])
			}
			out = append(out, f)
		}
	}
	add(steps, tpot, "least squares of the time a token over users and context",
		archive.Fit{ID: "step_base", Label: "Step, fixed part", Unit: "ms"},
		archive.Fit{ID: "step_each", Label: "Step, for each sequence", Unit: "ms"},
		archive.Fit{ID: "step_context", Label: "Step, for 1,000 tokens of context", Unit: "ms"})
	add(linear, ttft, "least squares of the time to first token over the prompt, one user",
		archive.Fit{ID: "ttft_floor", Label: "Time to first token of an empty prompt", Unit: "ms"},
		archive.Fit{ID: "ttft_slope", Label: "Time to first token for 1,000 prompt tokens", Unit: "ms"})
	add(slopes, ttft, "as the slope, with a square term",
		archive.Fit{}, archive.Fit{}, archive.Fit{ID: "ttft_square", Label: "Square term of the time to first token, per (1,000 tokens)²", Unit: "ms"})
	return out
}

// leastSquares solves y = X·b and returns the standard errors of b, or why it cannot.
func leastSquares(x [][]float64, y []float64) (b, se []float64, reason string) {
	if len(x) < 8 {
		return nil, nil, "too few requests were answered"
	}
	k := len(x[0])
	// The normal equations beside the identity, solved by elimination with pivots: columns
	// are scaled first, so that a small pivot means that they depend on each other.
	scale := make([]float64, k)
	for j := range k {
		for _, row := range x {
			scale[j] = math.Max(scale[j], math.Abs(row[j]))
		}
		if scale[j] == 0 {
			return nil, nil, "the requests do not vary enough"
		}
	}
	m := make([][]float64, k)
	for i := range k {
		m[i] = make([]float64, 2*k+1)
		m[i][k+1+i] = 1
		for r, row := range x {
			for j := range k {
				m[i][j] += row[i] / scale[i] * row[j] / scale[j]
			}
			m[i][k] += row[i] / scale[i] * y[r]
		}
	}
	for c := range k {
		p := c
		for r := c + 1; r < k; r++ {
			if math.Abs(m[r][c]) > math.Abs(m[p][c]) {
				p = r
			}
		}
		if math.Abs(m[p][c]) < 1e-6*float64(len(x)) {
			return nil, nil, "the requests do not vary enough"
		}
		m[c], m[p] = m[p], m[c]
		for r := range k {
			if r == c {
				continue
			}
			f := m[r][c] / m[c][c]
			for j := c; j < 2*k+1; j++ {
				m[r][j] -= f * m[c][j]
			}
		}
	}
	b, se = make([]float64, k), make([]float64, k)
	for i := range k {
		b[i] = m[i][k] / m[i][i] / scale[i]
	}
	rss := 0.0
	for r, row := range x {
		e := y[r]
		for j := range k {
			e -= b[j] * row[j]
		}
		rss += e * e
	}
	s2 := rss / float64(max(1, len(x)-k))
	for i := range k {
		se[i] = math.Sqrt(math.Max(0, s2*m[i][k+1+i]/m[i][i])) / scale[i]
	}
	return b, se, ""
}
