package sensor

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"time"
)

// Wayland asks the compositor to say when input stops and starts: the protocol
// ext-idle-notify-v1, or KDE's older org_kde_kwin_idle where that is all there
// is. Neither tells what is on the screen.
type Wayland struct {
	Socket string // path; "" for $WAYLAND_DISPLAY in $XDG_RUNTIME_DIR
}

// idleAfter is how long without input the compositor is asked to call idle.
// Shorter would make reports of every pause in typing.
const idleAfter = time.Second

// Name returns "wayland".
func (Wayland) Name() string { return "wayland" }

// Kinds returns Input.
func (Wayland) Kinds() []Kind { return []Kind{Input} }

// Run watches until ctx ends.
func (w Wayland) Run(ctx context.Context, report func(Reading)) {
	watch(ctx, w, report, func(ctx context.Context) error { return w.session(ctx, report) })
}

func (w Wayland) path() (string, error) {
	if w.Socket != "" {
		return w.Socket, nil
	}
	name := os.Getenv("WAYLAND_DISPLAY")
	switch dir := os.Getenv("XDG_RUNTIME_DIR"); {
	case name == "":
		return "", blind("WAYLAND_DISPLAY is not set: this is no Wayland session",
			"on a Wayland desktop run godwit as the user who is logged in there")
	case filepath.IsAbs(name):
		return name, nil
	case dir == "":
		return "", blind("XDG_RUNTIME_DIR is not set", "run godwit within the Wayland session")
	default:
		return filepath.Join(dir, name), nil
	}
}

