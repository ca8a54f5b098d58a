package report

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/report/reporttest"
)

func page1(t *testing.T, kind reporttest.Kind) string {
	t.Helper()
	run, a := reporttest.Build(t, kind)
	var b bytes.Buffer
	if err := HTML(&b, run, a); err != nil {
		t.Fatal(err)
	}
	if dir := os.Getenv("REPORT_OUT"); dir != "" {
		if err := os.WriteFile(filepath.Join(dir, string(kind)+".html"), b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

var tagRE = regexp.MustCompile(`(?i)<(script|img|iframe|link|object|embed|base|form)\b`)

func TestHTMLNeedsNothingFromOutside(t *testing.T) {
	for _, kind := range reporttest.Kinds() {
		out := page1(t, kind)
		for _, bad := range []string{"http://", "https://", "//cdn", "@import", "NaN", "%!"} {
			if strings.Contains(out, bad) {
				t.Errorf("%s: the page contains %q", kind, bad)
			}
		}
		if !strings.Contains(out, `default-src 'none'`) {
			t.Errorf("%s: no content security policy", kind)
		}
		if strings.Contains(out, "ZgotmplZ") {
			t.Errorf("%s: the template refused a value", kind)
		}
	}
}

func TestHTMLEscapesHostileText(t *testing.T) {
	clean, hostile := page1(t, reporttest.Saturated), page1(t, reporttest.Hostile)
	count := func(s string) int { return len(tagRE.FindAllString(s, -1)) }
	if c, h := count(clean), count(hostile); c != h {
		t.Errorf("the hostile run has %d active elements, the same run with clean text %d", h, c)
	}
	for _, bad := range []string{"<img", "<script>alert", "\x1b", "\u202e"} {
		if strings.Contains(hostile, bad) {
			t.Errorf("the page contains %q", bad)
		}
	}
	if !strings.Contains(hostile, "&lt;script&gt;alert(&#39;x&#39;)") {
		t.Error("the hostile reply is not shown as text")
	}
}

func TestHTMLSaysWhatMatters(t *testing.T) {
	for _, c := range []struct {
		kind reporttest.Kind
		want []string
	}{
		{reporttest.Saturated, []string{"Bottleneck found", "KV cache capacity limits this server", "Next</b>", "Check failed: errors", "--kv-cache-dtype fp8", "cost</b> is unknown: no price was given"}},
		{reporttest.Healthy, []string{"No bottleneck at this load", "Simulation</b>", "Objectives met"}},
		{reporttest.Interrupted, []string{"Interrupted</b>", "pressed Ctrl-C"}},
		{reporttest.AllFailed, []string{"Run not valid", "Every request failed", "http_503", "No token was received."}},
		{reporttest.BlackBox, []string{"Undecided", "exposes no metrics", "No GPU was visible"}},
	} {
		out := page1(t, c.kind)
		for _, w := range c.want {
			if !strings.Contains(out, w) {
				t.Errorf("%s: the page does not say %q", c.kind, w)
			}
		}
	}
}

func TestHTMLIsDeterministic(t *testing.T) {
	run, a := reporttest.Build(t, reporttest.Saturated)
	var x, y bytes.Buffer
	if err := errors.Join(HTML(&x, run, a), HTML(&y, run, a)); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(x.Bytes(), y.Bytes()) {
		t.Error("two renderings of one run differ")
	}
}

func TestHTMLNamesUnreadableLines(t *testing.T) {
	run, a := reporttest.Build(t, reporttest.Saturated)
	f, err := os.OpenFile(filepath.Join(run.Dir, archive.RequestsFile), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("{not json}\n"); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := HTML(&b, run, a); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "Lines that could not be read (1)") || !strings.Contains(b.String(), "requests.jsonl:") {
		t.Error("the page does not name the unreadable line")
	}
}

func TestLinkedTextIsEscapedFirst(t *testing.T) {
	for _, c := range []struct{ why, in, want string }{
		{"ids are links", "Busy (E12).", `Busy (<a href="#E12">E12</a>).`},
		{"code spans are code", "Set `--a b`.", "Set <code>--a b</code>."},
		{"markup is text", "<b>`<i>`", "&lt;b&gt;<code>&lt;i&gt;</code>"},
		{"an id inside an attribute is no way out", `" onclick=E1 "`, `&#34; onclick=<a href="#E1">E1</a> &#34;`},
	} {
		if got := string(linked(c.in)); got != c.want {
			t.Errorf("%s: %q; want %q", c.why, got, c.want)
		}
	}
}
