package freeze

import (
	"context"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// control is what others want of the guest. The guest looks at it at every yield.
type control struct {
	mu     sync.Mutex
	wake   *sync.Cond
	paused bool
	freeze bool
	inside []func(context.Context, *Machine) error // checkpoints asked for
	kill   error
	share  float64 // of a core; 0 means all
	stopAt uint64  // freeze at the first poll with this much fuel used; 0 means never
	bounds boundaries
	err    error // why the last freeze was not done
	asked  atomic.Bool
	used   atomic.Uint64
}

// Pause holds the guest at its next poll, using no CPU, until Continue.
func (m *Machine) Pause() { m.control.set(func(c *control) { c.paused = true }) }

// Continue lets a paused guest go on.
func (m *Machine) Continue() { m.control.set(func(c *control) { c.paused = false }) }

// Freeze stops the guest at its next poll: Call or Resume returns ErrFrozen. The order stands until it is carried out,
// also if the guest does not run when it is given.
func (m *Machine) Freeze() { m.control.set(func(c *control) { c.freeze = true }) }

// FreezeAt freezes the guest at the first poll at which it has used at least that much fuel: at the same place
// on every machine. 0 takes the order back. It must be called before the guest runs, or while it is stopped.
func (m *Machine) FreezeAt(fuel uint64) { m.control.set(func(c *control) { c.stopAt = fuel }) }

// Kill ends the guest at its next poll with an error that wraps ErrKilled.
func (m *Machine) Kill(reason string) {
	m.control.set(func(c *control) { c.kill = fmt.Errorf("%w: %s", ErrKilled, reason) })
}

// Throttle limits the guest to a share of a core, between 0 and 1. 0 and 1 mean no limit.
func (m *Machine) Throttle(share float64) { m.control.set(func(c *control) { c.share = share }) }

// Checkpoint has do called, on the goroutine that runs the guest, with the guest stopped at its next poll, and
// then lets it go on. The guest is stopped for as long as do runs. An error ends the run.
func (m *Machine) Checkpoint(do func(context.Context, *Machine) error) {
	m.control.set(func(c *control) { c.inside = append(c.inside, do) })
}

// Fuel is how much fuel the guest has used: exact while it is stopped, otherwise as of its last yield.
func (m *Machine) Fuel() uint64 { return m.control.used.Load() }

func (c *control) set(change func(*control)) {
	c.mu.Lock()
	change(c)
	c.asked.Store(c.paused || c.freeze || len(c.inside) > 0 || c.kill != nil || c.share > 0 && c.share < 1)
	c.mu.Unlock()
	c.wake.Broadcast()
}

func (c *control) killed() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.kill
}

// wanted reports whether there is something that needs the guest unwound, or its end; c.mu is held.
func (c *control) wanted() bool { return c.freeze || len(c.inside) > 0 || c.kill != nil }

// pace adapts how much fuel is granted at a time to how fast the guest uses it. It does not change what the guest
// does: polls and charges are at the same places whatever the grants.
type pace struct {
	granted uint64 // in all, by this machine and those before it
	quantum uint64
	since   time.Time
	polls   int // for torture
}

// The bounds of one grant. A unit of fuel is about one machine instruction: programs use 2 to 10 units a nanosecond,
// interpreters, printing and plain code alike (measured on 24 programs). Whoever asks when slower code comes next waits
// for what was granted to the faster: 2 Mi units took the slowest of them a millisecond.
const (
	minQuantum   = 1 << 8
	firstQuantum = 1 << 14
	maxQuantum   = 1 << 21
)

// settle brings the count of used fuel up to date.
func (m *Machine) settle() {
	m.control.used.Store(m.pace.granted - m.fuel.Get())
}

// grant gives the guest fuel for the next slice.
func (m *Machine) grant() {
	p := &m.pace
	left := m.fuel.Get() // may be negative
	q := max(p.quantum, minQuantum)
	if p.quantum == 0 {
		p.quantum, q = firstQuantum, firstQuantum
	}
	if m.cfg.tortures(m.stats.Unwinds) {
		q = 0
	}
	used := p.granted - left
	for _, limit := range []uint64{m.control.stopAt, m.control.bounds.next, m.cfg.MaxFuel} {
		if limit > used {
			q = min(q, limit-used-1)
		}
	}
	p.granted = used + q
	m.fuel.Set(q)
	p.since = m.now()
}

// adapt sets the next quantum from how long the last one took.
func (m *Machine) adapt(took time.Duration) {
	p := &m.pace
	if p.quantum == 0 || m.cfg.tortures(m.stats.Unwinds) {
		return
	}
	want := float64(p.quantum) * float64(m.cfg.Slice) / math.Max(float64(took), 1)
	// Fast down, slow up: code that follows may be slower for the same fuel.
	p.quantum = uint64(min(max(want, minQuantum), float64(p.quantum)*1.5, maxQuantum))
}

