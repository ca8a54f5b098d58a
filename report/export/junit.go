package export

import (
	"encoding/xml"
	"io"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/report"
)

type suites struct {
	XMLName xml.Name `xml:"testsuites"`
	Suites  []suite  `xml:"testsuite"`
}

type suite struct {
	Name       string     `xml:"name,attr"`
	Tests      int        `xml:"tests,attr"`
	Failures   int        `xml:"failures,attr"`
	Errors     int        `xml:"errors,attr"`
	Skipped    int        `xml:"skipped,attr"`
	Timestamp  string     `xml:"timestamp,attr"`
	Properties []property `xml:"properties>property"`
	Cases      []testCase `xml:"testcase"`
}

type property struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type testCase struct {
	Class   string   `xml:"classname,attr"`
	Name    string   `xml:"name,attr"`
	Time    string   `xml:"time,attr"`
	Failure *outcome `xml:"failure,omitempty"`
	Skipped *outcome `xml:"skipped,omitempty"`
	Out     string   `xml:"system-out,omitempty"`
}

type outcome struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
}

// JUnit writes the verdict, every validity gate and every objective as test cases. What
// failed is a failure, what could not be decided is skipped with the reason.
func JUnit(w io.Writer, run *archive.Run, a *archive.Analysis) error {
	m := run.Manifest
	s := suite{
		Name: "inferencebench", Timestamp: m.Epoch.UTC().Format("2006-01-02T15:04:05"),
		Properties: []property{
			{"run", report.OneLine(m.ID)}, {"model", report.OneLine(m.Server.Model)}, {"engine", report.OneLine(m.Server.Engine)},
			{"verdict", a.Verdict.State}, {"cause", a.Verdict.Cause}, {"confidence", a.Verdict.Confidence}, {"definitions", a.Definitions},
		},
	}
	verdict := testCase{Class: "verdict", Name: "the run is valid", Time: "0", Out: report.OneLine(a.Verdict.Headline)}
	switch {
	case a.Verdict.State == archive.VerdictInvalid:
		verdict.Failure = &outcome{report.OneLine(a.Verdict.Headline), "invalid"}
	case a.State != archive.StateComplete:
		verdict.Failure = &outcome{report.OneLine("the run is " + string(a.State) + " " + m.Reason), string(a.State)}
	}
	s.add(verdict)
	for _, g := range a.Gates {
		s.add(checked("gate", g.ID, g.Passed, g.Message+" Observed "+g.Observed+", limit "+g.Limit+"."))
	}
	for _, o := range a.SLOs {
		text := o.Observed
		if o.Reason != "" {
			text += "; " + o.Reason
		}
		s.add(checked("objective", o.Expr, o.Met, text))
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(suites{Suites: []suite{s}}); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func checked(class, name string, passed archive.Opt[bool], text string) testCase {
	c := testCase{Class: class, Name: report.OneLine(name), Time: "0"}
	text = report.OneLine(text)
	switch ok, known := passed.Get(); {
	case !known:
		c.Skipped = &outcome{Message: text}
	case !ok:
		c.Failure = &outcome{text, class}
	default:
		c.Out = text
	}
	return c
}

func (s *suite) add(c testCase) {
	s.Cases = append(s.Cases, c)
	s.Tests++
	if c.Failure != nil {
		s.Failures++
	}
	if c.Skipped != nil {
		s.Skipped++
	}
}
