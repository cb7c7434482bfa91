package overlay

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"godwit/task"

	"pgregory.net/rapid"
)

// In a pool of 3 to 400 members that its leaders never divided, no summary of a smaller cell is plausible, whoever signs
// it and whatever divisions it shows.
func TestSummaryOfPartOfUndividedPoolIsRejected(t *testing.T) {
	_, leader := someone(200)
	rapid.Check(t, func(t *rapid.T) {
		e := Evidence{Members: rapid.IntRange(3, 400).Draw(t, "members"), Least: DefaultCellRule().Least,
			Led: func(d *Division) bool { return d.Leader == leader }}
		s := inventedSummary(t, commons)
		if s.Cell.Whole() {
			return
		}
		if err := e.Check(&s); !errors.Is(err, ErrImplausible) {
			t.Fatalf("a summary of cell %s is accepted in a pool of %d: %v", s.Cell, e.Members, err)
		}
	})
}

// inventedSummary draws a summary that some peers make up together.
func inventedSummary(t *rapid.T, id ID) Summary {
	peer := func(what string) task.PeerID {
		_, p := someone(byte(rapid.IntRange(1, 100).Draw(t, what)))
		return p
	}
	p := peer("leader")
	s := Summary{Overlay: id, Leader: p, Cell: CellOf(CellNumber(id, p), uint8(rapid.IntRange(0, MaxCellBits).Draw(t, "bits"))),
		Members: rapid.IntRange(1, MaxCellMembers).Draw(t, "claimed"), Issued: epoch}
	for range s.Cell.Bits {
		signer := peer("signer")
		s.Lineage = append(s.Lineage, Division{Leader: signer, Epoch: epochOf(uint64(rapid.IntRange(0, 1000).Draw(t, "term")),
			signer), Issued: epoch.Add(time.Duration(rapid.IntRange(-1000, 1000).Draw(t, "issued")) * time.Second)})
	}
	return s
}

// A cell of more bits than the node's own needs Least members for each half: exactly as many are enough.
func TestCellMustBeAsDenseAsOwnCell(t *testing.T) {
	_, p := someone(1)
	for _, tt := range []struct {
		own, bits uint8
		members   int
		plausible bool
	}{
		{0, 1, 199, false}, {0, 1, 200, true}, {0, 2, 399, false}, {0, 2, 400, true}, {2, 2, 1, true}, {2, 1, 1, true},
		{3, 5, 400, true}, {3, 5, 399, false}, {0, 10, 4096, false},
	} {
		e := Evidence{Cell: CellOf(0, tt.own), Members: tt.members, Least: 100}
		if err := e.checkSize(CellOf(CellNumber(commons, p), tt.bits)); (err == nil) != tt.plausible {
			t.Errorf("a cell of %d bits, where one of %d bits has %d members: %v", tt.bits, tt.own, tt.members, err)
		}
	}
}

