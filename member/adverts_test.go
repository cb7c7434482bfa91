package member

import (
	"testing"
	"time"

	"godwit/scheduler/message"
)

// A few members tell at once that they are full, many only within what leaves others in peace.
func TestFreeGapGrowsWithMembers(t *testing.T) {
	for _, c := range []struct {
		members int
		want    time.Duration
	}{
		{0, AdvertGap}, {1, AdvertGap}, {6, AdvertGap}, {7, 3500 * time.Millisecond}, {300, 150 * time.Second},
		{1800, advertEvery}, {4096, advertEvery},
	} {
		if got := freeGap(c.members); got != c.want {
			t.Errorf("%d members tell within %v, want %v", c.members, got, c.want)
		}
	}
}

// What is no news any more when it is due is not told, and what is news still is told once.
func TestFreeIsToldWhileNews(t *testing.T) {
	const members = 20
	s := newSwarm(t, members)
	s.start()
	s.pass(2*AdvertGap, func() bool { return false })
	h := s.hosts[3]
	full := func(is bool) { // what the others were told last is the contrary of what is so
		h.m.advertised.Free = 0
		if is {
			h.m.advertised.Free = max(h.m.free(), 1)
		}
		h.at(h.peer.FreeChanged)
	}
	h.tell(Lent{State: message.OwnerState{Slots: 2}})
	s.pass(2*AdvertGap, func() bool { return false })
	seq := h.m.Advertised().Seq
	full(false)
	if h.m.freeDue.IsZero() {
		t.Fatal("what others believe wrongly is not to be told")
	}
	s.pass(AdvertGap, func() bool { return false })
	if h.m.Advertised().Seq != seq {
		t.Errorf("it told within %v, among %d", AdvertGap, members)
	}
	full(true)
	if !h.m.freeDue.IsZero() {
		t.Error("what is no news any more is to be told")
	}
	s.pass(freeGap(members), func() bool { return false })
	if h.m.Advertised().Seq != seq {
		t.Error("it told what is no news any more")
	}
	full(false)
	s.pass(freeGap(members), func() bool { return false })
	if told := h.m.Advertised(); told.Seq == seq || told.Free == 0 || !h.m.freeDue.IsZero() {
		t.Errorf("advert %d has %d free slots, and another is due at %v", told.Seq, told.Free, h.m.freeDue)
	}
}
