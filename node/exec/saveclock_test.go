package exec

import (
	"math"
	"testing"
	"testing/synctest"
	"time"

	"godwit/task"
)

// A checkpoint that is due while the task is on its way elsewhere is skipped; the
// hand-over's own are made, and the newest share of the time is what is told.
func TestNoSaveOnTheWay(t *testing.T) {
	place := newControls()
	if !place.saveUnlessLeaving() || len(place.save) != 1 {
		t.Error("no checkpoint of a task that stays")
	}
	<-place.save
	place.set(&source{})
	if place.saveUnlessLeaving() || len(place.save) != 0 {
		t.Error("a checkpoint beside those of the hand-over")
	}
	place.saveSoon()
	place.saveSoon()
	if len(place.save) != 1 {
		t.Errorf("%d checkpoints are asked for", len(place.save))
	}
	place.slow(.5)
	place.slow(.25)
	if got := <-place.share; got != .25 {
		t.Errorf("slowed to %v", got)
	}
	place.set(nil)
	<-place.save
	if !place.saveUnlessLeaving() {
		t.Error("no checkpoint after a hand-over that came to nothing")
	}
}

// What is left is what the lease said less what was done since, at this machine's
// speed.
func TestWorkLeft(t *testing.T) {
	for _, tt := range []struct {
		name   string
		told   time.Duration
		speed  float64
		stands bool
		does   func(l *workLeft)
		want   time.Duration
	}{
		{name: "nobody knows", speed: 1},
		{name: "at first", told: time.Hour, speed: 1, want: time.Hour},
		{name: "on a fast machine", told: time.Hour, speed: 4, want: 15 * time.Minute},
		{name: "on one of unknown speed", told: time.Hour, want: time.Hour},
		{name: "since it began", told: time.Hour, speed: 2,
			does: func(*workLeft) { <-time.After(10 * time.Minute) }, want: 20 * time.Minute},
		{name: "standing still", told: time.Hour, speed: 2, stands: true,
			does: func(*workLeft) { <-time.After(10 * time.Minute) }, want: 30 * time.Minute},
		{name: "since it was last saved", told: time.Hour, speed: 1, does: func(l *workLeft) {
			<-time.After(30 * time.Minute)
			l.did(10 * time.Minute) // others used the machine
			<-time.After(5 * time.Minute)
		}, want: 45 * time.Minute},
		{name: "without its state", told: time.Hour, speed: 2,
			does: func(l *workLeft) { l.anew(15 * time.Minute) }, want: 45 * time.Minute},
		{name: "longer than was thought", told: time.Minute, speed: 1,
			does: func(l *workLeft) { l.did(10 * time.Hour) }, want: time.Hour},
		{name: "with a state of all time", told: task.MaxDuration, speed: 1e-9,
			does: func(l *workLeft) { l.anew(math.MaxInt64) }, want: task.MaxDuration},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newWorkLeft(tt.told)
				if tt.does != nil {
					tt.does(l)
				}
				if got := l.running(tt.speed, tt.stands); got != tt.want {
					t.Errorf("%v left, want %v", got, tt.want)
				}
			})
		})
	}
	if got := (*workLeft)(nil).running(1, false); got != 0 {
		t.Errorf("%v left of nothing", got)
	}
}

// The interval follows what is left: a task is not saved before its end where it is
// shorter than that pays, be it by this machine's speed or by what was done.
func TestSaveIntervalFollowsTheWorkLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFakeHost()
		x := h.executor(t, &Sleeper{})
		job := &Job{spec: &task.Job{}}
		job.saves.pause = 200 * time.Millisecond
		after := func(speed float64, told, cpu time.Duration) time.Duration {
			t.Helper()
			left := newWorkLeft(told)
			left.did(cpu)
			h.speed = speed
			return x.saveAfter(h, task.TaskID{}, job, left)
		}
		const never = 10 * time.Minute
		hour := after(1, time.Hour, 0)
		if hour >= never || hour != after(1, 0, 0) {
			t.Errorf("of an hour's task the next checkpoint is in %v, of one that nobody knows in %v", hour, after(1, 0, 0))
		}
		if short, fast := after(1, time.Minute, 0), after(60, time.Hour, 0); short != never || fast != never {
			t.Errorf("of a minute's task the next is in %v, of an hour's that takes a minute here in %v", short, fast)
		}
		if nearly := after(1, 101*time.Hour, 100*time.Hour); nearly >= after(1, 101*time.Hour, 0) {
			t.Errorf("near the end of a hundred hours the next is in %v, as at the beginning", nearly)
		}
		if long := after(1, 100*time.Hour, 0); long <= hour || long >= never {
			t.Errorf("of a hundred hours the next is in %v, of one in %v", long, hour)
		}
	})
}
