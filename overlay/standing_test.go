package overlay

import (
	"fmt"
	"testing"
	"time"

	"godwit/task"
	"godwit/trace"
)

func TestStanding(t *testing.T) {
	history := func(spells ...any) *trace.History { // hours and states, in turn, then the end
		h := &trace.History{}
		for i := 0; i+1 < len(spells); i += 2 {
			if err := h.Append(epoch.Add(time.Duration(spells[i].(int))*time.Hour), spells[i+1].(trace.State), 1); err != nil {
				t.Fatal(err)
			}
		}
		h.Extend(epoch.Add(time.Duration(spells[len(spells)-1].(int)) * time.Hour))
		return h
	}
	const liar, honest, stranger = task.PeerID("liar"), task.PeerID("honest"), task.PeerID("stranger")
	var s Standing
	for _, p := range []task.PeerID{liar, honest} {
		s.Present(p, 4*time.Hour)
		s.Absent(p, epoch.Add(4*time.Hour), epoch.Add(10*time.Hour))
	}
	s.Absent(honest, epoch.Add(11*time.Hour), epoch.Add(11*time.Hour+3*time.Minute)) // too short to be sure of
	s.Claims(liar, history(0, trace.Available, 9))                                   // does not reach the absence's end
	if w := s.Weight(liar); w != 1 {
		t.Errorf("judged before its account is complete: %v", w)
	}
	s.Claims(liar, history(0, trace.Available, 5, trace.UserPresent, 12))
	s.Claims(honest, history(0, trace.Available, 4, trace.Unavailable, 10, trace.Available, 12))
	if w := s.Weight(liar); w < 0.6 || w > 0.64 { // 10 h for it, 6 h less the slack against
		t.Errorf("weight of the liar is %v", w)
	}
	for _, p := range []task.PeerID{honest, stranger} {
		if w := s.Weight(p); w != 1 {
			t.Errorf("weight of the %s is %v", p, w)
		}
	}
	before := s.Weight(liar)
	s.Claims(liar, history(0, trace.Available, 12))
	if s.Weight(liar) != before {
		t.Error("an absence was judged twice")
	}
	s.Present(liar, 10000*time.Hour)
	if w := s.Weight(liar); w < 0.99 {
		t.Errorf("the weight does not recover: %v", w)
	}
}

// Names without end that are seen for a moment do not take the places of members that were seen for long, whoever comes
// first, and a later liar is still found out.
func TestStandingsOfManyNames(t *testing.T) {
	var s Standing
	name := func(i int) task.PeerID { return task.PeerID(fmt.Sprint("name", i)) }
	for i := range maxStandings {
		s.Present(name(i), time.Minute)
	}
	for i := range 100 {
		s.Present(task.PeerID(fmt.Sprint("member", i)), time.Hour)
	}
	s.Absent("liar", epoch, epoch.Add(8*time.Hour))
	for i := range 100 {
		s.Present(name(maxStandings+i), time.Minute)
	}
	h := &trace.History{}
	if err := h.Append(epoch, trace.Available, 1); err != nil {
		t.Fatal(err)
	}
	h.Extend(epoch.Add(9 * time.Hour))
	s.Claims("liar", h)
	if w := s.Weight("liar"); w > 0.7 {
		t.Errorf("weight of the liar is %v", w)
	}
	for i := range 100 {
		if a := s.members[task.PeerID(fmt.Sprint("member", i))]; a == nil || a.good != time.Hour {
			t.Errorf("what was seen of member %d is forgotten", i)
		}
	}
	if n := len(s.members); n > maxStandings {
		t.Errorf("%d members are remembered", n)
	}
}
