package overlay

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"godwit/task"
)

// rollOf is a roll of a few names: who are members, in the order in which they would lead,
// and who of them is new.
type rollOf struct {
	members []task.PeerID
	young   []task.PeerID
}

func (r *rollOf) MayLead(p task.PeerID) bool { return slices.Contains(r.members, p) }
func (r *rollOf) Settled(p task.PeerID) bool { return r.MayLead(p) && !slices.Contains(r.young, p) }
func (r *rollOf) Before(a, b task.PeerID) bool {
	if s := r.Settled(a); s != r.Settled(b) {
		return s
	}
	return slices.Index(r.members, a) < slices.Index(r.members, b)
}

// TestWhoMayLead: row by row, whose claim a member obeys that follows "a" with "b".
func TestWhoMayLead(t *testing.T) {
	now := epoch
	for name, tt := range map[string]struct {
		claimant task.PeerID
		before   func(l *Lease)
		obeys    bool
	}{
		"who was named":                         {claimant: "b", obeys: true},
		"the leader in a later term":            {claimant: "a", obeys: true, before: func(l *Lease) { l.group = nil }},
		"who is no member":                      {claimant: "stranger"},
		"a member that nobody named":            {claimant: "y"},
		"a member that this one would not have": {claimant: "z"},
		"a member that this one would rather":   {claimant: "0", obeys: true},
		"a new member":                          {claimant: "new"},
		"who the own draw names": {claimant: "y", obeys: true,
			before: func(l *Lease) { l.GroupChanged([]task.PeerID{"a", "y"}, now) }},
		"anybody, when the leader is lost": {claimant: "y", before: func(l *Lease) { l.StoodDown("a", now) }},
		"who was named, when the leader is lost": {claimant: "b", obeys: true,
			before: func(l *Lease) { l.StoodDown("a", now) }},
	} {
		l := NewLease("self", 0, now)
		l.Trust(&rollOf{members: []task.PeerID{"0", "a", "b", "self", "y", "z", "new"}, young: []task.PeerID{"new"}})
		l.Claimed("a", Renewal{NextEpoch(0, "a"), []task.PeerID{"a", "b"}}, now)
		if tt.before != nil {
			tt.before(l)
		}
		_, known := l.Leader()
		l.Claimed(tt.claimant, Renewal{Epoch: NextEpoch(known, tt.claimant)}, now)
		if chief, e := l.Leader(); (chief == tt.claimant && e > known) != tt.obeys {
			t.Errorf("%s: then %q leads in %d", name, chief, e)
		}
	}
}

// TestForgedEpochs: an epoch needs its leader's tag and a term that time allows, whoever
// says it, and there is always a later one.
func TestForgedEpochs(t *testing.T) {
	now := epoch
	far := uint64(now.Unix())/uint64(termEvery/time.Second) + termSlack
	l := NewLease("self", 0, now)
	l.Claimed("a", Renewal{Epoch: NextEpoch(0, "a"), Group: []task.PeerID{"a", "b", "self"}}, now)
	for name, e := range map[string]uint64{
		"another's tag": NextEpoch(0, "c") + 1<<tagBits, "beyond time": epochOf(far+1, "b"),
		"the last term": epochOf(maxTerm, "b"), "beyond the last": epochOf(maxTerm+1, "b"),
	} {
		l.Claimed("b", Renewal{Epoch: e}, now)
		l.Heard("b", Renewal{Epoch: e, Group: []task.PeerID{"b"}}, now)
		l.Refused("a", "b", e, now)
		l.Handed("a", Renewal{Epoch: e}, now)
		if chief, _ := l.Leader(); chief != "a" {
			t.Errorf("%s: %s leads", name, chief)
		}
	}
	// The last term that time allows now, taken by one of the group: soon there is another.
	l.Claimed("b", Renewal{Epoch: epochOf(far, "b"), Group: []task.PeerID{"b", "self"}}, now)
	if chief, _ := l.Leader(); chief != "b" {
		t.Fatalf("%s leads", chief)
	}
	later := now.Add(termEvery)
	l.Claimed("self2", Renewal{Epoch: epochOf(far+1, "self2"), Group: nil}, later)
	l.Heard("a", Renewal{Epoch: epochOf(far+1, "a"), Group: []task.PeerID{"a", "self"}}, later)
	if chief, e := l.Leader(); chief != "a" || Term(e) != far+1 {
		t.Errorf("%s leads in term %d", chief, Term(e))
	}
}