func (w Wayland) session(ctx context.Context, report func(Reading)) error {
	path, err := w.path()
	if err != nil {
		return err
	}
	conn, err := net.Dial("unix", path)
	if err != nil {
		return blind(fmt.Sprintf("the Wayland compositor cannot be reached: %v", err),
			"run godwit as the user of that desktop")
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	c := &wlClient{conn: conn, next: wlFirst}
	if err := c.subscribe(); err != nil {
		return err
	}
	// Nothing is known of input before now.
	report(Reading{Sensor: w.Name(), Kind: Input, At: time.Now(), Touched: time.Now(), Present: true,
		Detail: c.notifier.face})
	idle := map[uint32]bool{}
	for {
		id, op, _, err := c.read()
		switch {
		case err != nil:
			return fmt.Errorf("listening to the Wayland compositor: %w", err)
		case id == wlDisplay && op == wlError:
			return errors.New("the Wayland compositor refused a request")
		case !c.watches[id] || op > wlResumed:
			continue
		}
		now := time.Now()
		r := Reading{Sensor: w.Name(), Kind: Input, At: now, Detail: c.notifier.face}
		idle[id] = op == wlIdled
		for watched := range c.watches {
			r.Present = r.Present || !idle[watched]
		}
		r.Touched = now
		if op == wlIdled {
			r.Touched = now.Add(-idleAfter)
		}
		report(r)
	}
}

// Objects, requests and events of the protocol, by number.
const (
	wlDisplay  = 1 // the object that every connection begins with
	wlRegistry = 2 // ours, from here on
	wlCallback = 3
	wlFirst    = 4 // first free one

	wlError       = 0 // event of wl_display
	wlSync        = 0 // requests of wl_display
	wlGetRegistry = 1
	wlBind        = 0 // request of wl_registry
	wlGlobal      = 0 // event of wl_registry
	wlIdled       = 0 // events of a notification, the same numbers in both protocols
	wlResumed     = 1
)

// A notifier is an interface that tells of idleness: its name and the number of
// the request that makes a notification, which takes a new object, then seat
// and timeout in the order that seatFirst says.
type notifier struct {
	face      string
	request   uint16
	seatFirst bool
}

// notifiers are those known, the better first. The first one's second version
// has a request that idle inhibitors (a film) do not influence: the screen
// being kept on is no input.
var notifiers = []notifier{
	{"ext_idle_notifier_v1", 1, false},
	{"org_kde_kwin_idle", 0, true},
}

const extInputRequest = 2 // get_input_idle_notification, since version 2

// A wlClient is a connection to a compositor.
type wlClient struct {
	conn     net.Conn
	next     uint32 // free object number
	notifier notifier
	watches  map[uint32]bool // notifications, one a seat
}

type wlGlobalObject struct {
	name, version uint32
}

// subscribe finds the seats and a notifier, and asks for notifications.
func (c *wlClient) subscribe() error {
	if err := errors.Join(c.send(wlDisplay, wlGetRegistry, u32(wlRegistry)),
		c.send(wlDisplay, wlSync, u32(wlCallback))); err != nil {
		return fmt.Errorf("talking to the Wayland compositor: %w", err)
	}
	var seats []wlGlobalObject
	found := map[string]wlGlobalObject{}
	for done := false; !done; {
		id, op, body, err := c.read()
		if err != nil {
			return fmt.Errorf("listening to the Wayland compositor: %w", err)
		}
		switch {
		case id == wlRegistry && op == wlGlobal:
			g, face, err := readGlobal(body)
			if err != nil {
				return err
			}
			if found[face] = g; face == "wl_seat" {
				seats = append(seats, g)
			}
		case id == wlCallback:
			done = true
		}
	}
	for _, n := range notifiers {
		if g, ok := found[n.face]; ok && len(seats) > 0 {
			return c.notify(n, g, seats)
		}
	}
	return blind("the Wayland compositor offers neither ext-idle-notify-v1 nor org_kde_kwin_idle to this program",
		"GNOME tells by org.gnome.Mutter.IdleMonitor instead; elsewhere add the user to the group input")
}

func (c *wlClient) notify(n notifier, g wlGlobalObject, seats []wlGlobalObject) error {
	c.notifier, c.watches = n, map[uint32]bool{}
	version := min(g.version, 2)
	if n.seatFirst {
		version = 1
	} else if version >= 2 {
		n.request = extInputRequest
	}
	manager := c.object()
	err := c.send(wlRegistry, wlBind, bind(g.name, n.face, version, manager))
	for _, s := range seats {
		seat, watch := c.object(), c.object()
		after := u32(uint32(idleAfter.Milliseconds()))
		args := append(u32(watch), append(after, u32(seat)...)...)
		if n.seatFirst {
			args = append(u32(watch), append(u32(seat), after...)...)
		}
		err = errors.Join(err, c.send(wlRegistry, wlBind, bind(s.name, "wl_seat", 1, seat)), c.send(manager, n.request, args))
		c.watches[watch] = true
	}
	if err != nil {
		return fmt.Errorf("asking the Wayland compositor: %w", err)
	}
	return nil
}

func (c *wlClient) object() uint32 {
	c.next++
	return c.next - 1
}

// The wire format: words in the machine's byte order; a message is the object,
// its length with the header in the upper half of a word and the number of the
// request or event in the lower, then arguments, each filling whole words.

func u32(n uint32) []byte { return binary.NativeEndian.AppendUint32(nil, n) }

func bind(name uint32, face string, version, id uint32) []byte {
	b := append(u32(name), u32(uint32(len(face)+1))...)
	b = append(append(b, face...), 0)
	for len(b)%4 != 0 {
		b = append(b, 0)
	}
	return append(append(b, u32(version)...), u32(id)...)
}

func (c *wlClient) send(id uint32, op uint16, args []byte) error {
	const header = 8
	b := append(u32(id), u32(uint32(header+len(args))<<16|uint32(op))...)
	_, err := c.conn.Write(append(b, args...))
	return err
}

func (c *wlClient) read() (id uint32, op uint16, body []byte, err error) {
	var head [8]byte
	if _, err := io.ReadFull(c.conn, head[:]); err != nil {
		return 0, 0, nil, err
	}
	id = binary.NativeEndian.Uint32(head[:])
	word := binary.NativeEndian.Uint32(head[4:])
	size := int(word >> 16) // at most 64 KiB
	if size < len(head) {
		return 0, 0, nil, fmt.Errorf("a message of %d bytes", size)
	}
	body = make([]byte, size-len(head))
	_, err = io.ReadFull(c.conn, body)
	return id, uint16(word), body, err
}

// readGlobal reads what the registry announces.
func readGlobal(b []byte) (g wlGlobalObject, face string, err error) {
	const fixed = 12 // name, length of the text, version
	bad := errors.New("the Wayland compositor sent a malformed announcement")
	if len(b) < fixed {
		return g, "", bad
	}
	g.name = binary.NativeEndian.Uint32(b)
	n := int(binary.NativeEndian.Uint32(b[4:]))
	padded := (n + 3) &^ 3
	if n < 1 || n > len(b) || len(b) < fixed+padded {
		return g, "", bad
	}
	g.version = binary.NativeEndian.Uint32(b[8+padded:])
	return g, string(b[8 : 8+n-1]), nil
}
