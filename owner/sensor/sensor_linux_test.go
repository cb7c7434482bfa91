package sensor

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xproto"
)

// A probe runs a sensor and hands out what it reports.
type probe struct {
	t     testing.TB
	found chan Reading
}

// start runs s until the test ends.
func start(t testing.TB, s Sensor) *probe {
	t.Helper()
	p := &probe{t: t, found: make(chan Reading, 1000)}
	ctx, cancel := context.WithCancel(context.Background())
	var group sync.WaitGroup
	group.Go(func() { s.Run(ctx, func(r Reading) { p.found <- r }) })
	t.Cleanup(func() { cancel(); group.Wait() })
	return p
}

// patience is for machines that are busy with other tests. How fast a sensor
// is, benchmarks say.
const patience = 20 * time.Second

// until waits for a reading that is as wanted.
func (p *probe) until(what string, want func(Reading) bool) Reading {
	p.t.Helper()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	var last Reading
	for {
		select {
		case last = <-p.found:
			if want(last) {
				return last
			}
		case <-timer.C:
			p.t.Fatalf("no reading of %s; the last is %+v", what, last)
		}
	}
}

// sees waits for a first reading of a kind that is not blind.
func (p *probe) sees(k Kind) Reading {
	p.t.Helper()
	return p.until(k.String(), func(r Reading) bool { return r.Kind == k && r.Blind == "" })
}

// touchedBy does something that is input and waits until it is seen. It
// returns how long that took.
func (p *probe) touchedBy(touch func()) time.Duration {
	p.t.Helper()
	began := time.Now()
	touch()
	// Times of other clocks may be a few milliseconds off.
	p.until("input", func(r Reading) bool { return r.Kind == Input && r.Touched.After(began.Add(-50*time.Millisecond)) })
	return time.Since(began)
}

// quiet waits until d has passed, in which nothing is input.
func quiet(d time.Duration) { <-time.After(d) }

func need(t testing.TB, programs ...string) {
	t.Helper()
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			t.Skipf("%s is not installed", p)
		}
	}
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
}

// xServer starts a private X server and returns its display.
func xServer(t testing.TB) string {
	t.Helper()
	need(t, "Xvfb", "xdotool")
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cmd := exec.Command("Xvfb", "-displayfd", "3", "-screen", "0", "640x480x24", "-nolisten", "tcp")
	cmd.ExtraFiles = []*os.File{w}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	var n int
	if _, err := fmt.Fscan(r, &n); err != nil {
		t.Skipf("Xvfb does not start: %v", err)
	}
	return fmt.Sprintf(":%d", n)
}

func xdotool(t testing.TB, display string, args ...string) {
	t.Helper()
	cmd := exec.Command("xdotool", args...)
	cmd.Env = append(os.Environ(), "DISPLAY="+display)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("xdotool %v: %v %s", args, err, out)
	}
}

func TestX11(t *testing.T) {
	display := xServer(t)
	p := start(t, X11{Display: display})
	p.sees(Input)
	quiet(time.Second)
	for i, touch := range [][]string{{"mousemove", "10", "10"}, {"key", "a"}, {"mousemove", "20", "20"}} {
		t.Logf("%v seen after %v", touch, p.touchedBy(func() { xdotool(t, display, touch...) }))
		quiet(2*step + time.Duration(i)*100*time.Millisecond) // one that follows too soon is no news
	}
	fullScreenWindow(t, display, p)
}

