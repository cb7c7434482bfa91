package sandbox

import (
	"sync"
	"time"
)

// throttlePeriod is the period in which a throttled pool runs and stands still
// once. BOINC's limit on CPU use has a second; half of one disturbs a desktop
// less, and still is long against the millisecond that stopping takes.
const throttlePeriod = 500 * time.Millisecond

// A throttle lets the children run a share of the time.
type throttle struct {
	share float64
	stop  chan struct{}
	done  sync.WaitGroup
}

// Throttle lets the children run only a share of the time, above 0 and at most
// 1, which is no throttle. It is for the owner's cap on cores where more tasks
// run than it allows and no control group holds them. Task time limits do not
// count the rest. It must not be called from two goroutines at once.
func (p *Pool) Throttle(share float64) {
	share = min(max(share, 0.01), 1)
	if old := p.throttle; old != nil {
		if old.share == share {
			return
		}
		close(old.stop)
		old.done.Wait()
		p.throttle = nil
		p.hold(byThrottle, false)
	}
	if share == 1 {
		return
	}
	t := &throttle{share: share, stop: make(chan struct{})}
	p.throttle = t
	t.done.Go(func() {
		run := time.Duration(share * float64(throttlePeriod))
		for on := true; ; on = !on {
			p.hold(byThrottle, on)
			d := run
			if on {
				d = throttlePeriod - run
			}
			timer := time.NewTimer(d)
			select {
			case <-timer.C:
			case <-t.stop:
				timer.Stop()
				return
			}
		}
	})
}
