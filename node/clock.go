package node

import (
	"sync"
	"time"

	"godwit/owner/sensor"
)

const (
	// jumpNews is the least jump of the wall clock that is spoken of: what time
	// servers correct step by step is far below, and adverts bear as much.
	jumpNews = time.Minute
	// sleepNews is the least time asleep that counts: below it are the
	// readings' own differences.
	sleepNews = time.Second
)

// A clock tells the loop's time: the wall clock at start plus what has passed
// since, the time that the machine slept included. It never goes back and does
// not jump when the wall clock is set, so that no lease lives longer or shorter
// for it.
type clock struct {
	started time.Time
	wall    func() time.Time
	asleep  func() time.Duration
	slept   time.Duration // before the start
	drift   time.Duration // of the wall clock from this one, as last told
	news    jumpNote      // the newest
}

func newClock() clock {
	return clock{started: time.Now(), wall: time.Now, asleep: seldom(sensor.Asleep), slept: sensor.Asleep()}
}

// asleepEvery is how often the system is asked how long it slept. That takes two system
// calls, and the loop looks at the clock several times for a task.
const asleepEvery = 10 * time.Millisecond

// seldom returns what read says, as it was within the last asleepEvery that the machine
// was awake.
func seldom(read func() time.Duration) func() time.Duration {
	var (
		mu   sync.Mutex
		last time.Duration
		at   time.Time
	)
	return func() time.Duration {
		mu.Lock()
		defer mu.Unlock()
		if at.IsZero() || time.Since(at) >= asleepEvery {
			last, at = read(), time.Now()
		}
		return last
	}
}

func (c *clock) now() time.Time {
	t := c.started.Add(time.Since(c.started))
	if slept := c.asleep() - c.slept; slept >= sleepNews {
		t = t.Add(slept)
	}
	return t
}

// jumped returns by how much the wall clock has been set since the last call; 0
// for nothing worth telling.
func (c *clock) jumped() time.Duration {
	drift := c.wall().Round(0).Sub(c.now().Round(0))
	by := drift - c.drift
	if by.Abs() < jumpNews {
		return 0
	}
	c.drift = drift
	return by
}

// noteJump says when the wall clock was set. What is told to others bears its
// time; leases, timeouts and deadlines go by what has passed.
func (d *driver) noteJump(now time.Time) {
	by := d.clock.jumped()
	if by == 0 {
		return
	}
	d.clock.news = jumpNote{at: now, by: by}
	d.log.Warn("the clock was set: leases and deadlines go by the time that passes, and are as they were; others hear "+
		"adverts with the new time",
		"by", by.Round(time.Second))
	d.at(func() {
		for _, m := range d.peer.Members() {
			m.Advertise()
		}
	})
}

// A jumpNote is when the wall clock was last set, and by how much.
type jumpNote struct {
	at time.Time
	by time.Duration
}
