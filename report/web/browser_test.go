package web

import (
	"context"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/report/reporttest"
)

// browser starts a browser without a screen, or skips the test where there is none.
func browser(t *testing.T) context.Context {
	t.Helper()
	path := ""
	for _, p := range []string{os.Getenv("CHROMIUM"), "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"} {
		if _, err := os.Stat(p); p != "" && err == nil {
			path = p
			break
		}
	}
	if path == "" || testing.Short() {
		t.Skip("no Chromium here (set CHROMIUM to its path), or -short")
	}
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.WSURLReadTimeout(time.Minute))
	ctx, cancel := chromedp.NewExecAllocator(t.Context(), opts...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, 3*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func do(t *testing.T, ctx context.Context, steps ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	if err := chromedp.Do(ctx, steps...); err != nil {
		t.Fatal(err)
	}
}

func eval[T any](t *testing.T, ctx context.Context, js string) T {
	t.Helper()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](js))
	if err != nil {
		t.Fatalf("%s: %v", js, err)
	}
	return v
}

// size makes the window a phone or a desk.
func size(width, height int64) chromedp.Action[chromedp.Void] {
	return chromedp.EmulateViewport(width, height)
}

// shoot keeps a picture of the whole page in the folder that SCREENSHOTS names.
func shoot(t *testing.T, ctx context.Context, name string) {
	t.Helper()
	dir := os.Getenv("SCREENSHOTS")
	if dir == "" {
		return
	}
	png, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644); err != nil {
		t.Fatal(err)
	}
}

// wideElements lists what sticks out of the window to the right.
const wideElements = `[...document.querySelectorAll("main *, header *")].filter(e => !e.closest(".scroll, nav, pre, .ch-labels, .ch-x, svg, .items, .sr, .skip") && e.getBoundingClientRect().right > innerWidth + 1).map(e => e.tagName + "." + e.className).slice(0, 5).join(" ")`

func TestReportInABrowser(t *testing.T) {
	ctx := browser(t)
	srv, _ := site(t, Config{})
	for _, w := range []struct {
		name string
		size int64
	}{{"desk", 1280}, {"phone", 390}} {
		for _, kind := range []string{"saturated", "healthy", "hostile"} {
			do(t, ctx, size(w.size, 900), chromedp.Navigate(srv.URL+"/runs/"+kind), chromedp.WaitReady("#definitions"))
			if wide := eval[string](t, ctx, wideElements); wide != "" {
				t.Errorf("%s at %d px: %s stick out", kind, w.size, wide)
			}
			if over := eval[bool](t, ctx, `document.documentElement.scrollWidth > innerWidth + 1`); over {
				t.Errorf("%s at %d px: the page scrolls sideways", kind, w.size)
			}
			shoot(t, ctx, kind+"-"+w.name)
		}
	}
	if n := eval[int](t, ctx, `performance.getEntriesByType("resource").length`); n != 0 {
		t.Errorf("the report loaded %d resources; want none", n)
	}
}

func TestReportByKeyboard(t *testing.T) {
	ctx := browser(t)
	srv, _ := site(t, Config{})
	do(t, ctx, size(1280, 900), chromedp.Navigate(srv.URL+"/runs/saturated"), chromedp.WaitReady("#definitions"))
	eval[bool](t, ctx, `document.querySelector("#t-latency .ch-body").focus(), true`)
	do(t, ctx, chromedp.KeyEvent(kb.ArrowRight)) // arrow right
	tip := eval[string](t, ctx, `document.getElementById("tip").hidden ? "" : document.getElementById("tip").textContent`)
	if !strings.Contains(tip, "TTFT") || !strings.Contains(tip, "E2E") {
		t.Errorf("the arrow key shows %q; want the values of TTFT and E2E", tip)
	}
	if n := eval[int](t, ctx, `[...document.querySelectorAll("#timeline .ch-cross")].filter(c => !c.hidden).length`); n < 5 {
		t.Errorf("%d crosshairs move together; want those of all layers", n)
	}
	do(t, ctx, chromedp.KeyEvent("+"))
	if box := eval[string](t, ctx, `document.querySelector("#t-kv svg").getAttribute("viewBox")`); box == "0 0 1000 1000" {
		t.Error("plus does not zoom the layers together")
	}
	do(t, ctx, chromedp.KeyEvent(kb.Escape)) // escape
	if box := eval[string](t, ctx, `document.querySelector("#t-kv svg").getAttribute("viewBox")`); box != "0 0 1000 1000" {
		t.Errorf("escape leaves the zoom at %q", box)
	}
	before := eval[string](t, ctx, `getComputedStyle(document.body).backgroundColor`)
	eval[bool](t, ctx, `document.getElementById("theme").click(), true`)
	if after := eval[string](t, ctx, `getComputedStyle(document.body).backgroundColor`); after == before {
		t.Errorf("the theme button leaves the background at %s", after)
	}
	shoot(t, ctx, "saturated-desk-other-theme")
	shown := eval[int](t, ctx, `document.querySelector('[data-show="bad"]').click(), [...document.querySelectorAll(".item")].filter(i => !i.hidden && !i.classList.contains("bad")).length`)
	if shown != 0 {
		t.Errorf("the filter for wrong items shows %d others", shown)
	}
}

