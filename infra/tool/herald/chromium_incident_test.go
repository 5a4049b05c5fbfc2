//go:build emulator && incident

package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/herald-webhooks/herald/infra/tool/herald/commands"
	"github.com/herald-webhooks/herald/internal/testkit/patience"
)

// browser is one page of a headless Chromium.
type browser struct {
	page    context.Context
	axe     string // axe-core's source
	images  string // the folder of the pictures
	address string // of the console that it looks at
	clicks  int    // since the last visit

	mu     sync.Mutex
	asked  []string // addresses
	faults []string // that the browser's own console shows
}

func openBrowser(t *testing.T, axe, images string) *browser {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.WindowSize(1120, 860))
	allocator, stop := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(stop)
	page, end := chromedp.NewContext(allocator)
	t.Cleanup(end)
	b := &browser{page: page, axe: axe, images: images}
	if err := chromedp.Listen(page, b.note); err != nil {
		t.Fatal(err)
	}
	devtools(t, b, network.Enable, network.EnableParams{})
	devtools(t, b, log.Enable, cdp.Empty{})
	devtools(t, b, runtime.Enable, cdp.Empty{})
	return b
}

// devtools sends a command of the DevTools protocol.
func devtools[P, R any](t *testing.T, b *browser, c cdp.Command[P, R], params P) {
	t.Helper()
	if _, err := chromedp.Call(b.page, c, params); err != nil {
		t.Fatal(err)
	}
}

// note keeps the page's requests and complaints.
func (b *browser) note(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		b.asked = append(b.asked, e.Request.URL)
	case *log.EventEntryAdded:
		b.faults = append(b.faults, e.Entry.Text)
	case *runtime.EventExceptionThrown:
		b.faults = append(b.faults, e.ExceptionDetails.Text)
	}
}

// console starts a console with this way to connect, and lets the browser in.
func (b *browser) console(t *testing.T, connect commands.Connect) (address string) {
	t.Helper()
	u := startConsole(t, connect)
	b.do(t, chromedp.Navigate(u.String()))
	b.address = "http://" + u.Host + strings.TrimSuffix(u.Path, "/")
	return b.address
}

func (b *browser) do(t *testing.T, steps ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	ctx, cancel := context.WithTimeout(b.page, patience.Limit())
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		shown, _ := chromedp.Run(b.page, chromedp.Evaluate[string](`document.body.innerText`)) // helps, or does not
		t.Fatalf("%v\n%s", err, shown)
	}
}

// script runs JavaScript in the page, and waits for its promise.
func script[T any](t *testing.T, b *browser, text string) T {
	t.Helper()
	ctx, cancel := context.WithTimeout(b.page, patience.Limit())
	defer cancel()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[T](text, chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// visit opens a page of the console and waits for a text in it.
func (b *browser) visit(t *testing.T, path, text string) {
	t.Helper()
	b.mu.Lock()
	b.asked, b.faults, b.clicks = nil, nil, 0
	b.mu.Unlock()
	b.do(t, chromedp.Navigate(b.address+path))
	b.says(t, text)
}

// says waits until the page shows a text.
func (b *browser) says(t *testing.T, text string) {
	t.Helper()
	var shown string
	ctx, cancel := context.WithTimeout(b.page, patience.Limit())
	defer cancel()
	for !strings.Contains(shown, text) {
		now, err := chromedp.Run(ctx, chromedp.Evaluate[string](`document.querySelector("main")?.innerText ?? ""`))
		if err != nil {
			t.Fatalf("no %q: %v\n%s", text, err, shown)
		}
		shown = now
		time.Sleep(100 * time.Millisecond)
	}
}

// press clicks the first such element, and waits for another.
func (b *browser) press(t *testing.T, selector, then string) {
	t.Helper()
	b.clicks++
	b.do(t, chromedp.Click(chromedp.CSS(selector)), chromedp.WaitVisible(chromedp.CSS(then)))
}

// axeRun lists the violations of the page.
const axeRun = `;axe.run().then(r => r.violations.map(v => v.id + ": " + v.nodes.map(n => n.html).join(" ")))`

func (b *browser) isTextAndAccessible(t *testing.T) {
	t.Helper()
	title := script[string](t, b, `document.title`)
	inserted := script[int](t, b, `document.querySelectorAll("main img, main script").length`)
	if inserted > 0 || !strings.HasSuffix(title, "Herald herald-local") {
		t.Errorf("%d elements are of tenants, and the title is %q", inserted, title)
	}
	b.isAccessible(t, 3)
}

// isAccessible runs axe-core in light and dark. The page must have asked only its own server, for at least so many
// files, and the browser must not have complained.
func (b *browser) isAccessible(t *testing.T, asks int) {
	t.Helper()
	b.passesAxe(t)
	b.mu.Lock()
	defer b.mu.Unlock()
	foreign := slices.ContainsFunc(b.asked, func(a string) bool { return !strings.HasPrefix(a, b.address+"/") })
	if len(b.asked) < asks || foreign || len(b.faults) > 0 {
		t.Errorf("asked for %v; faults: %v", b.asked, b.faults)
	}
}

// passesAxe runs axe-core in light and dark.
func (b *browser) passesAxe(t *testing.T) {
	t.Helper()
	for _, scheme := range []string{"light", "dark"} {
		b.scheme(t, scheme)
		if violations := script[[]string](t, b, b.axe+axeRun); len(violations) > 0 {
			t.Errorf("%s: %s", scheme, strings.Join(violations, "\n"))
		}
	}
}

func (b *browser) scheme(t *testing.T, scheme string) {
	t.Helper()
	devtools(t, b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
	})
}

// picture shows the page as it is in a file of at most 160 KB, with -write.
func (b *browser) picture(t *testing.T, name, scheme string) {
	t.Helper()
	b.scheme(t, scheme)
	b.do(t, chromedp.Evaluate[chromedp.Void]("scrollTo(0, 0)"))
	png, err := chromedp.Run(b.page, chromedp.CaptureScreenshot())
	if err != nil {
		t.Fatal(err)
	}
	const most = 160 << 10
	if len(png) > most || !bytes.HasPrefix(png, []byte("\x89PNG")) {
		t.Errorf("%s: %d bytes, want a PNG of at most %d", name, len(png), most)
	}
	if !*write {
		return
	}
	if err := os.WriteFile(filepath.Join(b.images, name), png, 0o644); err != nil {
		t.Error(err)
	}
}