// TestNamedLate: one that an advert names as a successor, long after it heard of the leader,
// waits for a renewal before it takes over.
func TestNamedLate(t *testing.T) {
	l := NewLease("b", 0, epoch)
	e := NextEpoch(0, "a")
	l.Claimed("a", Renewal{Epoch: e, Group: []task.PeerID{"a"}}, epoch)
	now := tickUntil(l, epoch, epoch.Add(time.Minute))
	l.Claimed("a", Renewal{Epoch: e, Group: []task.PeerID{"a", "b"}}, now)
	if l.Tick(now); l.Leads() {
		t.Error("it leads though the leader has just spoken")
	}
	if took := tickUntil(l, now, now.Add(time.Minute)).Sub(now); !l.Leads() || took < LeaseTime {
		t.Errorf("leads %v after %v of silence", l.Leads(), took)
	}
}

// TestClaimsOfNoRight: whatever peers that have no right to lead say, in whatever order, no
// member of a group that works obeys them, and its leader leads on in terms that cost little.
func TestClaimsOfNoRight(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newLeaseSim(rapid.Uint64().Draw(t, "seed"), slowest, rapid.IntRange(3, 6).Draw(t, "members"))
		names := slices.Clone(s.names)
		roll := &rollOf{members: append(slices.Clone(names), "young", "old"), young: []task.PeerID{"young"}}
		for _, p := range names {
			s.nodes[p].lease.Trust(roll)
		}
		s.until(settles, s.agreed)
		s.run(2 * LeaseTime)
		leader, before := s.leads()[0], s.terms
		start := s.now
		for range rapid.IntRange(1, 60).Draw(t, "lies") {
			lie(t, s, names)
			s.run(time.Duration(rapid.IntRange(0, 2000).Draw(t, "pause")) * time.Millisecond)
			for _, p := range names {
				if chief, _ := s.nodes[p].lease.Leader(); !slices.Contains(names, chief) {
					t.Fatalf("%s obeys %q\n%s", p, chief, &s.log)
				}
			}
		}
		s.run(2 * LeaseTime)
		if leads := s.leads(); !s.agreed() || leads[0] != leader {
			t.Fatalf("%v lead, %s did before the lies\n%s", leads, leader, &s.log)
		}
		if most := int(s.now.Sub(start)/contestEvery) + 1; s.terms-before > most {
			t.Fatalf("%d terms in %v, want at most %d", s.terms-before, s.now.Sub(start), most)
		}
	})
}

// lie has a peer that may not lead say anything to a member.
func lie(t *rapid.T, s *leaseSim, names []task.PeerID) {
	to := rapid.SampledFrom(names).Draw(t, "to")
	from := rapid.SampledFrom([]task.PeerID{"stranger", "young", "old"}).Draw(t, "liar")
	l := s.nodes[to].lease
	_, known := l.Leader()
	term := Term(known) + uint64(rapid.SampledFrom([]int{0, 1, 8, 1 << 20, 1 << 27, 1 << 28}).Draw(t, "leap"))
	e := epochOf(term, rapid.SampledFrom([]task.PeerID{from, "nobody", to}).Draw(t, "tag"))
	fmt.Fprintf(&s.log, "%7.3f -- %s lies to %s: %d\n", s.now.Sub(epoch).Seconds(), from, to, e)
	switch rapid.IntRange(0, 4).Draw(t, "lie") {
	case 0:
		s.carry(to, l.Heard(from, Renewal{e, []task.PeerID{from, "young", to}}, s.now))
	case 1:
		s.carry(to, l.Claimed(from, Renewal{e, []task.PeerID{from, to}}, s.now))
	case 2:
		s.carry(to, l.Refused(from, from, e, s.now))
	case 3:
		s.carry(to, l.Refused(from, "", e, s.now))
	case 4:
		s.carry(to, l.Handed(from, Renewal{e, []task.PeerID{to}}, s.now))
	}
}

// A claim that is noted gives no leases, however long its maker has been known: receipts are
// believed of those that this member followed, or that they named.
func TestNotedDidNotLead(t *testing.T) {
	now := epoch
	l := NewLease("self", 0, now)
	l.Trust(&rollOf{members: []task.PeerID{"a", "b", "self", "z"}})
	first := NextEpoch(0, "a")
	l.Claimed("a", Renewal{first, []task.PeerID{"a", "b"}}, now)
	claimed := NextEpoch(first, "z")
	l.Claimed("z", Renewal{Epoch: claimed}, now)
	if !l.Noted("z") || l.Led("z", claimed) {
		t.Errorf("z claims to lead: noted %v, led %v", l.Noted("z"), l.Led("z", claimed))
	}
	if !l.Led("a", first) || !l.Led("b", NextEpoch(first, "b")) || l.Led("a", claimed) {
		t.Error("a led, b stood by, and a bears another tag")
	}
}