func TestDarkByTheSystem(t *testing.T) {
	ctx := browser(t)
	srv, _ := site(t, Config{})
	dark := chromedp.Func(func(ctx context.Context, tab *chromedp.Target) error {
		_, err := cdp.Call(ctx, tab, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}})
		return err
	})
	do(t, ctx, dark, size(390, 844), chromedp.Navigate(srv.URL+"/"), chromedp.WaitReady(".runs"))
	if bg := eval[string](t, ctx, `getComputedStyle(document.body).backgroundColor`); bg != "rgb(15, 18, 22)" {
		t.Errorf("the background in dark mode is %s", bg)
	}
	shoot(t, ctx, "index-phone-dark")
}

func TestChooseAndCompareInABrowser(t *testing.T) {
	ctx := browser(t)
	srv, _ := site(t, Config{})
	do(t, ctx, size(1280, 900), chromedp.Navigate(srv.URL+"/"), chromedp.WaitReady(".runs"))
	shoot(t, ctx, "index-desk")
	eval[bool](t, ctx, `document.getElementById("c-saturated").click(), document.getElementById("c-healthy").click(), document.querySelector(".bar button").click(), true`)
	do(t, ctx, chromedp.WaitReady("#figures"))
	if at := eval[string](t, ctx, `location.pathname`); at != "/compare" {
		t.Errorf("the button leads to %s", at)
	}
	for _, w := range []int64{1280, 390} {
		do(t, ctx, size(w, 900))
		if wide := eval[string](t, ctx, wideElements); wide != "" {
			t.Errorf("comparison at %d px: %s stick out", w, wide)
		}
		shoot(t, ctx, map[int64]string{1280: "compare-desk", 390: "compare-phone"}[w])
	}
}

// The live view draws what comes in and goes to the report when the run ends.
func TestLiveInABrowser(t *testing.T) {
	ctx := browser(t)
	root := t.TempDir()
	src, _ := reporttest.Build(t, reporttest.Saturated)
	m := src.Manifest
	m.State, m.Ended, m.Name = archive.StateRunning, 0, "going"
	w, err := archive.Create(filepath.Join(root, "going"), m)
	if err != nil {
		t.Fatal(err)
	}
	for r, err := range src.Requests() {
		if err != nil {
			t.Fatal(err)
		}
		w.Request(r)
	}
	for s, err := range src.Samples() {
		if err != nil {
			t.Fatal(err)
		}
		w.Sample(*s)
	}
	for e, err := range src.Events() {
		if err != nil {
			t.Fatal(err)
		}
		w.Event(*e)
	}
	analysis, err := src.Analysis()
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(Config{Root: root, Interval: 20 * time.Millisecond, Analyze: func(*archive.Run) (*archive.Analysis, error) { return analysis, nil }})
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(s)
	defer srv.Close()
	do(t, ctx, size(1280, 900), chromedp.Navigate(srv.URL+"/runs/going"))
	if _, err := chromedp.Run(ctx, chromedp.PollFunction[bool](`() => Number(document.getElementById("n-ok")?.textContent) > 300 && document.querySelectorAll("#l-latency path.ch-mdots").length > 0`)); err != nil {
		t.Fatal(err)
	}
	if got := eval[string](t, ctx, `document.getElementById("state").textContent`); got != "running" {
		t.Errorf("the state is %q", got)
	}
	if n := eval[int](t, ctx, `document.querySelectorAll("#charts .ch:not([hidden])").length`); n != 4 {
		t.Errorf("%d live charts are shown; want 4", n)
	}
	shoot(t, ctx, "live-desk")
	do(t, ctx, size(390, 844))
	if wide := eval[string](t, ctx, wideElements); wide != "" {
		t.Errorf("live at 390 px: %s stick out", wide)
	}
	shoot(t, ctx, "live-phone")
	m.State, m.Ended = archive.StateComplete, src.Manifest.Ended
	if err := w.Close(m); err != nil {
		t.Fatal(err)
	}
	do(t, ctx, chromedp.WaitReady("#definitions"))
	if at := eval[string](t, ctx, `location.pathname`); at != "/runs/going" {
		t.Errorf("after the end the page is %s; want the report", at)
	}
}
