package node

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"godwit/blocks/disk"
)

// The time that the machine sleeps counts; what is too short to be sleep does
// not, and a wall clock that is set moves nothing.
func TestClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slept, set := 5*time.Second, time.Duration(0)
		c := newClock()
		c.slept, c.asleep = slept, func() time.Duration { return slept }
		c.wall = func() time.Time { return time.Now().Add(slept - 5*time.Second + set) }
		begun := time.Now()
		check := func(want, jump time.Duration) {
			t.Helper()
			if got := c.now().Sub(begun); got != want {
				t.Errorf("%v have passed, want %v", got, want)
			}
			if got := c.jumped(); got != jump {
				t.Errorf("the wall clock jumped by %v, want %v", got, jump)
			}
		}
		check(0, 0)
		time.Sleep(time.Minute)
		check(time.Minute, 0)
		slept += sleepNews / 2
		check(time.Minute, 0)
		slept += time.Hour - sleepNews/2
		check(time.Minute+time.Hour, 0)
		set = 2 * time.Hour
		check(time.Minute+time.Hour, 2*time.Hour)
		check(time.Minute+time.Hour, 0) // told once
		set = 0
		check(time.Minute+time.Hour, -2*time.Hour)
	})
}

// A store that fails for good ends the node, which says what a person can do.
func TestStoreFailsForGood(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want string
	}{{disk.ErrBroken, "check the disk"}, {disk.ErrCorrupt, "start the node again"}} {
		synctest.Test(t, func(t *testing.T) {
			d := newDisk()
			l := startLone(t, d, false)
			time.Sleep(time.Minute)
			d.setHook(func([]string) error { return fmt.Errorf("%w: for the test", tt.err) })
			id, err := l.Submit(t.Context(), sleepJob(t, l.Node, 1, time.Second))
			if !errors.Is(err, ErrStopped) {
				t.Errorf("%v: submitted %q, %v", tt.err, id, err)
			}
			if err := l.end(); !errors.Is(err, tt.err) || !strings.Contains(err.Error(), tt.want) ||
				!strings.Contains(err.Error(), l.cfg.DataDir) {
				t.Errorf("the node ends with %v, want a word of %q", err, tt.want)
			}
		})
	}
}
