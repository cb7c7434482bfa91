package sandbox

import (
	"sync"
	"time"
)

// orderPatience is how long a child that stands still may take to be sent an
// order before it is let go on. It takes microseconds, unless the pipe to the child is
// full; then the guest does not run, for it waits for what is in there.
const orderPatience = 10 * time.Millisecond

// steer passes on the caller's wishes until the function it returns is called.
func (p *Pool) steer(v *conversation) (stop func()) {
	done := make(chan struct{})
	var wg sync.WaitGroup
	if v.feed != nil {
		wg.Go(func() { v.feed.run(done) })
	}
	if v.t.Freeze != nil || v.t.Every > 0 || v.t.Save != nil || v.t.Due != nil || v.t.Share != nil {
		wg.Go(func() { p.order(v, done) })
	}
	return func() { close(done); wg.Wait() }
}

// order sends the caller's orders.
func (p *Pool) order(v *conversation, done <-chan struct{}) {
	var tick <-chan time.Time
	if v.t.Every > 0 {
		t := time.NewTicker(v.t.Every)
		defer t.Stop()
		tick = t.C
	}
	save, due, shares := v.t.Save, v.t.Due, v.t.Share
	for {
		o := order{Checkpoint: true}
		select {
		case <-v.t.Freeze:
			p.orderFreeze(v)
			return
		case _, open := <-save:
			if !open {
				save = nil
				continue
			}
			o = order{Save: true}
		case _, open := <-due:
			if !open {
				due = nil
				continue
			}
		case share, open := <-shares:
			if !open {
				shares = nil
				continue
			}
			_ = v.tell(request{Order: &order{Share: share}})
			continue
		case <-tick:
		case <-done:
			return
		}
		v.asked.Add(1)
		_ = v.tell(request{Order: &o}) // a child that is gone is noticed elsewhere
	}
}

// orderFreeze orders the child to freeze its task, and lets it go on for that if
// it stands still: with the order waiting for it, its guest runs no further than to
// the next safe point.
func (p *Pool) orderFreeze(v *conversation) {
	v.asked.Add(1)
	told := make(chan struct{})
	go func() {
		defer close(told)
		_ = v.tell(request{Order: &order{Freeze: true}})
	}()
	timer := time.NewTimer(orderPatience)
	defer timer.Stop()
	select {
	case <-told:
	case <-timer.C:
	}
	p.loosen(v.c)
	<-told
}

// loosen lets a child go on while all others stand still.
func (p *Pool) loosen(c *child) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c.loose = true
	if len(p.held) > 0 {
		p.signalTo(c, "resuming", resume)
	}
}

// tighten ends that. It may be called for a child that is not loose.
func (p *Pool) tighten(c *child) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c.loose && len(p.held) > 0 {
		p.signalTo(c, "suspending", suspend)
	}
	c.loose = false
}
