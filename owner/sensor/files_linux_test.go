package sensor

import (
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// fakeDevice makes a named pipe in place of an input device: it is read the
// same way. It returns what sends an event.
func fakeDevice(t testing.TB, dev, name string) (send func(kind uint16)) {
	t.Helper()
	path := filepath.Join(dev, "input", name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0) // stays open, as a device does
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return func(kind uint16) {
		b := make([]byte, eventSize)
		binary.NativeEndian.PutUint16(b[eventSize-8:], kind)
		if _, err := f.Write(b); err != nil {
			t.Error(err)
		}
	}
}

func TestEvdev(t *testing.T) {
	dev, sys := t.TempDir(), t.TempDir()
	key := fakeDevice(t, dev, "event0")
	swing := fakeDevice(t, dev, "event1")
	write(t, filepath.Join(sys, "class/input/event1/device/properties"), "40\n")
	write(t, filepath.Join(sys, "class/input/event0/device/properties"), "0\n")
	p := start(t, Evdev{Dev: dev, Sys: sys})
	p.sees(Input)
	quiet(2 * step)
	swing(evAbs)
	const evSwitch = 5 // the lid
	key(evSwitch)
	quiet(2 * step)
	select {
	case r := <-p.found:
		t.Errorf("an accelerometer or a lid is a hand: %+v", r)
	default:
	}
	t.Logf("a key seen after %v", p.touchedBy(func() { key(evKey) }))
	mouse := fakeDevice(t, dev, "event7") // plugged in
	mouse(2)
	p.until("the new device", func(r Reading) bool { return r.Detail == "event7" })
}

func TestEvdevIsBlind(t *testing.T) {
	r := start(t, Evdev{Dev: t.TempDir()}).until("blindness", func(r Reading) bool { return r.Blind != "" })
	if !strings.Contains(r.Blind, "no input device") || r.Fix == "" {
		t.Errorf("got %+v", r)
	}
	dev := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dev, "input"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/nonexistent", filepath.Join(dev, "input", "event0")); err != nil {
		t.Fatal(err)
	}
	r = start(t, Evdev{Dev: dev}).until("blindness", func(r Reading) bool { return r.Blind != "" })
	if !strings.Contains(r.Fix, "group input") {
		t.Errorf("got %+v", r)
	}
}

// use sets a terminal's access time, as the kernel does on input.
func use(t testing.TB, path string, at time.Time) {
	t.Helper()
	if err := os.Chtimes(path, at, time.Time{}); err != nil {
		t.Fatal(err)
	}
}

func TestTTYs(t *testing.T) {
	dev := t.TempDir()
	r := start(t, TTYs{Dev: dev, Sys: dev}).until("blindness", func(r Reading) bool { return r.Blind != "" })
	if !strings.Contains(r.Blind, "no terminals") {
		t.Errorf("got %+v", r)
	}
	hour := time.Now().Add(-time.Hour)
	for _, name := range []string{"tty1", "pts/0", "ttyS", "pts/ptmx"} {
		write(t, filepath.Join(dev, name), "")
		use(t, filepath.Join(dev, name), hour)
	}
	use(t, filepath.Join(dev, "pts/ptmx"), time.Now()) // opening one is no input
	p := start(t, TTYs{Dev: dev, Sys: dev})
	if r := p.sees(Input); !r.Touched.Equal(hour) || !r.Partial {
		t.Errorf("got %+v, want %v", r, hour)
	}
	t.Logf("ssh seen after %v", p.touchedBy(func() { use(t, filepath.Join(dev, "pts/0"), time.Now()) }))
	quiet(2 * step)
	t.Logf("a console seen after %v", p.touchedBy(func() { use(t, filepath.Join(dev, "tty1"), time.Now()) }))
}

// proc writes a machine with one core's worth of ticks, a node and its child.
func proc(t *testing.T, dir string, busy, idle, node, child int) {
	t.Helper()
	stat := func(pid, ticks int) string {
		return fmt.Sprintf("%d (a) b) S 1 1 1 0 -1 0 0 0 0 0 %d 0 0 0 20 0 1 0 0\n", pid, ticks)
	}
	write(t, filepath.Join(dir, "10/stat"), stat(10, node))
	write(t, filepath.Join(dir, "10/task/10/children"), "")
	write(t, filepath.Join(dir, "10/task/11/children"), "12 ")
	write(t, filepath.Join(dir, "12/stat"), stat(12, child))
	write(t, filepath.Join(dir, "13/stat"), stat(13, 1000000)) // somebody else's
	write(t, filepath.Join(dir, "stat"), fmt.Sprintf("cpu %d 0 0 %d 0 0 0 500 0 0\ncpu0 0\n", busy, idle))
}

