package handover

import "time"

// A pace is what the rounds so far tell of the guest and of the network: how fast
// the one dirties its memory, and the other carries it. Both are measured anew in
// each round. The guest's is counted in time at full speed, so that what is learnt
// of a slowed guest says how far to slow it.
type pace struct {
	share float64       // of the time that the guest runs now; 1 is all
	at    time.Time     // until when ran and lost are counted; zero before the first checkpoint
	ran   time.Duration // that the guest has run since then, at full speed
	lost  time.Duration // that it has not, since it was slowed

	before, mark time.Duration // ran at the checkpoint before the newest, and at the newest

	newest float64 // bytes that were new with the newest checkpoint
	older  float64 // and with the one before
	whole  float64 // bytes of the first round
	dirt   float64 // bytes a second at full speed that changed before the newest checkpoint; 0 not known
	rate   float64 // bytes a second that the network carries; 0 not known

	// over is what the last round took beyond its bytes: the checkpoint, the
	// round trip and the loading.
	over time.Duration
}

// run counts the time until now.
func (p *pace) run(now time.Time) {
	if !p.at.IsZero() {
		d := now.Sub(p.at)
		run := time.Duration(float64(d) * p.share)
		p.ran, p.lost = p.ran+run, p.lost+d-run
	}
	p.at = now
}

// slow notes that the guest runs only a share of the time from now on.
func (p *pace) slow(now time.Time, share float64) {
	p.run(now)
	p.share = share
}

// asked notes that a checkpoint is made now.
func (p *pace) asked(now time.Time) {
	p.run(now)
	p.before, p.mark = p.mark, p.ran
}

// saved takes what was new with the checkpoint of a round. With the first all may
// be, and nothing follows.
func (p *pace) saved(round int, bytes int64) {
	p.older, p.newest = p.newest, float64(bytes)
	if round > 1 {
		p.dirt = p.newest / max(p.mark-p.before, time.Millisecond).Seconds()
	}
}

// carried takes a round that is there: its bytes, and the time from its checkpoint
// on. One that took less than tells says only how fast the network is at least.
func (p *pace) carried(bytes int64, took, tells time.Duration) {
	if p.whole == 0 {
		p.whole = float64(bytes)
	}
	rate := float64(bytes) / max(took, time.Millisecond).Seconds()
	if took >= tells || rate > p.rate {
		p.rate = rate
	}
	p.over = max(0, took-p.takes(float64(bytes)))
}

// takes is how long so many bytes take; 0 where the rate is not known.
func (p *pace) takes(bytes float64) time.Duration {
	if p.rate == 0 {
		return 0
	}
	return time.Duration(bytes / p.rate * float64(time.Second))
}

// ratio is how many times as fast as the network carries it the guest dirties its
// memory: the share of one round that the next has.
func (p *pace) ratio() float64 {
	if p.rate == 0 {
		return 0
	}
	return p.dirt * p.share / p.rate
}

// left is how many bytes changed since the newest checkpoint, as far as can be
// told: no more than there are.
func (p *pace) left(now time.Time) float64 {
	p.run(now)
	return min(p.dirt*(p.ran-p.mark).Seconds(), p.whole)
}

// after is how many will be left after another round that sends so many.
func (p *pace) after(left float64) float64 {
	return min(p.dirt*p.share*(p.over+p.takes(left)).Seconds(), p.whole)
}
