package overlay

import (
	"fmt"
	"testing"
	"time"

	"godwit/task"
)

// TestLostIsLookedFor: a member that was lost is looked for, each time after twice as long, and is
// there again as soon as it answers; after some times it is not looked for any more.
func TestLostIsLookedFor(t *testing.T) {
	for answers := range maxLooks + 1 { // which look it answers; the last: none
		s := NewSuspicion("me")
		s.Connected("a", epoch)
		s.Broke("a", "its connection broke", epoch)
		if e := s.Failed("a", true, epoch); len(e) != 1 {
			t.Fatalf("the loss is %v", e)
		}
		now, before := epoch, time.Duration(0)
		for look := range maxLooks {
			next, ok := s.Next()
			if wait := next.Sub(now); !ok || wait < lookFirst<<look || wait > lookFirst<<look*3/2 || wait <= before {
				t.Fatalf("look %d is due after %v, %v", look, wait, ok)
			} else {
				before = wait
			}
			now = next
			if e := s.Tick(now); len(e) != 1 || e[0] != (SuspicionEffect)(Probe{Peer: "a", Wait: ProbeWait}) {
				t.Fatalf("look %d is %v", look, e)
			}
			if b := s.Beliefs()[0]; b.State != Lost {
				t.Fatalf("while it is looked for it is %v", b.State)
			}
			if look == answers {
				if e := s.Answered("a", now); len(e) != 1 || e[0] != (SuspicionEffect)(Alive{Peer: "a", By: ByProbe}) {
					t.Fatalf("its answer is %v", e)
				}
				break
			}
			if look%2 == 0 { // else the driver says nothing
				now = now.Add(ProbeWait)
				if e := s.Failed("a", false, now); len(e) > 0 {
					t.Fatalf("it does not answer: %v", e)
				}
				continue
			}
			now = now.Add(ProbeWait + driverGrace)
			if e := s.Tick(now); len(e) > 0 {
				t.Fatalf("it does not answer: %v", e)
			}
		}
		if at, ok := s.Next(); ok {
			t.Errorf("answered look %d: something is due at %v", answers, at)
		}
	}
}

// TestLooksAreSpread: members that are lost at once are not all looked for at once.
func TestLooksAreSpread(t *testing.T) {
	s := NewSuspicion("me")
	for _, p := range []task.PeerID{"a", "b", "c", "d"} {
		s.Broke(p, "its connection broke", epoch)
		s.Failed(p, true, epoch)
	}
	due := map[time.Time]bool{}
	for _, w := range s.members {
		due[w.until] = true
	}
	if len(due) < 3 {
		t.Errorf("four are looked for at %d times", len(due))
	}
}

// TestToldOfLost: who tells of a lost member by an advert from before its loss has it asked, at once and not
// again for a while; one from after it is a sign of life.
func TestToldOfLost(t *testing.T) {
	lose := func(s *Suspicion, p task.PeerID) {
		s.Broke(p, "its connection broke", epoch)
		s.Failed(p, true, epoch)
	}
	s := NewSuspicion("me")
	lose(s, "a")
	now := epoch.Add(5 * time.Second)
	if there, e := s.Told("a", epoch.Add(-time.Second), now); there || len(e) != 1 ||
		e[0] != (SuspicionEffect)(Probe{Peer: "a", Wait: ProbeWait}) {
		t.Fatalf("told of it: %t, %v", there, e)
	}
	if there, e := s.Told("a", epoch.Add(-time.Second), now); there || len(e) > 0 {
		t.Errorf("told of it while it is asked: %t, %v", there, e)
	}
	now = now.Add(ProbeWait)
	if e := s.Failed("a", false, now); len(e) > 0 {
		t.Errorf("it does not answer: %v", e)
	}
	if there, e := s.Told("a", epoch, now); there || len(e) > 0 {
		t.Errorf("told of it just after: %t, %v", there, e)
	}
	if there, e := s.Told("a", epoch.Add(tellSlack+time.Second), now); !there || len(e) > 0 {
		t.Errorf("told what it said after its loss: %t, %v", there, e)
	}
	now = now.Add(lookFirst)
	s.Told("a", epoch, now)
	if e := s.Answered("a", now); len(e) != 1 || e[0] != (SuspicionEffect)(Alive{Peer: "a", By: ByProbe}) {
		t.Errorf("it answers: %v", e)
	}
	if there, e := s.Told("a", epoch, now); !there || len(e) > 0 {
		t.Errorf("told of one that is there: %t, %v", there, e)
	}
	if there, _ := s.Told("stranger", epoch, now); !there {
		t.Error("who was never lost is asked")
	}
}

// TestToldOfMany: who tells of ten thousand lost members, for a minute, has few dials made.
func TestToldOfMany(t *testing.T) {
	s := NewSuspicion("me")
	var names []task.PeerID
	for i := range 10_000 {
		p := task.PeerID(fmt.Sprintf("p%05d", i))
		names = append(names, p)
		s.Broke(p, "its connection broke", epoch)
		s.Failed(p, true, epoch)
	}
	dials, span := 0, time.Minute
	for at := time.Duration(0); at < span; at += 100 * time.Millisecond {
		for i := range 200 {
			_, e := s.Told(names[(int(at/time.Millisecond)+i)%len(names)], epoch, epoch.Add(at))
			dials += len(e)
		}
	}
	if most := maxAsks * int(span/askSpan+1); dials == 0 || dials > most {
		t.Errorf("%d dials in %v, at most %d", dials, span, most)
	}
}
