package report

import (
	"embed"
	"fmt"
	"html/template"
	"io"
	"regexp"
	"strings"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/report/chart"
	"github.com/inferencebench/inferencebench/report/quantity"
)

//go:embed templates/*.gohtml
var templates embed.FS

//go:embed assets/page.css
var pageCSS string

//go:embed assets/page.js
var pageJS string

// HTML writes the report as one page that needs nothing else: no network, no script to
// be read, light and dark, on a phone and on paper. Everything that came from outside is
// escaped by html/template, and the page's content security policy lets nothing load. The
// records of the run are read once, in bounded memory. The error is that of a file that
// cannot be read, or of the writer.
func HTML(w io.Writer, run *archive.Run, a *archive.Analysis) error {
	return Page(w, run, a, PageOptions{})
}

// PageOptions are for pages that are served rather than kept as a file.
type PageOptions struct {
	// Home is where the name of the program leads, such as "/"; "" for nowhere.
	Home string
	// Downloads are offered at the end of the page.
	Downloads []Link
	// Link returns where a run's own report is, or ""; nil for nowhere. A comparison
	// uses it.
	Link func(*archive.Run) string
}

// Link is one link of a page.
type Link struct{ Label, URL, Title string }

// Page is HTML with options.
func Page(w io.Writer, run *archive.Run, a *archive.Analysis, o PageOptions) error {
	p, err := build(run, a)
	if err != nil {
		return err
	}
	p.Home, p.Downloads = o.Home, o.Downloads
	p.CSS, p.JS = template.CSS(pageCSS), template.JS(pageJS) //nolint:gosec // our own files
	return execute(w, "page.gohtml", p)
}

func execute(w io.Writer, name string, data any) error {
	t, err := template.New("page").Funcs(funcs()).ParseFS(templates, "templates/*.gohtml")
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	if err := t.ExecuteTemplate(w, name, data); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return nil
}

func funcs() template.FuncMap {
	return template.FuncMap{
		"int":      quantity.Int,
		"int64":    func(n int64) string { return quantity.Int(int(n)) },
		"oneline":  OneLine,
		"visible":  Visible,
		"clock":    chart.Clock,
		"join":     strings.Join,
		"known":    func(o archive.Opt[bool]) bool { return o.Known() },
		"yes":      func(o archive.Opt[bool]) bool { return o.Or(false) },
		"est":      cellOf,
		"pct":      percent,
		"optf":     func(o archive.Opt[float64], unit string) string { return optional(o, unit) },
		"opti":     optInt,
		"has":      func(o archive.Opt[float64]) bool { return o.Known() },
		"hasText":  func(o archive.Opt[string]) bool { return o.Known() },
		"text":     func(o archive.Opt[string]) string { return o.Or("") },
		"score":    scoreClass,
		"evidence": evidenceValue,
		"verdict":  verdictWord,
		"level":    confidenceLevel,
		"plural":   plural,
		"fixed":    quantity.Fixed,
		"linked":   linked,
		"words":    words,
		"tidy":     func(s string) string { return tidy(OneLine(s)) },
	}
}

// Visible keeps the lines of s and makes its control characters visible as pictures, so
// that what a server sent can be read but does nothing.
func Visible(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r < 0x20:
			return 0x2400 + r
		case r == 0x7f:
			return 0x2421
		case r >= 0x80 && r < 0xa0, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069, r == 0x200e, r == 0x200f, r == 0x61c:
			return 0xFFFD
		}
		return r
	}, strings.ToValidUTF8(strings.ReplaceAll(s, "\r\n", "\n"), "\uFFFD"))
}

var (
	evidenceID = regexp.MustCompile(`\bE\d{1,6}\b`)
	codeSpan   = regexp.MustCompile("`([^`]*)`")
)

// linked escapes a sentence, then makes its evidence ids links and its code spans code.
func linked(s string) template.HTML {
	s = template.HTMLEscapeString(tidy(OneLine(s)))
	s = whole(s)
	s = evidenceID.ReplaceAllString(s, `<a href="#$0">$0</a>`)
	return template.HTML(codeSpan.ReplaceAllString(s, "<code>$1</code>")) //nolint:gosec // escaped above
}

// percent shows an estimate of a share as a percentage.
func percent(e archive.Estimate) cell {
	v, ok := e.Value.Get()
	if !ok {
		return cell{Reason: e.Reason}
	}
	c := cell{Value: quantity.Format(100*v, "%")}
	lo, ok1 := e.Low.Get()
	hi, ok2 := e.High.Get()
	if ok1 && ok2 {
		c.Interval = quantity.Range(100*lo, 100*hi, "%")
	}
	return c
}

func optional(o archive.Opt[float64], unit string) string {
	v, ok := o.Get()
	if !ok {
		return "–"
	}
	return quantity.Format(v, unit)
}

func optInt(o archive.Opt[int]) string {
	v, ok := o.Get()
	if !ok {
		return "unknown"
	}
	return quantity.Int(v)
}

// scoreClass is "good", "bad" or "unknown".
func scoreClass(o archive.Opt[float64]) string {
	switch v, ok := o.Get(); {
	case !ok:
		return "unknown"
	case v >= 1:
		return "good"
	case v > 0:
		return "part"
	}
	return "bad"
}

func evidenceValue(e archive.Evidence) string {
	v, ok := e.Value.Get()
	if !ok {
		return ""
	}
	s := quantity.Format(v, e.Unit)
	lo, ok1 := e.Low.Get()
	hi, ok2 := e.High.Get()
	if ok1 && ok2 {
		s += " [" + quantity.Range(lo, hi, e.Unit) + "]"
	}
	return s
}

func verdictWord(state string) string {
	switch state {
	case archive.VerdictBottleneck:
		return "Bottleneck found"
	case archive.VerdictNone:
		return "No bottleneck at this load"
	case archive.VerdictInconclusive:
		return "Undecided"
	case archive.VerdictInvalid:
		return "Run not valid"
	}
	return "No verdict"
}

func confidenceLevel(c string) int {
	switch c {
	case "high":
		return 3
	case "medium":
		return 2
	case "low":
		return 1
	}
	return 0
}

// Stylesheet returns the style sheet of the page, for pages that look like it.
func Stylesheet() string { return pageCSS }

// Script returns the script of the page: theme, charts, filters.
func Script() string { return pageJS }
