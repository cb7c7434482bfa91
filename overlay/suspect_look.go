package overlay

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"time"

	"godwit/task"
)

const (
	// lookFirst is after how long a member that was lost is looked for again; each further time it
	// takes twice as long. A process that starved for a while, or a network that was away, lets
	// members seem lost that are there, and nobody may connect to them, or hear their next advert,
	// for a quarter of an hour.
	lookFirst = 30 * time.Second
	// maxLooks of them take as long as it does until the next advert.
	maxLooks = 5
)

// lookLater has a lost member looked for again after a while, unless that was done often enough. The
// times of several nodes, and for several members, are spread by their names.
func (s *Suspicion) lookLater(peer task.PeerID, w *watch, now time.Time) {
	if w.looks >= maxLooks {
		w.phase = quiet
		return
	}
	after := lookFirst << w.looks
	name := sha256.Sum256(fmt.Appendf(nil, "%s %s %d", s.self, peer, w.looks))
	w.looks++
	drawn := binary.BigEndian.Uint32(name[:]) % uint32(after.Milliseconds()/2)
	w.phase, w.until = resting, now.Add(after+time.Duration(drawn)*time.Millisecond)
}

// look asks a lost member for a sign of life.
func (s *Suspicion) look(peer task.PeerID, w *watch, now time.Time) []SuspicionEffect {
	w.phase, w.until, w.wait, w.probed = looking, now.Add(ProbeWait), ProbeWait, now
	return []SuspicionEffect{Probe{Peer: peer, Wait: ProbeWait}}
}
