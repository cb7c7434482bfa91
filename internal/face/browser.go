package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// chromiums are the names under which systems have the browser.
var chromiums = []string{"chromium", "chromium-browser", "google-chrome"}

// findChromium returns the browser's path; an error says how to come by it.
func findChromium() (string, error) {
	for _, name := range chromiums {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("no Chromium is installed: `apt-get install chromium` does")
}

// A chromium is a headless Chromium with a profile of its own.
type chromium struct {
	ctx   context.Context
	close func()
}

// openBrowser starts Chromium. It ends with ctx, or by close.
func openBrowser(ctx context.Context, path string) (*chromium, error) {
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.DisableGPU)
	if os.Geteuid() == 0 { // it has no sandbox then; all that it is shown comes from nodes of this program
		opts = append(opts, chromedp.NoSandbox)
	}
	alloc, endAlloc := chromedp.NewExecAllocator(ctx, opts...)
	first, endFirst := chromedp.NewContext(alloc)
	b := &chromium{ctx: first, close: func() { endFirst(); endAlloc() }}
	if err := chromedp.Do(first, chromedp.Navigate("about:blank")); err != nil {
		b.close()
		return nil, fmt.Errorf("starting Chromium: %w", err)
	}
	return b, nil
}

// A tab is a page of the browser, with what went wrong in it.
type tab struct {
	ctx    context.Context
	close  func()
	origin string // scheme, host and port that it may ask

	mu       sync.Mutex
	troubles []string       // what the console said, and requests to elsewhere
	asked    map[string]int // requests, by path
}

// openTab opens a tab that may ask origin alone.
func (b *chromium) openTab(origin string) (*tab, error) {
	ctx, cancel := chromedp.NewContext(b.ctx)
	t := &tab{ctx: ctx, close: cancel, origin: origin, asked: map[string]int{}}
	err := chromedp.Listen(ctx, t.hear)
	if err == nil {
		_, err = chromedp.Call(ctx, network.Enable, network.EnableParams{})
	}
	if err == nil {
		_, err = chromedp.Call(ctx, log.Enable, cdp.Empty{})
	}
	if err == nil {
		err = t.size(wide)
	}
	if err != nil {
		cancel()
		return nil, fmt.Errorf("opening a tab: %w", err)
	}
	return t, nil
}

// hear notes what a page must not do.
func (t *tab) hear(event any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	note := func(format string, args ...any) { t.troubles = append(t.troubles, fmt.Sprintf(format, args...)) }
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		note("exception: %+v", e.ExceptionDetails)
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeWarning {
			note("console: %s", said(e.Args))
		}
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError || e.Entry.Level == log.EntryLevelWarning {
			note("console: %s %s", e.Entry.Text, e.Entry.URL)
		}
	case *network.EventRequestWillBeSent:
		at, err := url.Parse(e.Request.URL)
		if err != nil || at.Scheme != "data" && at.Scheme != "blob" && at.Scheme+"://"+at.Host != t.origin {
			note("a request to elsewhere: %s", e.Request.URL)
			return
		}
		t.asked[at.Path]++
	}
}

func said(args []*runtime.RemoteObject) string {
	var out []string
	for _, a := range args {
		out = append(out, string(a.Value)+a.Description)
	}
	return strings.Join(out, " ")
}

// trouble returns what went wrong since it was last asked; nil for nothing.
func (t *tab) trouble() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	found := t.troubles
	t.troubles = nil
	if len(found) == 0 {
		return nil
	}
	return errors.New(strings.Join(found, "; "))
}

// forgive forgets the trouble that an answer with this status made: a browser notes each on the console.
func (t *tab) forgive(status string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var rest []string
	for _, s := range t.troubles {
		if !strings.Contains(s, "status of "+status) {
			rest = append(rest, s)
		}
	}
	t.troubles = rest
}

// requests returns how often a path was asked for.
func (t *tab) requests(path string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.asked[path]
}

const (
	// patience is how long a page may take to show something, on a machine that is busy.
	patience = 40 * time.Second
	// looking is how often it is looked at.
	looking = 50 * time.Millisecond
)

// do carries out actions in the tab, within patience.
func (t *tab) do(actions ...chromedp.Action[chromedp.Void]) error {
	ctx, cancel := context.WithTimeout(t.ctx, patience)
	defer cancel()
	return chromedp.Do(ctx, actions...)
}

// tellTab sends a command of the protocol to a tab, within patience.
func tellTab[P, R any](t *tab, command cdp.Command[P, R], params P) error {
	ctx, cancel := context.WithTimeout(t.ctx, patience)
	defer cancel()
	_, err := chromedp.Call(ctx, command, params)
	return err
}

// eval evaluates an expression on the page, which may be a promise.
func eval[T any](t *tab, expression string) (T, error) {
	ctx, cancel := context.WithTimeout(t.ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		err = fmt.Errorf("evaluating %.60s: %w", expression, err)
	}
	return v, err
}

// visit opens a page of the dashboard by its name, and waits until it shows what it asked for.
func (t *tab) visit(page string) error {
	if err := t.do(chromedp.Navigate(t.origin + "/#/" + page)); err != nil {
		return fmt.Errorf("opening %q: %w", page, err)
	}
	return t.await(`document.querySelector("main h1") && !document.querySelector("main").innerText.includes("One moment")`)
}

// await waits until an expression holds on the page.
func (t *tab) await(expression string) error { return t.awaitFor(patience, expression) }

// awaitFor is await with a limit of its own.
func (t *tab) awaitFor(limit time.Duration, expression string) error {
	deadline := time.NewTimer(limit)
	defer deadline.Stop()
	again := time.NewTicker(looking)
	defer again.Stop()
	for {
		if ok, err := eval[bool](t, "!!("+expression+")"); ok || err != nil {
			return err
		}
		select {
		case <-again.C:
		case <-deadline.C:
			return fmt.Errorf("it never came to %s; the page says:\n%s", expression, t.text())
		}
	}
}

// text returns what the page says.
func (t *tab) text() string {
	out, err := eval[string](t, `document.body ? document.body.innerText : ""`)
	if err != nil {
		return err.Error()
	}
	return out
}

// A width is a size of the window, in pixels.
type width struct{ across, down int64 }

var (
	narrow = width{360, 740}  // the least that is asked
	wide   = width{1440, 900} // the most
)

// size sets the window's size.
func (t *tab) size(w width) error {
	return tellTab(t, emulation.SetDeviceMetricsOverride,
		emulation.SetDeviceMetricsOverrideParams{Width: w.across, Height: w.down, DeviceScaleFactor: 1})
}

// theme has the page believe that its reader wants it light or dark.
func (t *tab) theme(name string) error {
	return tellTab(t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}}})
}

// quoted is a text, or a list of texts, as JavaScript has it.
func quoted[T string | []string](v T) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // texts can be written
	}
	return string(b)
}

// press clicks the first button that has the name, however it comes by it.
func (t *tab) press(name string) error {
	find := `[...document.querySelectorAll("main button, main .button")].find(b => !b.disabled && ` +
		`(b.getAttribute("aria-label") || b.innerText).trim() === ` + quoted(name) + `)`
	if err := t.await(find); err != nil {
		return err
	}
	_, err := eval[bool](t, find+".click() || true")
	return err
}
