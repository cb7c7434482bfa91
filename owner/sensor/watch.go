package sensor

import (
	"context"
	"errors"
	"os"
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

// phase sets the beats of each process apart from those of others on the machine, which may be many
// nodes.
var phase = time.Duration(os.Getpid()) * phaseStep

// phaseStep is a prime number of milliseconds, so that the beats of processes started one after the
// other are spread over a second, and over two.
const phaseStep = 89 * time.Millisecond

// Poll calls f at once and then at the beats of d until ctx ends or f fails, and returns why. All
// that polls is due at the same instants: to wake costs an idle machine more than to look.
func Poll(ctx context.Context, d time.Duration, f func() error) error {
	t := time.NewTimer(0)
	defer t.Stop()
	for {
		select {
		case <-t.C:
		case <-ctx.Done():
			return ctx.Err()
		}
		if err := f(); err != nil {
			return err
		}
		t.Reset(untilBeat(time.Now().Add(phase), d))
	}
}

// untilBeat is how long it is until the next multiple of d on the wall clock, or, where that is so
// near that a timer may have gone off before it, the one after.
func untilBeat(now time.Time, d time.Duration) time.Duration {
	wait := d - now.Sub(now.Truncate(d))
	if wait < d/4 {
		wait += d
	}
	return wait
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
