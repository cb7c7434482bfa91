package predictor

import (
	"math"
	"time"

	"godwit/trace"
)

// slots cut a host's time into equal pieces and say of each whether the host was
// there at its end, as the predictors of Mickens and Noble see it.
type slots struct {
	spell spell
	slot  int64
	next  int64 // the end of the slot that runs
}

// defaultSlot is that of the measurements in docs/spec/predictors.md section 3.2.
const defaultSlot = 10 * msPerMinute

// pass returns how many slots ended up to now, in the state that holds, and
// whether they are to be counted.
func (s *slots) pass(now int64) (n int64, counted bool) {
	if !s.spell.begun || now < s.next {
		return 0, false
	}
	n = (now-s.next)/s.slot + 1
	s.next += n * s.slot
	return n, !s.spell.blind
}

func (s *slots) turn(at int64, up, blind bool) {
	if before, _ := s.spell.turn(at, up, blind); !before.begun {
		s.next = at + s.slot
	}
}

// A counter learns from slots.
type counter interface {
	count(up bool, n int64)
	stay(slots float64) float64
}

// counting is the predictor that a counter makes.
type counting struct {
	slots
	counter
}

func (c *counting) follow(now int64) {
	if n, ok := c.pass(now); ok {
		c.count(c.spell.up, n)
	}
}

func (c *counting) Observe(at time.Time, s trace.State) {
	// A slot that ends at the change is in the state that ended.
	c.follow(millis(at))
	c.turn(millis(at), s == trace.Available, false)
}

func (c *counting) Blind(at time.Time) {
	c.follow(millis(at))
	c.turn(millis(at), false, true)
}

func (c *counting) Stay(now time.Time, d time.Duration) (float64, bool) {
	c.follow(millis(now))
	if d <= 0 {
		return 1, c.spell.seen(millis(now))
	}
	return c.stay(float64(d.Milliseconds()) / float64(c.slot)), c.spell.seen(millis(now))
}

// saturating is SatCount: one up for a slot there, one down for one away, within
// bounds. Its answer is a score that does not depend on the horizon.
type saturating struct{ value, most int64 }

func newSaturating(bits int) counter {
	most := int64(1)<<bits - 1
	return &saturating{most / 2, most}
}

func (s *saturating) count(up bool, n int64) {
	n = min(n, s.most)
	if !up {
		n = -n
	}
	s.value = max(0, min(s.most, s.value+n))
}

func (s *saturating) stay(float64) float64 {
	return (float64(s.value) + 0.5) / (float64(s.most) + 1)
}

// pattern is the history counter: for each pattern of the last slots, how often
// the host was there in the next.
type pattern struct {
	last, mask uint32
	bits       int
	seen       []tally
}

// A tally counts slots that came after a pattern, halved when full.
type tally struct{ up, all uint8 }

func (t *tally) add(up bool, n int64) {
	for ; n > 0; n-- {
		if t.all == math.MaxUint8 {
			t.up, t.all = t.up/2, t.all/2
		}
		t.all++
		if up {
			t.up++
		}
	}
}

func (t tally) share() float64 { return (float64(t.up) + 1) / (float64(t.all) + 2) }

func newPattern(bits int) counter {
	return &pattern{mask: 1<<bits - 1, bits: bits, seen: make([]tally, 1<<bits)}
}

func (p *pattern) count(up bool, n int64) {
	bit := uint32(0)
	if up {
		bit = 1
	}
	for i := 0; i < p.bits && n > 0; i++ {
		p.seen[p.last].add(up, 1)
		p.last = (p.last<<1 | bit) & p.mask
		n--
	}
	p.seen[p.last].add(up, min(n, math.MaxUint8)) // the pattern does not change any more
}

// stay follows the pattern through slots in which the host is there.
func (p *pattern) stay(slots float64) float64 {
	s, last := 1.0, p.last
	for i := 0; i < p.bits && slots > 0; i++ {
		s *= math.Pow(p.seen[last].share(), min(1, slots))
		last = (last<<1 | 1) & p.mask
		slots--
	}
	if slots > 0 {
		s *= math.Pow(p.seen[last].share(), slots)
	}
	return s
}

// Widths of counters: one of 4 bits is the +-8 of docs/spec/predictors.md section 3.2, and a pattern
// of 6 slots is an hour.
const (
	saturatingBits = 4
	patternBits    = 6
	mostBits       = 12
)

func counterModel(f func(bits int) counter, bits int) func(*Params) func(*Pool) Predictor {
	return func(ps *Params) func(*Pool) Predictor {
		n := ps.Integer("bits", bits, 1, mostBits)
		slot := ps.Duration("slot", defaultSlot*time.Millisecond).Milliseconds()
		return func(*Pool) Predictor {
			return &counting{slots{slot: max(1, slot)}, f(n)}
		}
	}
}
