package node

import (
	"math"
	"time"

	"godwit/owner/sensor"
)

const (
	// loadEvery is how often the use of the CPU by others is looked at for the
	// leader: as often as it is reported.
	loadEvery = 2 * time.Second
	// loadStep is the step of what is told of it, in percent: noise is no news.
	loadStep = 5
)

// A load is the share of the CPU that others use.
type load struct {
	share float64
	at    time.Time // when it was last looked at
}

// read looks at the load again, if that was loadEvery ago.
func (l *load) read(readings func() []sensor.Reading, now time.Time) {
	if !l.at.IsZero() && now.Sub(l.at) < loadEvery {
		return
	}
	l.at, l.share = now, 0
	for _, r := range readings() {
		if r.Kind == sensor.Load && r.Blind == "" {
			l.share = max(l.share, r.Value)
		}
	}
}

// withheld returns the percentage of the machine's CPU that tasks do not get:
// what others use, or the owner keeps, whichever is more.
func (l *lending) withheld(now time.Time) int {
	l.load.read(l.monitor.Readings, now)
	if l.decision.Stop || l.owner.Slots == 0 {
		return 100
	}
	kept := 1 - float64(l.owner.Slots)/float64(max(1, l.cfg.Cores))
	percent := loadStep * int(math.Round(100/loadStep*max(l.load.share, kept)))
	return min(100, max(0, percent))
}
