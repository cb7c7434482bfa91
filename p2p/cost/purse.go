package cost

import (
	"time"

	"golang.org/x/time/rate"
)

// A purse is what one peer may still cost, or all of those that share one.
type purse struct {
	class   Class
	judged  time.Time // when its class was last asked for
	buckets [kinds]*rate.Limiter
}

// newPurse returns a full one.
func newPurse(of [kinds]allowance) *purse {
	p := &purse{}
	for k, a := range of {
		p.buckets[k] = rate.NewLimiter(a.perSecond, a.burst)
	}
	return p
}

// become changes what a peer is. What it has taken it still has.
func (p *purse) become(c Class, now time.Time) {
	p.judged = now
	if c == p.class {
		return
	}
	old := p.buckets
	p.class, p.buckets = c, newPurse(perPeer[c]).buckets
	for k, b := range old {
		if b.Limit() != rate.Inf {
			p.debit(Kind(k), int(max(0, float64(b.Burst())-b.TokensAt(now))), now)
		}
	}
}

// debit takes n of a kind, also what is not there.
func (p *purse) debit(k Kind, n int, now time.Time) {
	b := p.buckets[k]
	for n > 0 && b.Limit() != rate.Inf {
		part := min(n, b.Burst())
		b.ReserveN(now, part)
		n -= part
	}
}

// owes returns how long it takes to pay what was taken of a kind and was not there.
func (p *purse) owes(k Kind, now time.Time) time.Duration { return p.lacks(k, 0, now) }

// lacks returns what owes would, were n more of a kind taken.
func (p *purse) lacks(k Kind, n int, now time.Time) time.Duration {
	b := p.buckets[k]
	if b.Limit() == rate.Inf {
		return 0
	}
	missing := max(0, float64(n)-b.TokensAt(now))
	return time.Duration(missing / float64(b.Limit()) * float64(time.Second))
}

// has reports whether n of a kind are there.
func (p *purse) has(k Kind, n int, now time.Time) bool {
	b := p.buckets[k]
	return b.Limit() == rate.Inf || b.TokensAt(now) >= float64(n)
}

// full reports whether nothing was taken that has not come back.
func (p *purse) full(now time.Time) bool {
	for k := range kinds {
		if b := p.buckets[k]; b.Limit() != rate.Inf && b.TokensAt(now) < float64(b.Burst()) {
			return false
		}
	}
	return true
}
