package sensor

import (
	"context"
	"errors"
	"time"
)

// retryEvery is how often a blind sensor looks whether its interface is there
// now: a person logs in, a compositor starts, a device is plugged in.
const retryEvery = 10 * time.Second

// A blindness is the error of a sensor that sees nothing, with the way out.
type blindness struct {
	why string
	fix string
}

func (b *blindness) Error() string { return b.why }

func blind(why, fix string) error { return &blindness{why, fix} }

// watch runs session again and again until ctx ends, and reports each of its
// errors as blindness of every kind that s tells.
func watch(ctx context.Context, s Sensor, report func(Reading), session func(context.Context) error) {
	for ctx.Err() == nil {
		err := session(ctx)
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			err = errors.New("the connection was closed")
		}
		reportBlind(s, report, err)
		pause(ctx, retryEvery)
	}
}

func reportBlind(s Sensor, report func(Reading), err error) {
	for _, k := range s.Kinds() {
		reportBlindOf(s, k, report, err)
	}
}

func reportBlindOf(s Sensor, k Kind, report func(Reading), err error) {
	r := Reading{Sensor: s.Name(), Kind: k, At: time.Now(), Blind: err.Error()}
	if b := (*blindness)(nil); errors.As(err, &b) {
		r.Fix = b.fix
	}
	report(r)
}

// pause waits for d or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// poll calls f at once and then each d until ctx ends or f fails.
func poll(ctx context.Context, d time.Duration, f func() error) error {
	t := time.NewTicker(d)
	defer t.Stop()
	for {
		if err := f(); err != nil {
			return err
		}
		select {
		case <-t.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// A touch remembers what was last reported of input.
type touch struct {
	last  time.Time
	first bool // something was reported
}

// news says whether at is worth a report, and remembers it.
func (t *touch) news(at time.Time) bool {
	if t.first && at.Sub(t.last) < step {
		return false
	}
	t.last, t.first = at, true
	return true
}