// fullScreenWindow makes a window that says it fills the screen, as a window
// manager would record it, and looks whether that is seen, and its end too.
func fullScreenWindow(t *testing.T, display string, p *probe) {
	c, err := xgb.NewConnDisplay(display)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	root := xproto.Setup(c).DefaultScreen(c).Root
	atom := func(name string) xproto.Atom {
		r, err := xproto.InternAtom(c, false, uint16(len(name)), name).Reply()
		if err != nil {
			t.Fatal(err)
		}
		return r.Atom
	}
	w, err := xproto.NewWindowId(c)
	if err != nil {
		t.Fatal(err)
	}
	set := func(on xproto.Window, name string, kind, value uint32) {
		b := make([]byte, 4)
		xgb.Put32(b, value)
		if err := xproto.ChangePropertyChecked(c, xproto.PropModeReplace, on, atom(name), xproto.Atom(kind), 32, 1,
			b).Check(); err != nil {
			t.Fatal(err)
		}
	}
	if err := xproto.CreateWindowChecked(c, 0, w, root, 0, 0, 10, 10, 0, xproto.WindowClassInputOutput, 0, 0,
		nil).Check(); err != nil {
		t.Fatal(err)
	}
	set(w, "_NET_WM_STATE", xproto.AtomAtom, uint32(atom("_NET_WM_STATE_FULLSCREEN")))
	set(root, "_NET_ACTIVE_WINDOW", xproto.AtomWindow, uint32(w))
	p.until("a full screen", func(r Reading) bool { return r.Kind == Screen && r.On })
	if err := xproto.DestroyWindowChecked(c, w).Check(); err != nil { // its name stays in _NET_ACTIVE_WINDOW
		t.Fatal(err)
	}
	p.until("no full screen", func(r Reading) bool { return r.Kind == Screen && !r.On })
}

func TestX11IsBlind(t *testing.T) {
	t.Setenv("DISPLAY", "")
	r := start(t, X11{}).until("blindness", func(r Reading) bool { return r.Kind == Input && r.Blind != "" })
	if !strings.Contains(r.Blind, "DISPLAY") || r.Fix == "" {
		t.Errorf("got %+v", r)
	}
}

// privateBus starts a message bus of the test's own.
func privateBus(t testing.TB) string {
	t.Helper()
	need(t, "dbus-daemon")
	dir := t.TempDir()
	config := filepath.Join(dir, "bus.conf")
	write(t, config, `<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>system</type><listen>unix:path=`+dir+`/bus</listen>
<policy context="default"><allow own="*"/><allow send_destination="*"/>
<allow receive_sender="*"/></policy></busconfig>`)
	cmd := exec.Command("dbus-daemon", "--config-file="+config, "--nofork", "--nopidfile", "--print-address")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	var address string
	if _, err := fmt.Fscan(out, &address); err != nil {
		t.Skipf("dbus-daemon does not start: %v", err)
	}
	return address
}

// A service stands in for one of the system's on a private bus.
type service struct {
	t    testing.TB
	conn *dbus.Conn
	path dbus.ObjectPath

	mu    sync.Mutex
	props map[dbus.ObjectPath]map[string]dbus.Variant
}