// A cell's summary is accepted if its lineage shares the last common division with the node's own cell, or if the node
// followed the leader that signed it.
func TestCellMustDescendFromKnownLeader(t *testing.T) {
	_, followed := someone(1)
	_, other := someone(2)
	division := func(p task.PeerID, at time.Duration) Division {
		return Division{Leader: p, Epoch: epochOf(1, p), Issued: epoch.Add(at)}
	}
	by := func(d ...Division) Lineage { return d }
	led := func(d *Division) bool { return d.Leader == followed }
	cell := func(bits uint8, prefix uint16) Cell { return Cell{bits, prefix} }
	for _, tt := range []struct {
		name      string
		own, of   Cell
		ownLine   Lineage
		line      Lineage
		joined    time.Duration
		plausible bool
	}{
		{"the half of an undivided pool, by its leader", cell(0, 0), cell(1, 0), nil, by(division(followed, 1)), 0, true},
		{"the half of an undivided pool, by a stranger", cell(0, 0), cell(1, 0), nil, by(division(other, 1)), 0, false},
		{"a half of before the halves joined", cell(0, 0), cell(1, 0), nil, by(division(followed, 1)), time.Hour, false},
		{"the sibling, with the same division", cell(1, 0), cell(1, 1), by(division(other, 1)), by(division(other, 1)), 0, true},
		{"the sibling, with another division", cell(1, 0), cell(1, 1), by(division(followed, 1)), by(division(other, 2)), 0,
			false},
		{"the sibling, with a division by a known leader", cell(1, 0), cell(1, 1), by(division(other, 1)),
			by(division(followed, 2)), 0, true},
		{"a part of the sibling", cell(1, 0), cell(2, 3), by(division(other, 1)), by(division(other, 1), division(other, 5)), 0,
			true},
		{"another cell, without a lineage of its own", cell(1, 0), cell(1, 1), nil, by(division(other, 1)), 0, false},
		{"the parent", cell(2, 1), cell(1, 0), by(division(other, 1), division(other, 2)), by(division(other, 1)), 0, true},
		{"the whole pool", cell(2, 1), cell(0, 0), by(division(other, 1), division(other, 2)), nil, 0, true},
		{"a lineage that is too short", cell(1, 0), cell(2, 3), by(division(other, 1)), by(division(other, 1)), 0, false},
	} {
		e := Evidence{Cell: tt.own, Members: 4096, Least: 100, Lineage: tt.ownLine, Led: led}
		if tt.joined > 0 {
			e.Since = epoch.Add(tt.joined)
		}
		s := Summary{Overlay: commons, Cell: tt.of, Lineage: tt.line}
		if err := e.Check(&s); (err == nil) != tt.plausible {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

// A part of the node's cell proves a division only by a leader that the node followed, after the node entered the cell. The
// division of the half that the node came back from proves nothing new, but summaries of its other half stay plausible.
func TestDividedAndFormer(t *testing.T) {
	_, followed := someone(1)
	_, other := someone(2)
	division := func(p task.PeerID, at time.Duration) Division {
		return Division{Leader: p, Epoch: epochOf(1, p), Issued: epoch.Add(at)}
	}
	former := Lineage{division(followed, -time.Hour)}
	for _, tt := range []struct {
		name               string
		of                 Cell
		line               Lineage
		members            int
		plausible, divided bool
	}{
		{"a division by the leader", Cell{1, 1}, Lineage{division(followed, 1)}, 400, true, true},
		{"of a cell that is too small", Cell{1, 1}, Lineage{division(followed, 1)}, 150, false, false},
		{"by another", Cell{1, 1}, Lineage{division(other, 1)}, 400, false, false},
		{"before the node came", Cell{1, 1}, Lineage{division(followed, -time.Minute)}, 400, false, false},
		{"the half that did not come along", Cell{1, 1}, former, 400, true, false},
		{"the same, of fewer members", Cell{1, 1}, former, 3, true, false},
		{"the whole", Cell{}, nil, 400, true, false},
	} {
		e := Evidence{Members: tt.members, Least: 100, Former: former, Since: epoch,
			Led: func(d *Division) bool { return d.Leader == followed }}
		s := Summary{Overlay: commons, Cell: tt.of, Lineage: tt.line}
		if plausible, divided := e.Check(&s) == nil, e.Divided(&s); plausible != tt.plausible || divided != tt.divided {
			t.Errorf("%s: plausible %v, divided %v", tt.name, plausible, divided)
		}
	}
}

// claimant returns a summary of a cell whose leader is a member of it, and is drawn by a number.
func claimant(bits uint8, like Cell, n *byte, network int) Summary {
	for {
		*n++
		if _, p := someone(*n); CellOf(CellNumber(commons, p), bits) == like {
			s := Summary{Overlay: commons, Leader: p, Cell: like, Members: 400}
			if network > 0 {
				s.Addrs = []string{fmt.Sprintf("/ip4/198.%d.100.1/tcp/1", network)}
			}
			return s
		}
	}
}

// Four liars renew their claims to lead a cell. Its leader crashes, and the successor is known at once and keeps its
// place, because the leader named it, because members follow it, or because the liars are in one network.
func TestSuccessorKeepsItsPlaceAmongLiars(t *testing.T) {
	for _, by := range []string{"an heir", "members", "its network"} {
		var table Summaries
		now, n := epoch, byte(0)
		cell := Cell{1, 0}
		network := func(i int) int {
			if by == "its network" {
				return 1
			}
			return i
		}
		leader := claimant(1, cell, &n, 9)
		var liars []Summary
		for i := range MaxClaims {
			liars = append(liars, claimant(1, cell, &n, network(i+1)))
		}
		next := claimant(1, cell, &n, 10)
		var e Evidence
		switch by {
		case "an heir":
			leader.Heirs = []uint64{CellNumber(commons, next.Leader)}
		case "members":
			e.Confirms = func(s *Summary) bool { return s.Leader == next.Leader }
		}
		e.Cell, e.Members = cell, 400
		say := func(s Summary) {
			s.Issued, s.Lineage = now, make(Lineage, s.Cell.Bits)
			if !table.Take(s, now, &e) {
				t.Errorf("%s: a claim is not stored", by)
			}
		}
		say(leader)
		for range 12 {
			for _, l := range liars {
				now = now.Add(time.Second)
				say(l)
			}
			now = now.Add(time.Second)
			say(next)
			for _, l := range liars {
				now = now.Add(time.Second)
				say(l)
			}
			if _, known := table.Leader(next.Leader); !known {
				t.Fatalf("%s: the successor is not known", by)
			}
			now = now.Add(SummaryEvery)
		}
		if by == "members" || by == "an heir" {
			if first := table.Of(cell)[0].Leader; first != next.Leader {
				t.Errorf("%s: the successor is not the first", by)
			}
		}
	}
}

// A leader that names an heir and goes on to lead keeps its seniority: neither an heir that claims the cell too early
// nor a liar that names the honest leader changes the order.
func TestLeaderThatGoesOnKeepsItsSeniority(t *testing.T) {
	var table Summaries
	now, n := epoch, byte(0)
	cell := Cell{1, 1}
	leader, early, liar := claimant(1, cell, &n, 1), claimant(1, cell, &n, 2), claimant(1, cell, &n, 3)
	leader.Heirs = []uint64{CellNumber(commons, early.Leader)}
	liar.Heirs = []uint64{CellNumber(commons, leader.Leader)}
	for range 3 {
		for _, s := range []Summary{leader, liar, early} {
			now = now.Add(time.Second)
			s.Issued = now
			table.Take(s, now, nil)
		}
	}
	leader.Issued = now.Add(time.Second)
	table.Take(leader, leader.Issued, nil)
	if first := table.Of(cell)[0].Leader; first != leader.Leader {
		t.Errorf("the first is %s, want the leader %s", first, leader.Leader)
	}
}

// A leader that stepped down names an heir, which takes its place.
func TestHeirOfLeaderThatSteppedDown(t *testing.T) {
	var table Summaries
	now, n := epoch, byte(0)
	cell := Cell{1, 1}
	leader, liar, heir := claimant(1, cell, &n, 1), claimant(1, cell, &n, 2), claimant(1, cell, &n, 3)
	leader.Heirs = []uint64{CellNumber(commons, heir.Leader)}
	over := leader
	over.Members = 0
	for _, s := range []Summary{leader, liar, over, heir} {
		now = now.Add(time.Second)
		s.Issued = now
		table.Take(s, now, nil)
	}
	if line := table.Of(cell); len(line) != 2 || line[0].Leader != heir.Leader {
		t.Errorf("the claims are %v, want the heir and the liar", line)
	}
	if _, leads := table.Leader(leader.Leader); leads {
		t.Error("the leader that stepped down still leads")
	}
}
