package sensor

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/godbus/dbus/v5"
)

const (
	login1        = "org.freedesktop.login1"
	login1Path    = dbus.ObjectPath("/org/freedesktop/login1")
	login1Manager = "org.freedesktop.login1.Manager"
	login1Session = "org.freedesktop.login1.Session"
	// inhibitDefault is logind's InhibitDelayMaxSec where it does not say.
	inhibitDefault = 5 * time.Second
)

// Logind asks systemd-logind (or elogind) over the system bus: whether a
// session is idle or locked, whether a program keeps the screen from being
// blanked, whether the machine is about to sleep or to shut down. It takes a
// delay lock, so that logind waits a few seconds before it does either.
type Logind struct {
	Address string // of the bus; "" for the system's

	mu   sync.Mutex
	lock *os.File // nil when none is held
}

// Name returns "logind".
func (*Logind) Name() string { return "logind" }

// Kinds returns Input, Screen and Going.
func (*Logind) Kinds() []Kind { return []Kind{Input, Screen, Going} }

// Run watches until ctx ends.
func (l *Logind) Run(ctx context.Context, report func(Reading)) {
	watch(ctx, l, report, func(ctx context.Context) error { return l.session(ctx, report) })
	l.Release()
}

// Release lets the machine sleep or shut down. The lock is taken again when the
// machine wakes.
func (l *Logind) Release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lock != nil {
		l.lock.Close()
		l.lock = nil
	}
}

func (l *Logind) session(ctx context.Context, report func(Reading)) error {
	const fix = "nothing needs it where another sensor sees; elsewhere install and start systemd-logind or elogind"
	b, err := dialBus(ctx, l.Address, login1, false)
	if err != nil {
		return blind(err.Error(), fix)
	}
	defer b.conn.Close()
	defer l.Release()
	v := &loginView{l: l, b: b, report: report, delay: inhibitDefault}
	if err := v.manager(ctx); err != nil {
		return blind(fmt.Sprintf("logind does not answer: %v", err), fix)
	}
	v.hold(ctx)
	v.going(Reading{})
	return b.listen(ctx, func(s *dbus.Signal) error { return v.look(ctx, s) })
}

// A loginView is a connection to logind and what it last said.
type loginView struct {
	l      *Logind
	b      *bus
	report func(Reading)

	delay    time.Duration // that logind grants
	unlocked string        // why it grants none
	planned  time.Time     // of a shutdown; zero for none
	under    bool          // sleep or shutdown is under way
	known    bool          // input was reported
	present  bool
	awake    string // who keeps the screen on
	screened bool   // that was reported
}

// look takes in a signal and reads what may have changed.
func (v *loginView) look(ctx context.Context, s *dbus.Signal) error {
	if s != nil && len(s.Body) > 0 {
		begins, ok := s.Body[0].(bool)
		switch {
		case !ok:
		case s.Name == login1Manager+".PrepareForSleep":
			v.prepare(ctx, begins, "the machine is about to sleep")
			return nil
		case s.Name == login1Manager+".PrepareForShutdown":
			v.prepare(ctx, begins, "the machine is shutting down")
			return nil
		}
	}
	if err := v.manager(ctx); err != nil {
		return err
	}
	return v.sessions(ctx)
}

// prepare tells that the machine is going, or that it stays after all.
func (v *loginView) prepare(ctx context.Context, begins bool, what string) {
	v.under = begins
	if !begins {
		v.hold(ctx) // the lock was released for the sleep that is over
		v.going(Reading{})
		return
	}
	v.going(Reading{On: true, Until: time.Now().Add(v.delay), Detail: what})
}

func (v *loginView) going(r Reading) {
	r.Sensor, r.Kind, r.At = v.l.Name(), Going, time.Now()
	if r.Detail == "" {
		r.Detail = fmt.Sprintf("a delay lock of %v is held", v.delay)
		if v.unlocked != "" {
			r.Detail = "logind grants no delay: " + v.unlocked
		}
	}
	v.report(r)
}