func TestProcessors(t *testing.T) {
	dir := t.TempDir()
	p := Processors{Proc: dir, PID: 10}
	proc(t, dir, 1000, 9000, 100, 50)
	before, err := p.sample()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		busy, idle, node, child int
		want                    float64
	}{
		{1100, 9100, 110, 90, 0.25}, // 100 of 200 ticks busy, 50 of them ours
		{1100, 9100, 150, 100, 0},   // all ours
		{1100, 9100, 200, 150, 0},   // more than all: counted a moment later
		{1200, 9000, 100, 50, 1},
	} {
		proc(t, dir, c.busy, c.idle, c.node, c.child)
		now, err := p.sample()
		if err != nil || now.others(before) != c.want {
			t.Errorf("%+v: got %v, %v", c, now.others(before), err)
		}
	}
	write(t, filepath.Join(dir, "stat"), "cpu x\n")
	if _, err := p.sample(); err == nil {
		t.Error("nonsense is read")
	}
	start(t, Processors{Proc: t.TempDir()}).until("blindness", func(r Reading) bool { return r.Blind != "" })
}

// The real one: this process's own work is not others'.
func TestProcessorsOfThisMachine(t *testing.T) {
	p := Processors{Proc: "/proc", PID: os.Getpid()}
	before := p.tree(p.PID)
	var x atomic.Int64
	for p.tree(p.PID) < before+5 {
		for range 1_000_000 {
			x.Add(1)
		}
	}
	if s, err := p.sample(); err != nil || s.own < before+5 || s.busy <= s.own/2 || s.all <= s.busy {
		t.Errorf("got %+v, %v", s, err)
	}
}

func TestMemoryPressure(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "pressure/memory")
	write(t, path, "some avg10=0.00 avg60=0.00 avg300=0.00 total=1000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n")
	p := start(t, MemoryPressure{Proc: dir})
	if r := p.sees(Pressure); r.Value != 0 {
		t.Errorf("got %+v", r)
	}
	write(t, path, "some avg10=9.00 avg60=0.00 avg300=0.00 total=60001000\nfull total=0\n")
	if r := p.until("pressure", func(r Reading) bool { return r.Value > 0 }); r.Value != 1 {
		t.Errorf("a minute stalled within a second: got %+v", r)
	}
	p.until("relief", func(r Reading) bool { return r.Value == 0 })
	write(t, path, "nonsense")
	p.until("blindness", func(r Reading) bool { return r.Blind != "" && strings.Contains(r.Fix, "CONFIG_PSI") })
}

func TestPowerSupply(t *testing.T) {
	sys := t.TempDir()
	if _, err := (PowerSupply{Sys: sys}).read(); err == nil {
		t.Error("a machine without power supplies sees them")
	}
	supply := func(name string, fields map[string]string) {
		for f, v := range fields {
			write(t, filepath.Join(sys, "class/power_supply", name, f), v+"\n")
		}
	}
	gauged := true
	check := func(what string, on bool, charge float64) {
		t.Helper()
		if r, err := (PowerSupply{Sys: sys}).read(); err != nil || r.On != on || r.Value != charge || r.Gauged != gauged {
			t.Errorf("%s: got %+v, %v", what, r, err)
		}
	}
	supply("mouse", map[string]string{"type": "Battery", "scope": "Device", "status": "Discharging", "capacity": "5"})
	gauged = false
	check("a desktop with a mouse", false, 0)
	supply("BAT0", map[string]string{"type": "Battery", "status": "Discharging", "energy_full": "50000000"})
	check("a battery that does not tell its charge", true, 0)
	supply("BAT0", map[string]string{"capacity": "nan"})
	check("a charge that is no number", true, 0)
	gauged = true
	supply("BAT0", map[string]string{"type": "Battery", "status": "Discharging", "capacity": "80"})
	check("a battery that discharges, no mains known", true, 0.8)
	supply("BAT0", map[string]string{"status": "Full"})
	check("a full battery, no mains known", false, 0.8)
	supply("AC", map[string]string{"type": "Mains", "online": "0"})
	check("unplugged", true, 0.8)
	supply("usb", map[string]string{"type": "USB", "online": "1"})
	check("charged by USB", false, 0.8)
	supply("BAT1", map[string]string{"type": "Battery", "present": "0", "capacity": "0"})
	check("an empty bay", false, 0.8)
	supply("BAT1", map[string]string{"present": "1", "capacity": "20", "charge_now": "1000", "charge_full": "5000"})
	check("two batteries, one of which tells its energy", false, 0.5)
	supply("BAT0", map[string]string{"energy_now": "40123456"})
	check("two that tell in two units", false, 0.5)
	supply("BAT1", map[string]string{"energy_now": "2000000", "energy_full": "10000000"})
	check("a large one and a small one, to the thousandth", false, 0.702)
	p := start(t, PowerSupply{Sys: sys})
	p.sees(Power)
	supply("usb", map[string]string{"online": "0"})
	p.until("batteries", func(r Reading) bool { return r.On })
}

func TestDataDir(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a/b"), "12345")
	write(t, filepath.Join(dir, "c"), "678")
	if r := start(t, DataDir{dir}).sees(Disk); r.Value != 8 {
		t.Errorf("got %+v", r)
	}
	start(t, DataDir{filepath.Join(dir, "none")}).until("blindness", func(r Reading) bool { return r.Blind != "" })
}

