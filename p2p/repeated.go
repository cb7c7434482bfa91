package p2p

import (
	"bytes"
	"crypto/sha256"
	"time"

	"godwit/overlay"
	"godwit/task"
)

// repeats finds adverts that are known as they are, by their bytes alone: a hello has some 250 of
// them, said twice by each neighbour, and to open one takes as long as to find three hundred. adverts.mu
// is held when it is used.
type repeats map[[sha256.Size]byte]whose

// whose is what an advert says it is of.
type whose struct {
	overlay overlay.ID
	peer    task.PeerID
}

// maxRepeats bounds what is remembered: twice what an overlay's table has, and beyond it is all
// forgotten, which costs each advert one opening.
const maxRepeats = 2 * maxAdverts

// note remembers an advert that was opened.
func (r repeats) note(a *overlay.Advert, b []byte) {
	if len(r) >= maxRepeats {
		clear(r)
	}
	r[sha256.Sum256(b)] = whose{a.Overlay, a.Peer}
}

// repeated returns an advert that is known with these very bytes and has not expired.
func (as *adverts) repeated(b []byte, topic overlay.ID, now time.Time) (overlay.Advert, bool) {
	name := sha256.Sum256(b)
	as.mu.Lock()
	defer as.mu.Unlock()
	of, ok := as.heard[name]
	m := as.joined[of.overlay]
	if !ok || m == nil || topic != "" && topic != of.overlay {
		return overlay.Advert{}, false
	}
	k, ok := m.known[of.peer]
	return k.Advert, ok && k.Expires.After(now) && bytes.Equal(k.bytes, b)
}
