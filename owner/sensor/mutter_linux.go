package sensor

import (
	"context"
	"fmt"
	"time"

	"github.com/godbus/dbus/v5"
)

const (
	mutter     = "org.gnome.Mutter.IdleMonitor"
	mutterPath = dbus.ObjectPath("/org/gnome/Mutter/IdleMonitor/Core")
)

// Mutter asks GNOME's compositor, which has no idle protocol on Wayland, over
// the session bus: org.gnome.Mutter.IdleMonitor calls back on the first input
// after a pause, and when a pause has lasted a while.
type Mutter struct {
	Address string // of the bus; "" for the session's
}

// Name returns "gnome".
func (Mutter) Name() string { return "gnome" }

// Kinds returns Input.
func (Mutter) Kinds() []Kind { return []Kind{Input} }

// Run watches until ctx ends.
func (m Mutter) Run(ctx context.Context, report func(Reading)) {
	watch(ctx, m, report, func(ctx context.Context) error { return m.session(ctx, report) })
}

func (m Mutter) session(ctx context.Context, report func(Reading)) error {
	b, err := dialBus(ctx, m.Address, mutter, true)
	if err != nil {
		return blind(err.Error(), "on a GNOME desktop run godwit as the user who is logged in there")
	}
	defer b.conn.Close()
	ask := func(method string, args []any, out any) error {
		return b.call(ctx, mutter, mutterPath, mutter+"."+method, args, out)
	}
	var idleMS uint64
	if err := ask("GetIdletime", nil, &idleMS); err != nil {
		return blind(fmt.Sprintf("no GNOME session: %v", err), "")
	}
	now := time.Now()
	// Both watches stand all the time: the first fires once and is set again
	// when the second, which fires at the end of each pause, has fired.
	const day = uint64(24 * time.Hour / time.Millisecond)
	report(Reading{Sensor: m.Name(), Kind: Input, At: now,
		Touched: now.Add(-time.Duration(min(idleMS, 365*day)) * time.Millisecond), Detail: "GetIdletime"})
	var active, idle uint32
	if err := ask("AddUserActiveWatch", nil, &active); err != nil {
		return err
	}
	if err := ask("AddIdleWatch", []any{uint64(idleAfter.Milliseconds())}, &idle); err != nil {
		return err
	}
	return b.listen(ctx, func(s *dbus.Signal) error {
		if s == nil || s.Name != mutter+".WatchFired" || len(s.Body) == 0 {
			return nil
		}
		now := time.Now()
		switch s.Body[0] {
		case active:
			report(Reading{Sensor: m.Name(), Kind: Input, At: now, Touched: now, Present: true, Detail: "WatchFired"})
		case idle:
			report(Reading{Sensor: m.Name(), Kind: Input, At: now, Touched: now.Add(-idleAfter), Detail: "WatchFired"})
			return ask("AddUserActiveWatch", nil, &active)
		}
		return nil
	})
}
