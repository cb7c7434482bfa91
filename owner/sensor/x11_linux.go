package sensor

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"time"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/screensaver"
	"github.com/jezek/xgb/xproto"
)

// inputPoll is how often interfaces that only answer are asked for the last
// input. The owner's wait for a stop is this at the most; four questions a
// second cost less than a thousandth of a core.
const inputPoll = 250 * time.Millisecond

// screenEvery is how many of those polls go by between two looks at the screen.
const screenEvery = 4

// X11 asks an X server for the time since the last input (MIT-SCREEN-SAVER) and
// for the active window's state (EWMH _NET_WM_STATE_FULLSCREEN).
type X11 struct {
	Display string // such as ":0"; "" for $DISPLAY
}

// Name returns "x11".
func (X11) Name() string { return "x11" }

// Kinds returns Input and Screen.
func (X11) Kinds() []Kind { return []Kind{Input, Screen} }

// Run watches until ctx ends.
func (x X11) Run(ctx context.Context, report func(Reading)) {
	watch(ctx, x, report, func(ctx context.Context) error { return x.session(ctx, report) })
}

func init() {
	xgb.Logger = log.New(io.Discard, "", 0) // what it would print, errors tell
}

func (x X11) session(ctx context.Context, report func(Reading)) error {
	display := x.Display
	if display == "" {
		display = os.Getenv("DISPLAY")
	}
	if display == "" {
		return blind("DISPLAY is not set: this is no X session",
			"on an X desktop run godwit as the user who is logged in there")
	}
	c, err := xgb.NewConnDisplay(display)
	if err != nil {
		return blind(fmt.Sprintf("X display %s cannot be opened: %v", display, err),
			"run godwit as the user of that desktop, with its DISPLAY and XAUTHORITY")
	}
	defer c.Close()
	defer context.AfterFunc(ctx, c.Close)()
	if err := screensaver.Init(c); err != nil {
		return blind("the X server has no MIT-SCREEN-SAVER extension", "enable the extension in the X server")
	}
	// A Wayland compositor's X server hears only of input to X programs.
	partial := x.Display == "" && os.Getenv("WAYLAND_DISPLAY") != ""
	v := &xView{x: x, c: c, partial: partial, root: xproto.Setup(c).DefaultScreen(c).Root, report: report}
	if err := v.names(); err != nil {
		return err
	}
	return Poll(ctx, inputPoll, v.look)
}

// An xView is a connection to an X server.
type xView struct {
	x      X11
	c      *xgb.Conn
	root   xproto.Window
	report func(Reading)

	active, state, full xproto.Atom
	touch               touch
	polls               int
	screen              bool
	partial             bool
}

func (v *xView) names() error {
	for _, a := range []struct {
		name string
		atom *xproto.Atom
	}{{"_NET_ACTIVE_WINDOW", &v.active}, {"_NET_WM_STATE", &v.state}, {"_NET_WM_STATE_FULLSCREEN", &v.full}} {
		r, err := xproto.InternAtom(v.c, false, uint16(len(a.name)), a.name).Reply()
		if err != nil {
			return fmt.Errorf("asking the X server: %w", err)
		}
		*a.atom = r.Atom
	}
	return nil
}

func (v *xView) look() error {
	info, err := screensaver.QueryInfo(v.c, xproto.Drawable(v.root)).Reply()
	if err != nil {
		return fmt.Errorf("asking the X server for the idle time: %w", err)
	}
	now := time.Now()
	if at := now.Add(-time.Duration(info.MsSinceUserInput) * time.Millisecond); v.touch.news(at) {
		v.report(Reading{Sensor: v.x.Name(), Kind: Input, At: now, Touched: at, Partial: v.partial,
			Detail: "MIT-SCREEN-SAVER"})
	}
	if v.polls%screenEvery == 0 {
		full, err := v.fullScreen()
		if err != nil {
			return fmt.Errorf("asking the X server for the active window: %w", err)
		}
		if v.polls == 0 || full != v.screen {
			v.screen = full
			v.report(Reading{Sensor: v.x.Name(), Kind: Screen, At: now, On: full, Detail: "_NET_WM_STATE_FULLSCREEN"})
		}
	}
	v.polls++
	return nil
}

// fullScreen says whether the active window fills the screen. A window that
// vanished between two questions does not.
func (v *xView) fullScreen() (bool, error) {
	w, err := v.words(v.root, v.active, xproto.AtomWindow)
	if err != nil || len(w) == 0 || w[0] == 0 {
		return false, err
	}
	states, err := v.words(xproto.Window(w[0]), v.state, xproto.AtomAtom)
	if gone := (xproto.WindowError{}); err != nil && isType(err, gone) {
		return false, nil
	}
	for _, s := range states {
		if xproto.Atom(s) == v.full {
			return true, nil
		}
	}
	return false, err
}

func isType[T error](err error, _ T) bool {
	_, ok := err.(T)
	return ok
}

// words reads a property of 32-bit values; at most maxWords of them.
func (v *xView) words(w xproto.Window, p, kind xproto.Atom) ([]uint32, error) {
	const maxWords = 64
	r, err := xproto.GetProperty(v.c, false, w, p, kind, 0, maxWords).Reply()
	if err != nil || r.Format != 32 {
		return nil, err
	}
	var out []uint32
	for b := r.Value; len(b) >= 4; b = b[4:] {
		out = append(out, xgb.Get32(b))
	}
	return out, nil
}