// yield is the import: the guest has used up its fuel, or hands over frames, or has arrived.
func (m *Machine) yield(ctx context.Context) {
	switch m.phase {
	case phaseUnwind:
		m.takeFrames()
	case phaseRewind:
		if len(m.chunks) > 0 {
			m.handOut()
			return
		}
		m.arrived()
		m.grant()
	case phaseRun:
		m.atPoll(ctx)
	default: // called by another module, with no call of this machine's below: it cannot be unwound
		m.grant()
	}
}

func (m *Machine) atPoll(ctx context.Context) {
	m.stats.Yields++
	if err := ctx.Err(); err != nil {
		panic(fmt.Errorf("%w: %w", ErrKilled, err))
	}
	took := m.now().Sub(m.pace.since)
	m.settle()
	m.adapt(took)
	c := &m.control
	if m.cfg.MaxFuel > 0 && c.used.Load() >= m.cfg.MaxFuel {
		m.Kill(fmt.Sprintf("used more than its %d units of fuel", m.cfg.MaxFuel))
	}
	if c.asked.Load() {
		m.obey(ctx, took)
	}
	unwind := m.control.due()
	if m.cfg.tortures(m.stats.Unwinds) {
		m.pace.polls++
		unwind = unwind || m.pace.polls%m.cfg.TortureEvery == 0
	}
	if unwind && m.region() > 0 {
		m.beginUnwind()
		return
	}
	if unwind {
		c.cross() // where a guest cannot be unwound there is no boundary
		unwind = c.due()
	}
	if unwind && m.cfg.TortureEvery == 0 {
		c.set(func(c *control) { c.freeze, c.inside, c.stopAt, c.err = false, nil, 0, ErrNoRoom })
		if m.cfg.NotStopped != nil {
			m.cfg.NotStopped(ErrNoRoom)
		}
	}
	m.grant()
}

// tortures reports whether a guest that was unwound so often is still to be tortured.
func (c *Config) tortures(unwinds int) bool {
	return c.TortureEvery > 0 && (c.TortureMost == 0 || unwinds < c.TortureMost)
}

// due reports whether the guest is to be unwound at this poll.
func (c *control) due() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	used := c.used.Load()
	return c.freeze || len(c.inside) > 0 || c.stopAt > 0 && used >= c.stopAt || c.bounds.due(used)
}

// FreezeError says why the last order to freeze was not carried out, and nil if it was or waits.
func (m *Machine) FreezeError() error {
	m.control.mu.Lock()
	defer m.control.mu.Unlock()
	return m.control.err
}

// obey pauses, throttles and kills.
func (m *Machine) obey(ctx context.Context, took time.Duration) {
	c := &m.control
	c.mu.Lock()
	share := c.share
	for c.paused && c.kill == nil && !c.freeze && ctx.Err() == nil {
		c.wake.Wait()
	}
	kill := c.kill
	c.mu.Unlock()
	if kill != nil {
		panic(kill)
	}
	if share > 0 && share < 1 {
		m.rest(ctx, time.Duration(float64(took)*(1-share)/share))
	}
}

// longestNap is how long a throttled guest sleeps before it looks whether anything is wanted of it: a slice may have
// taken long, since the machine had much else to do, and the sleep is many times that.
const longestNap = 10 * time.Millisecond

// rest sleeps for so long, or until something is wanted.
func (m *Machine) rest(ctx context.Context, d time.Duration) {
	c := &m.control
	for d > 0 && ctx.Err() == nil {
		c.mu.Lock()
		wanted := c.wanted()
		c.mu.Unlock()
		if wanted {
			return
		}
		nap := min(d, longestNap)
		m.sleep(ctx, nap)
		d -= nap
	}
}

func sleep(ctx context.Context, d time.Duration) {
	idle := time.NewTimer(d)
	defer idle.Stop()
	select {
	case <-idle.C:
	case <-ctx.Done():
	}
}

// stopped is called with the guest unwound. It reports whether the guest is to go on at once. An error of the host's
// wish that it ends wraps ErrKilled.
func (m *Machine) stopped(ctx context.Context) (again bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, fmt.Errorf("%w: %w", ErrKilled, err)
	}
	c := &m.control
	c.mu.Lock()
	inside, due := c.inside, c.stopAt > 0 && c.used.Load() >= c.stopAt
	c.inside, c.err = nil, nil
	if due {
		c.stopAt = 0
	}
	kill := c.kill
	c.mu.Unlock()
	if kill != nil {
		return false, kill
	}
	if do := c.cross(); do != nil {
		if err := do(ctx, m); err != nil {
			return false, fmt.Errorf("boundary: %w", err)
		}
	}
	for _, do := range inside {
		if err := do(ctx, m); err != nil {
			return false, fmt.Errorf("checkpoint: %w", err)
		}
	}
	stop := due
	c.set(func(c *control) { stop, c.freeze = stop || c.freeze, false }) // a freeze is carried out now
	return !stop, nil
}