// hold takes the delay lock if it is not held.
func (v *loginView) hold(ctx context.Context) {
	v.l.mu.Lock()
	defer v.l.mu.Unlock()
	if v.l.lock != nil {
		return
	}
	var fd dbus.UnixFD
	err := v.b.call(ctx, login1, login1Path, login1Manager+".Inhibit",
		[]any{"sleep:shutdown", "godwit", "moving work to another machine", "delay"}, &fd)
	if err != nil {
		v.unlocked = err.Error()
		return
	}
	v.unlocked = ""
	v.l.lock = os.NewFile(uintptr(fd), "inhibitor")
}

// manager reads the manager's properties: the delay, what is planned, and who
// keeps the screen on.
func (v *loginView) manager(ctx context.Context) error {
	props, err := v.b.properties(ctx, login1, login1Path, login1Manager)
	if err != nil {
		return err
	}
	if us := property[uint64](props, "InhibitDelayMaxUSec"); us > 0 && us < uint64(time.Hour/time.Microsecond) {
		v.delay = time.Duration(us) * time.Microsecond
	}
	awake := ""
	if slices.Contains(strings.Split(property[string](props, "BlockInhibited"), ":"), "idle") {
		awake = "a program keeps the screen from being blanked"
	}
	if !v.screened || awake != v.awake {
		v.awake, v.screened = awake, true
		v.report(Reading{Sensor: v.l.Name(), Kind: Screen, At: time.Now(), On: awake != "", Detail: awake})
	}
	if at := scheduled(props); !at.Equal(v.planned) && !v.under {
		v.planned = at
		v.going(Reading{Until: at})
	}
	return nil
}

// scheduled reads ScheduledShutdown: what, and when in microseconds.
func scheduled(props map[string]dbus.Variant) time.Time {
	pair := property[[]any](props, "ScheduledShutdown")
	if len(pair) != 2 {
		return time.Time{}
	}
	what, _ := pair[0].(string)
	us, _ := pair[1].(uint64)
	if what == "" || us == 0 || us > 1<<62 || strings.HasPrefix(what, "dry-") {
		return time.Time{}
	}
	return time.UnixMicro(int64(us))
}

// sessions tells whether a person is in one of the sessions. logind calls a
// session idle only after the desktop's own delay, five minutes by default, so
// what it says is coarse; but the moment it stops being idle is exact.
func (v *loginView) sessions(ctx context.Context) error {
	var list []struct {
		ID   string
		UID  uint32
		User string
		Seat string
		Path dbus.ObjectPath
	}
	if err := v.b.call(ctx, login1, login1Path, login1Manager+".ListSessions", nil, &list); err != nil {
		return err
	}
	present, since, who := false, time.Time{}, ""
	for _, s := range list {
		props, err := v.b.properties(ctx, login1, s.Path, login1Session)
		if err != nil || !personal(props) {
			continue // it ended between the two questions, or is a service's
		}
		if property[bool](props, "IdleHint") || property[bool](props, "LockedHint") {
			if us := property[uint64](props, "IdleSinceHint"); us > 0 && us < 1<<62 && time.UnixMicro(int64(us)).After(since) {
				since = time.UnixMicro(int64(us))
			}
			continue
		}
		present, who = true, s.ID
	}
	if v.known && present == v.present {
		return nil
	}
	r := Reading{Sensor: v.l.Name(), Kind: Input, At: time.Now(), Present: present, Coarse: true,
		Detail: "every session is idle or locked"}
	switch {
	case present && v.known:
		r.Touched, r.Detail = r.At, "session "+who+" is no longer idle"
	case present:
		r.Detail = "session " + who + " is not idle"
	case since.Before(r.At):
		r.Touched = since
	}
	v.known, v.present = true, present
	v.report(r)
	return nil
}

// personal says whether a session is one that a person sits at. Others never
// become idle: those of timers, of file transfers, of the login screen.
func personal(props map[string]dbus.Variant) bool {
	class, kind := property[string](props, "Class"), property[string](props, "Type")
	return strings.HasPrefix(class, "user") && kind != "unspecified" && property[string](props, "State") != "closing"
}