func newService(t testing.TB, address, name string, path dbus.ObjectPath) *service {
	t.Helper()
	conn, err := dbus.Connect(address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if _, err := conn.RequestName(name, dbus.NameFlagDoNotQueue); err != nil {
		t.Fatal(err)
	}
	return &service{t: t, conn: conn, path: path, props: map[dbus.ObjectPath]map[string]dbus.Variant{}}
}

// properties is org.freedesktop.DBus.Properties of one object.
type properties struct {
	s    *service
	path dbus.ObjectPath
}

// GetAll answers the call of that name.
func (p properties) GetAll(string) (map[string]dbus.Variant, *dbus.Error) {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	out := map[string]dbus.Variant{}
	for k, v := range p.s.props[p.path] {
		out[k] = v
	}
	return out, nil
}

func (s *service) object(path dbus.ObjectPath, props map[string]any) {
	s.t.Helper()
	s.set(path, props)
	if err := s.conn.Export(properties{s, path}, path, dbusProperties); err != nil {
		s.t.Fatal(err)
	}
}

func (s *service) set(path dbus.ObjectPath, props map[string]any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.props[path] == nil {
		s.props[path] = map[string]dbus.Variant{}
	}
	for k, v := range props {
		s.props[path][k] = dbus.MakeVariant(v)
	}
}

func (s *service) emit(path dbus.ObjectPath, name string, args ...any) {
	s.t.Helper()
	if err := s.conn.Emit(path, name, args...); err != nil {
		s.t.Fatal(err)
	}
}

// changed sets properties and says so, as the real services do.
func (s *service) changed(path dbus.ObjectPath, face string, props map[string]any) {
	s.set(path, props)
	v := map[string]dbus.Variant{}
	for k, p := range props {
		v[k] = dbus.MakeVariant(p)
	}
	s.emit(path, dbusProperties+".PropertiesChanged", face, v, []string{})
}

// login1Stand stands in for systemd-logind.
type login1Stand struct {
	*service
	locks chan *os.File // our end of each delay lock: it reads as ended when released
}

type listedSession struct {
	ID   string
	UID  uint32
	User string
	Seat string
	Path dbus.ObjectPath
}

const standSession = dbus.ObjectPath("/org/freedesktop/login1/session/_31")

// ListSessions answers the call of that name.
func (*login1Stand) ListSessions() ([]listedSession, *dbus.Error) {
	return []listedSession{{"1", 1000, "owner", "seat0", standSession}, {"2", 1000, "owner", "", standSession + "x"}}, nil
}

// Inhibit answers the call of that name with the writing end of a pipe.
func (s *login1Stand) Inhibit(what, _, _, mode string) (dbus.UnixFD, *dbus.Error) {
	var fds [2]int
	if err := syscall.Pipe2(fds[:], syscall.O_CLOEXEC); err != nil || what != "sleep:shutdown" || mode != "delay" {
		return 0, dbus.MakeFailedError(fmt.Errorf("%s %s %w", what, mode, err))
	}
	s.locks <- os.NewFile(uintptr(fds[0]), "lock")
	// The message carries a copy; ours has to go for the lock to end.
	time.AfterFunc(500*time.Millisecond, func() { syscall.Close(fds[1]) })
	return dbus.UnixFD(fds[1]), nil
}

func newLogin1(t testing.TB, address string) *login1Stand {
	s := &login1Stand{newService(t, address, login1, login1Path), make(chan *os.File, 10)}
	if err := s.conn.Export(s, login1Path, login1Manager); err != nil {
		t.Fatal(err)
	}
	s.object(login1Path, map[string]any{"InhibitDelayMaxUSec": uint64(7e6), "BlockInhibited": "sleep:handle-lid-switch",
		"ScheduledShutdown": struct {
			What string
			At   uint64
		}{"", 0}})
	s.object(standSession, map[string]any{"Class": "user", "Type": "wayland", "State": "active", "IdleHint": true,
		"IdleSinceHint": uint64(time.Now().Add(-time.Hour).UnixMicro()), "LockedHint": false})
	// Of a file transfer: it never becomes idle.
	s.object(standSession+"x", map[string]any{"Class": "user", "Type": "unspecified", "State": "active",
		"IdleHint": false})
	return s
}

func TestLogind(t *testing.T) {
	address := privateBus(t)
	s := newLogin1(t, address)
	l := &Logind{Address: address}
	p := start(t, l)
	if r := p.sees(Input); r.Present || !r.Coarse || time.Since(r.Touched) < 50*time.Minute {
		t.Errorf("an idle session: got %+v", r)
	}
	lock := <-s.locks
	t.Logf("end of idleness seen after %v", p.touchedBy(func() {
		s.changed(standSession, login1Session, map[string]any{"IdleHint": false})
	}))
	s.changed(standSession, login1Session, map[string]any{"LockedHint": true})
	p.until("a locked session", func(r Reading) bool { return r.Kind == Input && !r.Present })

	s.changed(login1Path, login1Manager, map[string]any{"BlockInhibited": "idle:sleep"})
	p.until("a film", func(r Reading) bool { return r.Kind == Screen && r.On })
	at := time.Now().Add(time.Hour).Truncate(time.Second)
	s.changed(login1Path, login1Manager, map[string]any{"ScheduledShutdown": struct {
		What string
		At   uint64
	}{"poweroff", uint64(at.UnixMicro())}})
	p.until("a planned shutdown", func(r Reading) bool { return r.Kind == Going && !r.On && r.Until.Equal(at) })

	began := time.Now()
	s.emit(login1Path, login1Manager+".PrepareForSleep", true)
	r := p.until("sleep", func(r Reading) bool { return r.Kind == Going && r.On })
	if left := time.Until(r.Until); left > 7*time.Second || left < 0 || !strings.Contains(r.Detail, "sleep") {
		t.Errorf("got %+v", r)
	}
	t.Logf("sleep seen after %v", time.Since(began))
	l.Release()
	if n, err := lock.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		t.Errorf("the lock is still held: %d, %v", n, err)
	}
	s.emit(login1Path, login1Manager+".PrepareForSleep", false)
	p.until("waking", func(r Reading) bool { return r.Kind == Going && !r.On })
	<-s.locks // taken again
	s.emit(login1Path, login1Manager+".PrepareForShutdown", true)
	p.until("shutdown", func(r Reading) bool {
		return r.Kind == Going && r.On &&
			strings.Contains(r.Detail, "shutting down")
	})
}

