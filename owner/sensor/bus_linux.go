package sensor

import (
	"context"
	"fmt"
	"time"

	"github.com/godbus/dbus/v5"
)

const (
	dbusProperties = "org.freedesktop.DBus.Properties"
	// callTimeout bounds a question on the bus: a service that takes longer is
	// stuck, and must not make the sensor stick too.
	callTimeout = 5 * time.Second
	// rereadEvery is how often properties are read though no signal came: some
	// change without one.
	rereadEvery = 10 * time.Second
)

// A bus is a connection to a message bus and what it says of one service.
type bus struct {
	conn    *dbus.Conn
	signals chan *dbus.Signal
}

// dialBus connects to a bus and subscribes to a service's signals. An empty
// address is the system's bus, or the session's for session.
func dialBus(ctx context.Context, address, service string, session bool) (*bus, error) {
	const queue = 64 // signals; a login makes about ten
	conn, err := connect(ctx, address, session)
	if err != nil {
		what := "system"
		if session {
			what = "session"
		}
		return nil, fmt.Errorf("no %s bus: %w", what, err)
	}
	b := &bus{conn: conn, signals: make(chan *dbus.Signal, queue)}
	conn.Signal(b.signals)
	if err := conn.AddMatchSignalContext(ctx, dbus.WithMatchSender(service)); err != nil {
		conn.Close()
		return nil, fmt.Errorf("subscribing on the bus: %w", err)
	}
	return b, nil
}

func connect(ctx context.Context, address string, session bool) (*dbus.Conn, error) {
	opts := []dbus.ConnOption{dbus.WithContext(ctx)}
	if address != "" {
		return dbus.Connect(address, opts...)
	}
	if !session {
		return dbus.ConnectSystemBus(opts...)
	}
	conn, err := dbus.SessionBusPrivateNoAutoStartup(opts...)
	if err != nil {
		return nil, err
	}
	if err := conn.Auth(nil); err != nil {
		conn.Close()
		return nil, err
	}
	if err := conn.Hello(); err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

// call asks object for method and stores its answer.
func (b *bus) call(ctx context.Context, service string, path dbus.ObjectPath, method string, args []any,
	out ...any) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	c := b.conn.Object(service, path).CallWithContext(ctx, method, dbus.FlagNoAutoStart, args...)
	if c.Err != nil {
		return fmt.Errorf("%s: %w", method, c.Err)
	}
	if err := c.Store(out...); err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	return nil
}

// properties returns all properties of an object's interface.
func (b *bus) properties(ctx context.Context, service string, path dbus.ObjectPath,
	face string) (map[string]dbus.Variant, error) {
	var out map[string]dbus.Variant
	return out, b.call(ctx, service, path, dbusProperties+".GetAll", []any{face}, &out)
}

// property returns a property of type T, or T's zero value if it is not there
// or of another type.
func property[T any](props map[string]dbus.Variant, name string) T {
	v, _ := props[name].Value().(T)
	return v
}

// listen calls look at once, then on every signal and every so often, until
// look fails, ctx ends or the bus is gone. A nil signal is a look without one.
func (b *bus) listen(ctx context.Context, look func(*dbus.Signal) error) error {
	if err := look(nil); err != nil {
		return err
	}
	t := time.NewTicker(rereadEvery)
	defer t.Stop()
	for {
		var s *dbus.Signal
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-t.C:
		case got, open := <-b.signals:
			if !open {
				return fmt.Errorf("the bus closed the connection")
			}
			s = got
		}
		if err := look(s); err != nil {
			return err
		}
	}
}