func TestClock(t *testing.T) {
	var asleep atomic.Int64
	p := start(t, Clock{read: func() (time.Duration, time.Duration) {
		boot, awake := kernelClocks()
		return boot + time.Duration(asleep.Load()), awake
	}})
	p.sees(Wake)
	asleep.Store(int64(time.Hour))
	p.until("waking", func(r Reading) bool { return !r.Touched.IsZero() })
}

// Every sensor of this machine says of every kind what it sees or why not.
func TestSystem(t *testing.T) {
	names := map[string]bool{}
	for _, s := range System() {
		if names[s.Name()] || s.Name() == "" {
			t.Errorf("the name %q is used twice", s.Name())
		}
		names[s.Name()] = true
		p := start(t, s)
		for _, k := range s.Kinds() {
			if r := p.until(k.String(), func(r Reading) bool { return r.Kind == k }); r.Sensor != s.Name() {
				t.Errorf("got %+v", r)
			}
		}
	}
}

// BenchmarkDetect is the time from the owner's touch to the report of it.
func BenchmarkDetect(b *testing.B) {
	bench := func(name string, touch func(b *testing.B) (Sensor, func())) {
		b.Run(name, func(b *testing.B) {
			s, f := touch(b)
			p := start(b, s)
			p.sees(Input)
			var worst, sum time.Duration
			n := 0
			for b.Loop() {
				b.StopTimer()
				quiet(300 * time.Millisecond)
				b.StartTimer()
				d := p.touchedBy(f)
				worst, sum, n = max(worst, d), sum+d, n+1
			}
			b.ReportMetric(float64(sum)/float64(n)/1e6, "mean-ms")
			b.ReportMetric(float64(worst)/1e6, "worst-ms")
		})
	}
	bench("x11", func(b *testing.B) (Sensor, func()) {
		display := xServer(b)
		x := 0
		return X11{Display: display}, func() { x++; xdotool(b, display, "mousemove", fmt.Sprint(x%600), "9") }
	})
	bench("evdev", func(b *testing.B) (Sensor, func()) {
		dev := b.TempDir()
		key := fakeDevice(b, dev, "event0")
		return Evdev{Dev: dev}, func() { key(evKey) }
	})
	bench("ttys", func(b *testing.B) (Sensor, func()) {
		dev := b.TempDir()
		path := filepath.Join(dev, "pts/0")
		write(b, path, "")
		return TTYs{Dev: dev, Sys: dev}, func() { use(b, path, time.Now()) }
	})
	bench("wayland", func(b *testing.B) (Sensor, func()) {
		c := newCompositor(b, "wl_seat v", "wl_seat v", "ext_idle_notifier_v1 vv")
		return Wayland{Socket: c.listener.Addr().String()}, func() {
			if len(c.ready) > 0 {
				<-c.ready
			}
			c.tell(0, wlResumed)
		}
	})
}

// TestTTYsShown: the console that the kernel shows is looked at each time, all others now and then.
func TestTTYsShown(t *testing.T) {
	dev := t.TempDir()
	hour := time.Now().Add(-time.Hour)
	for _, name := range []string{"tty1", "tty2", "pts/0"} {
		write(t, filepath.Join(dev, name), "")
		use(t, filepath.Join(dev, name), hour)
	}
	write(t, filepath.Join(dev, "class/tty/tty0/active"), "tty2\n")
	v := ttyWatch{t: TTYs{Dev: dev, Sys: dev}}
	if at, _, n := v.newest(); !at.Equal(hour) || n != 3 {
		t.Fatalf("%d terminals, last used %v", n, at)
	}
	sees := func(name string) bool {
		at := v.at.Add(time.Minute)
		use(t, filepath.Join(dev, name), at)
		got, which, _ := v.newest()
		return got.Equal(at) && which == filepath.Join(dev, name)
	}
	if !sees("tty2") || !sees("pts/0") {
		t.Error("a key on a terminal that is shown was not seen at once")
	}
	if sees("tty1") {
		t.Error("a console that is not shown was looked at at once: nothing is saved")
	}
	for range listEvery {
		v.newest()
	}
	if v.name != filepath.Join(dev, "tty1") {
		t.Errorf("a console that is not shown was never looked at: %s", v.name)
	}
	write(t, filepath.Join(dev, "class/tty/tty0/active"), "tty1\n")
	if !sees("tty1") {
		t.Error("another console is shown and was not looked at")
	}
}

// TestChildless: the kernel's word that there are no children is taken, and children that there are
// are found.
func TestChildless(t *testing.T) {
	p := Processors{Proc: ownProc, PID: os.Getpid()}
	if childless() && len(p.children(p.PID)) != 0 {
		t.Error("a process without children has some")
	}
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Skip(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	if childless() || !slices.Contains(p.children(p.PID), cmd.Process.Pid) {
		t.Errorf("childless: %v, children: %v, there is %d", childless(), p.children(p.PID), cmd.Process.Pid)
	}
}
