package p2p

import (
	"fmt"
	"testing"
	"time"

	"godwit/overlay"
	"godwit/task"
)

// The median of members' clocks is what this one is compared with: a few that lie, or err, change nothing;
// adverts that may be old say nothing; what is long ago is forgotten.
func TestSkew(t *testing.T) {
	now := time.Now()
	heard := func(s *skews, i int, age time.Duration, renewed bool) {
		a := overlay.Advert{Peer: task.PeerID(fmt.Sprint(i)), Issued: now.Add(-age), Expires: now.Add(time.Hour)}
		s.note(&a, renewed, now)
	}
	var s skews
	for i := range 9 {
		heard(&s, i, 10*time.Minute, false)
	}
	if got := s.told(now); got.Members != 0 {
		t.Errorf("of adverts that may be old: %+v", got)
	}
	for i := range 5 {
		heard(&s, i, 90*time.Second, true)
		heard(&s, i, 40*time.Second, true) // the quicker one counts
		heard(&s, i, 70*time.Second, true)
	}
	for i := range 4 { // these lie
		heard(&s, 5+i, -50*time.Second, false)
	}
	if got := s.told(now); got.Members != 9 || got.Ahead != 40*time.Second {
		t.Errorf("ahead: %+v", got)
	}
	if got := s.told(now.Add(skewMemory)); got.Members != 0 {
		t.Errorf("after an hour: %+v", got)
	}
	var many skews
	for i := range 10 * maxSkews {
		heard(&many, i, -time.Second, false)
	}
	if n := len(many.of); n != maxSkews {
		t.Errorf("%d clocks are remembered", n)
	}
	if got := many.told(now); got.Ahead != -time.Second {
		t.Errorf("behind: %+v", got)
	}
}

// Members that come first have no more weight than those that come later, though the table is full of their clocks.
func TestSkewSamplesAllMembers(t *testing.T) {
	now := time.Now()
	var s skews
	heard := func(name string, i int, age time.Duration) {
		a := overlay.Advert{Peer: task.PeerID(fmt.Sprint(name, i)), Issued: now.Add(-age), Expires: now.Add(time.Hour)}
		s.note(&a, true, now)
	}
	for i := range maxSkews {
		heard("liar", i, -50*time.Second)
	}
	for i := range 4 * maxSkews {
		heard("honest", i, time.Second)
	}
	if got := s.told(now); got.Ahead != time.Second || got.Members != maxSkews {
		t.Errorf("a fifth of the members lie, and the clock is ahead by %v", got)
	}
}