func TestLogindIsBlind(t *testing.T) {
	need(t, "dbus-daemon")
	for _, address := range []string{"unix:path=/nonexistent", privateBus(t)} {
		r := start(t, &Logind{Address: address}).until("blindness", func(r Reading) bool { return r.Kind == Going })
		if r.Blind == "" || r.Fix == "" {
			t.Errorf("%s: got %+v", address, r)
		}
	}
}

func TestNetworkManager(t *testing.T) {
	address := privateBus(t)
	s := newService(t, address, networkManager, networkManagerPath)
	s.object(networkManagerPath, map[string]any{"Metered": uint32(4)})
	p := start(t, NetworkManager{Address: address})
	if r := p.sees(Network); r.On {
		t.Errorf("not metered, by a guess: got %+v", r)
	}
	s.changed(networkManagerPath, networkManager, map[string]any{"Metered": uint32(meteredGuess)})
	p.until("a metered network", func(r Reading) bool { return r.On })
}

// mutterStand stands in for GNOME's compositor.
type mutterStand struct {
	*service
	watches chan string
	mu      sync.Mutex
	last    uint32
}

// GetIdletime answers the call of that name.
func (*mutterStand) GetIdletime() (uint64, *dbus.Error) { return 60_000, nil }

// AddUserActiveWatch answers the call of that name.
func (s *mutterStand) AddUserActiveWatch() (uint32, *dbus.Error) { return s.watch("active"), nil }

// AddIdleWatch answers the call of that name.
func (s *mutterStand) AddIdleWatch(uint64) (uint32, *dbus.Error) { return s.watch("idle"), nil }

func (s *mutterStand) watch(what string) uint32 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	s.watches <- fmt.Sprintf("%s %d", what, s.last)
	return s.last
}

func TestMutter(t *testing.T) {
	address := privateBus(t)
	s := &mutterStand{service: newService(t, address, mutter, mutterPath), watches: make(chan string, 10)}
	if err := s.conn.Export(s, mutterPath, mutter); err != nil {
		t.Fatal(err)
	}
	p := start(t, Mutter{Address: address})
	if r := p.sees(Input); time.Since(r.Touched) < 59*time.Second {
		t.Errorf("got %+v", r)
	}
	fire := func(want string) {
		var id uint32
		if _, err := fmt.Sscanf(<-s.watches, want+" %d", &id); err != nil {
			t.Fatal(err)
		}
		s.emit(mutterPath, mutter+".WatchFired", id)
	}
	t.Logf("seen after %v", p.touchedBy(func() { fire("active") }))
	fire("idle")
	p.until("idleness", func(r Reading) bool { return !r.Present && time.Since(r.Touched) >= idleAfter })
	t.Logf("seen after %v", p.touchedBy(func() { fire("active") }))
}

// A compositor stands in for one of Wayland's.
type compositor struct {
	listener net.Listener
	faces    []string
	conn     net.Conn
	watches  []uint32
	timeouts []uint32
	ready    chan error
}

