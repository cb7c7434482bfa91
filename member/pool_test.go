package member

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"godwit/overlay"
	"godwit/predictor"
	"godwit/scheduler/schedtest"
	"godwit/trace"
)

// deceived returns a peer that saw a member lie for so many hours.
func deceived(tb testing.TB, hours int) (*Peer, *host) {
	tb.Helper()
	s := newSwarm(tb, 1)
	h := s.hosts[0]
	h.boot()
	from := schedtest.Start
	to := from.Add(time.Duration(hours) * time.Hour)
	claim := &trace.History{Host: "liar"}
	if err := claim.Append(from.Add(-time.Hour), trace.Available, 1); err != nil {
		tb.Fatal(err)
	}
	claim.Extend(to.Add(time.Hour))
	if hours > 0 {
		h.peer.standing.Absent("liar", from, to)
		h.peer.standing.Claims("liar", claim)
	}
	return h.peer, h
}

// A member that lied is thought to stay as hosts at large do, the more the longer it
// lied, and never longer than it says itself.
func TestBelieved(t *testing.T) {
	truthful, _ := deceived(t, 0)
	asked := func() float64 { t.Error("hosts at large are asked for"); return 0 }
	if got := truthful.Believed("liar", .9, asked); got != .9 {
		t.Errorf("whoever did not lie is thought to stay with %v", got)
	}
	last := .9
	for _, hours := range []int{1, 6, 24, 200} {
		p, _ := deceived(t, hours)
		got := p.Believed("liar", .9, func() float64 { return .3 })
		if got >= last || got < .3 {
			t.Errorf("after lies of %d hours it is thought to stay with %v, before with %v", hours, got, last)
		}
		last = got
		if got := p.Believed("liar", .1, func() float64 { return .3 }); math.Abs(got-.1) > 1e-9 {
			t.Errorf("a liar who says .1 is thought to stay with %v", got)
		}
	}
}

// What is believed lies between what the member says and what holds at large.
func TestBelievedProperties(t *testing.T) {
	p, _ := deceived(t, 12)
	rapid.Check(t, func(t *rapid.T) {
		own, large := rapid.Float64Range(0, 1).Draw(t, "own"), rapid.Float64Range(0, 1).Draw(t, "at large")
		got := p.Believed("liar", own, func() float64 { return large })
		const rounding = 1e-12
		if got > own+rounding || got < min(own, large)-rounding {
			t.Fatalf("%v says the member, %v holds at large, %v is believed", own, large, got)
		}
	})
}

// The pool is made of each member's record once, and again only when it is old.
func TestRefreshPool(t *testing.T) {
	s := newSwarm(t, 3)
	s.start()
	s.pass(10*time.Second, func() bool { return false })
	p := s.hosts[0].peer
	rec := predictor.NewRecorder(&predictor.Pool{})
	rec.Observe(s.now.Add(-time.Hour), trace.Available)
	rec.Tick(s.now)
	r := rec.Record()
	b, err := r.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range s.hosts[1:] {
		a := h.m.Advertised()
		a.Seq, a.Record = a.Seq+1, b
		s.hosts[0].tell(Advertised{Advert: &a})
	}
	p.pooled = time.Time{}
	if at := p.RefreshPool(s.now); !at.Equal(s.now) || p.cfg.Pool.Records() != 2 {
		t.Errorf("at %v the pool has %d records, want 2", at, p.cfg.Pool.Records())
	}
	if at := p.RefreshPool(s.now.Add(poolEvery - 1)); !at.Equal(s.now) {
		t.Errorf("it is made again at %v", at)
	}
	if at := p.RefreshPool(s.now.Add(poolEvery)); !at.Equal(s.now.Add(poolEvery)) {
		t.Errorf("it is not made again when it is old: %v", at)
	}
}

// The pool learns what came true of members' records: of two that are there for hours, that
// they stay; of what was learnt nothing is lost when the records are summed up again.
func TestPoolLearns(t *testing.T) {
	s := newSwarm(t, 3)
	s.start()
	s.pass(10*time.Second, func() bool { return false })
	p, begin := s.hosts[0].peer, s.now
	r := predictor.Record{Up: true, Since: uint32(begin.Add(-time.Hour).Unix()), Known: 30}
	b, err := r.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	stranger := func(now time.Time) (p1, told float64) {
		reader := predictor.NewReader(&r, p.cfg.Pool)
		p1, _ = reader.Stay(now, 10*time.Minute)
		return p1, reader.Told(now, 10*time.Minute)
	}
	p.pooled = time.Time{}
	for i := range uint64(12) {
		now := begin.Add(time.Duration(i) * poolEvery)
		if stay, told := stranger(now); i == 0 && stay != told {
			t.Errorf("nothing was learnt, and a stay has %v, told %v", stay, told)
		}
		for _, h := range s.hosts[1:] {
			a := h.m.Advertised()
			a.Seq, a.Record, a.Issued, a.Expires = a.Seq+1+i, b, now, now.Add(AdvertLife)
			s.hosts[0].tell(Advertised{Advert: &a})
		}
		p.RefreshPool(now)
	}
	if stay, told := stranger(begin.Add(3 * time.Hour)); stay <= told {
		t.Errorf("all stayed: a stay has %v, told %v", stay, told)
	}
}

// Another member works only while it is available and has slots.
func TestOthersWork(t *testing.T) {
	for name, c := range map[string]struct {
		state overlay.State
		slots int
		want  bool
	}{
		"available": {overlay.Available, 2, true}, "without slots": {overlay.Available, 0, false},
		"its owner is there": {overlay.UserPresent, 2, false}, "leaving": {overlay.Leaving, 2, false},
	} {
		s := newSwarm(t, 2)
		s.start()
		a := s.hosts[1].m.Advertised()
		a.Seq, a.State, a.Slots = a.Seq+1, c.state, c.slots
		s.hosts[0].tell(Advertised{Advert: &a})
		if got := s.hosts[0].peer.OthersWork(); got != c.want {
			t.Errorf("%s: others work: %v", name, got)
		}
	}
}
