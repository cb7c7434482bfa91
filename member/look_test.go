package member

import (
	"testing"
	"time"

	"godwit/overlay"
	"godwit/predictor"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// crowded is a host whose view has so many members, which have records of availability.
func crowded(tb testing.TB, members int) *host {
	tb.Helper()
	s := newSwarm(tb, 1)
	s.start()
	h := s.hosts[0]
	for n := range members {
		_, id := schedtest.Identity(n + 1)
		h.tell(Advertised{Advert: s.advertOf(id)})
	}
	return h
}

// advertOf is an advert of a member that has been there for an hour.
func (s *swarm) advertOf(id task.PeerID) *overlay.Advert {
	since := s.now.Add(-time.Hour)
	r := predictor.Record{Up: true, Since: uint32(since.Unix())}
	record, err := r.MarshalBinary()
	if err != nil {
		s.tb.Fatal(err)
	}
	return &overlay.Advert{Peer: id, Overlay: s.manifest.ID(), Seq: 1, Issued: s.now, Expires: s.now.Add(AdvertLife),
		State: overlay.Available, Slots: 2, Record: record}
}

// BenchmarkLook is a look at who should coordinate among many.
func BenchmarkLook(b *testing.B) {
	for name, members := range map[string]int{"members=300": 300, "members=3000": 3000} {
		b.Run(name, func(b *testing.B) {
			h := crowded(b, members)
			for b.Loop() {
				h.s.now = h.s.now.Add(time.Second)
				h.at(func() { h.m.regroup(h.s.now) })
			}
		})
	}
}

// countLooks feeds so many adverts of newcomers to a host, one each 33 ms, and counts its looks.
func (h *host) countLooks(newcomers int) (looks int) {
	s, last := h.s, h.m.regrouped
	for n := range newcomers {
		_, id := schedtest.Identity(100 + n)
		h.tell(Advertised{Advert: s.advertOf(id)})
		s.now = s.now.Add(33 * time.Millisecond)
		if at, ok := h.peer.NextWake(false); ok && !at.After(s.now) {
			h.tell(Wake{})
		}
		if h.m.regrouped != last {
			last = h.m.regrouped
			looks++
		}
	}
	return looks
}

// While a swarm starts, those to whom it makes no difference look at who should coordinate hardly
// ever, and a leader the more seldom the more there are.
func TestLooksAreFew(t *testing.T) {
	const newcomers = 300
	s, outside := slept(t, false)
	if n := outside.countLooks(newcomers); n > 1 {
		t.Errorf("a member outside the group looks %d times in 10 s", n)
	}
	leader := s.leader()
	if n := leader.countLooks(newcomers); n < 5 || n > 40 { // 50 at least, did it not look more seldom
		t.Errorf("the leader looks %d times in 10 s", n)
	}
}

// Who has not looked for a while does at once when its view matters: its leader is gone.
func TestLooksWhenItMatters(t *testing.T) {
	s, outside := slept(t, false)
	outside.countLooks(100) // its last look is not long ago
	if due := lookDue(outside.m); due.Sub(s.now) < regroupGap {
		t.Fatalf("it looks in %v, though nothing rests on it", due.Sub(s.now))
	}
	outside.at(func() { outside.m.lost(s.leader().id, "it is gone") })
	if due := lookDue(outside.m); due.Sub(s.now) > regroupGap {
		t.Errorf("it looks %v after its leader was lost", due.Sub(s.now))
	}
}

// A claim is judged by a draw that the claimant is in, though the last one was just before it came.
func TestRankOfNewcomer(t *testing.T) {
	h := crowded(t, 3)
	_, id := schedtest.Identity(9)
	h.at(func() {
		if _, ok := rank(h.m, id); ok {
			t.Error("one who is not there has a place")
		}
	})
	h.tell(Advertised{Advert: h.s.advertOf(id)})
	h.at(func() {
		if _, ok := rank(h.m, id); !ok {
			t.Error("a newcomer has no place")
		}
		h.m.lost(id, "it went")
		if _, ok := rank(h.m, id); ok {
			t.Error("one who is lost has a place")
		}
	})
}