func newCompositor(t testing.TB, faces ...string) *compositor {
	l, err := net.Listen("unix", filepath.Join(t.TempDir(), "wayland-0"))
	if err != nil {
		t.Fatal(err)
	}
	c := &compositor{listener: l, faces: faces, ready: make(chan error, 1)}
	t.Cleanup(func() { l.Close() })
	go c.serve()
	return c
}

// serve speaks the protocol up to the notifications of two seats.
func (c *compositor) serve() {
	conn, err := c.listener.Accept()
	if err != nil {
		return
	}
	c.conn = conn
	w := &wlClient{conn: conn} // the wire format is the same in both directions
	manager, face := uint32(0), ""
	for {
		id, op, body, err := w.read()
		if err != nil {
			return
		}
		word := func(i int) uint32 { return binary.NativeEndian.Uint32(body[4*i:]) }
		switch {
		case id == wlDisplay && op == wlGetRegistry:
			for i, f := range c.faces {
				name, version, _ := strings.Cut(f, " ")
				args := bind(uint32(100+i), name, uint32(len(version)), 0)
				_ = w.send(word(0), wlGlobal, args[:len(args)-4])
			}
		case id == wlDisplay && op == wlSync:
			_ = w.send(word(0), 0, u32(0))
		case id == wlRegistry && op == wlBind:
			n := int(word(1))
			face = string(body[8 : 8+n-1])
			if face != "wl_seat" {
				manager = binary.NativeEndian.Uint32(body[len(body)-4:])
			}
		case id == manager:
			c.watches = append(c.watches, word(0))
			c.timeouts = append(c.timeouts, word(1))
			if len(c.watches) == 2 {
				c.ready <- nil
			}
		}
	}
}

func (c *compositor) tell(seat int, op uint16) {
	_ = (&wlClient{conn: c.conn}).send(c.watches[seat], op, nil)
}

func TestWayland(t *testing.T) {
	// A version is as many letters as its number.
	for _, faces := range [][]string{
		{"wl_compositor vvvv", "wl_seat v", "ext_idle_notifier_v1 vv", "wl_seat v", "org_kde_kwin_idle v"},
		{"wl_seat v", "wl_seat v", "org_kde_kwin_idle v"},
	} {
		c := newCompositor(t, faces...)
		p := start(t, Wayland{Socket: c.listener.Addr().String()})
		p.sees(Input)
		<-c.ready
		c.tell(0, wlIdled)
		c.tell(1, wlIdled)
		p.until("idleness", func(r Reading) bool { return !r.Present })
		t.Logf("%s: seen after %v", faces[2], p.touchedBy(func() { c.tell(1, wlResumed) }))
		c.tell(0, wlResumed)
		c.tell(1, wlIdled)
		r := p.until("another seat", func(r Reading) bool { return time.Since(r.Touched) >= idleAfter })
		if !r.Present {
			t.Error("one seat is idle, the other is not: nobody is there")
		}
	}
}

func TestWaylandIsBlind(t *testing.T) {
	c := newCompositor(t, "wl_seat v", "wl_output v")
	r := start(t, Wayland{Socket: c.listener.Addr().String()}).until("blindness",
		func(r Reading) bool { return r.Blind != "" })
	if !strings.Contains(r.Blind, "ext-idle-notify-v1") || r.Fix == "" {
		t.Errorf("got %+v", r)
	}
	for _, hostile := range []string{"\x02\x00\x00\x00\x00\x00\x07\x00",
		"\x02\x00\x00\x00\x00\x00\x10\x00\x01\x00\x00\x00\xff\xff\xff\xff", "x"} {
		l, err := net.Listen("unix", filepath.Join(t.TempDir(), "w"))
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		go func() {
			if conn, err := l.Accept(); err == nil {
				_, _ = io.WriteString(conn, hostile)
				conn.Close()
			}
		}()
		start(t, Wayland{Socket: l.Addr().String()}).until("blindness", func(r Reading) bool { return r.Blind != "" })
	}
}
