package exec

import "time"

// usualRate is the bytes a second that a hand-over is thought to take before
// any was measured: an upload of 10 Mbit/s, which most homes have.
const usualRate = 10e6 / 8

// A pace is how fast hand-overs from here went.
type pace struct {
	rate float64 // bytes a second; 0 before the first
}

// paceShare is the weight of the newest hand-over: five of them forget a network
// that is no more.
const paceShare = 0.3

// paceBytes is the least that tells of a network: of less, the round trips are most.
const paceBytes = 1 << 20

// note takes a hand-over of so many bytes in, on the loop.
func (p *pace) note(bytes int64, took time.Duration) {
	if bytes < paceBytes || took <= 0 {
		return
	}
	rate := float64(bytes) / took.Seconds()
	if p.rate > 0 {
		rate = p.rate + paceShare*(rate-p.rate)
	}
	p.rate = rate
}

// uplink is the bytes a second at which states leave: as hand-overs did, else a
// usual rate or what the owner grants, if that is above 0.
func (p *pace) uplink(granted int64) float64 {
	if p.rate > 0 {
		return p.rate
	}
	if granted > 0 {
		return min(usualRate, float64(granted))
	}
	return usualRate
}
