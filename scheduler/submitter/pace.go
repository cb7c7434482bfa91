package submitter

import (
	"time"

	"godwit/scheduler/message"
)

// What a submitter says to the leader is paced, so that ten thousand jobs that
// are offered again to a new leader neither hold up the loop that steps this
// machine nor fill the outbox to the leader: 3,200 offers a second, and 50 MB.
const (
	paceEvery  = 20 * time.Millisecond
	paceOffers = 64
	paceBytes  = message.BatchBytes
)

// A pace counts what was said since a moment.
type pace struct {
	from   time.Time
	offers int
	bytes  int
}

// bytesPerRange is about what an encoded Range takes.
const bytesPerRange = 12

func (p *pace) full() bool { return p.offers >= paceOffers || p.bytes >= paceBytes }

// maySpeak says whether the pace allows another offer now.
func (s *Submitter) maySpeak() bool {
	if s.now.Sub(s.pace.from) >= paceEvery {
		s.pace = pace{from: s.now}
	}
	return !s.pace.full()
}
