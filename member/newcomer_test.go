package member

import (
	"testing"
	"time"

	"godwit/overlay"
	"godwit/scheduler/schedtest"
	"godwit/task"

	"pgregory.net/rapid"
)

// loner returns a host that nobody answers, as a newcomer is.
func loner(t testing.TB) *host {
	s := newSwarm(t, 1)
	s.cells = overlay.DefaultCellRule()
	s.hosts[0].boot()
	s.settle()
	return s.hosts[0]
}

// reportOf returns a summary of the cell of so many bits that a host's number belongs to.
func (h *host) reportOf(bits uint8) overlay.Summary {
	for n := 100; ; n++ {
		_, p := schedtest.Identity(n)
		if cell := overlay.CellOf(h.m.number, bits); cell.Holds(overlay.CellNumber(h.m.ID(), p)) {
			return overlay.Summary{Overlay: h.m.ID(), Leader: p, Cell: cell, Issued: h.s.now, Members: 400,
				Lineage: lineageOf(bits)}
		}
	}
}

// reported tells a host what a peer in a network answers: that cells of these bits are led.
func (h *host) reported(from task.PeerID, network string, bits ...uint8) {
	var list []overlay.Summary
	for _, b := range bits {
		list = append(list, h.reportOf(b))
	}
	h.tell(Summarised{Of: h.m, From: from, Network: network, Summaries: list})
}

// A newcomer goes to the largest cell that two peers in different networks report, whoever answers first.
func TestNewcomerNeedsTwoNetworks(t *testing.T) {
	type report struct {
		from, network string
		bits          []uint8
	}
	for name, tt := range map[string]struct {
		reports []report
		wait    time.Duration
		bits    uint8
	}{
		"one stranger":                   {[]report{{"a", "1", []uint8{6}}}, 0, 0},
		"two in one network of several":  {[]report{{"a", "1", []uint8{6}}, {"b", "1", []uint8{6}}, {"c", "2", []uint8{1}}}, 0, 0},
		"two networks":                   {[]report{{"a", "1", []uint8{2}}, {"b", "2", []uint8{2}}}, 0, 2},
		"two networks, after a stranger": {[]report{{"x", "3", []uint8{6}}, {"a", "1", []uint8{2}}, {"b", "2", []uint8{2}}}, 0, 2},
		"the larger of two":              {[]report{{"a", "1", []uint8{1, 6}}, {"b", "2", []uint8{6, 1}}}, 0, 1},
		"the undivided pool":             {[]report{{"x", "3", []uint8{6}}, {"y", "4", []uint8{6, 0}}, {"a", "1", []uint8{0}}}, 0, 0},
		"two strangers who come first":   {[]report{{"a", "1", []uint8{6}}, {"b", "1", []uint8{6}}}, 0, 0},
		"a local network":                {[]report{{"a", "", []uint8{2}}, {"b", "", []uint8{2}}}, 2 * newcomerWaits, 2},
		"the same peer twice":            {[]report{{"a", "1", []uint8{2}}, {"a", "2", []uint8{2}}}, 0, 0},
		"nobody else for a while":        {[]report{{"a", "1", []uint8{2}}}, 2 * cellLost, 2},
		"claims without a report":        {[]report{{"", "1", []uint8{2}}, {"", "2", []uint8{2}}}, 0, 0},
	} {
		h := loner(t)
		for _, r := range tt.reports {
			h.reported(task.PeerID(r.from), r.network, r.bits...)
		}
		h.s.pass(tt.wait, func() bool { return false })
		if got := h.m.Cell().Bits; got != tt.bits {
			t.Errorf("%s: the newcomer is in a cell of %d bits, want %d", name, got, tt.bits)
		}
	}
}

// A newcomer that strangers in two networks took into a small cell asks again after a minute. Two honest peers report
// the undivided pool, and the newcomer goes there.
func TestNewcomerAsksAgain(t *testing.T) {
	h := loner(t)
	h.reported("x", "3", 6)
	h.reported("y", "4", 6)
	if h.m.Cell().Bits != 6 {
		t.Fatal("the newcomer is not in the strangers' cell")
	}
	h.asked = nil
	again := func() bool {
		for _, e := range h.asked {
			if q, ok := e.(AskCells); ok && q.From == "" && q.Peers == newcomerAsks {
				return true
			}
		}
		return false
	}
	if !h.s.pass(2*cellRecheck, again) {
		t.Fatal("the newcomer doesn't ask again")
	}
	h.reported("a", "1", 0)
	if !h.m.Cell().Whole() {
		h.reported("b", "2", 0)
	}
	if !h.m.Cell().Whole() {
		t.Errorf("the newcomer is still in cell %s", h.m.Cell())
	}
}

// A newcomer asks the leaders and the members of the cells that a peer reports, so that two peers can confirm a cell
// though it is connected with a single one.
func TestNewcomerAsksWhomReportsName(t *testing.T) {
	h := loner(t)
	r := h.reportOf(2)
	h.asked = nil
	h.tell(Summarised{Of: h.m, From: "a", Summaries: []overlay.Summary{r}})
	h.s.settle()
	for _, e := range h.asked {
		if q, ok := e.(AskCells); ok && q.From == r.Leader && q.Own {
			return
		}
	}
	t.Error("the leader of the reported cell is not asked")
}

// Strangers send three to six hosts of an undivided pool any adverts, reports and summaries, also while the leader
// crashes: no host leaves the pool, and all follow the honest leader.
func TestLyingSummariesDontMoveUndividedPool(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := newSwarm(t, rapid.IntRange(3, 6).Draw(rt, "hosts"))
		s.cells = overlay.DefaultCellRule()
		s.start()
		s.pass(20*time.Second, func() bool { return false })
		leader := s.leader()
		if leader == nil {
			rt.Fatal("no leader")
		}
		id := leader.m.ID()
		var liars []task.PeerID
		for i := range rapid.IntRange(1, 3).Draw(rt, "liars") {
			_, p := schedtest.Identity(50 + rapid.IntRange(0, 40).Draw(rt, "key")*3 + i)
			liars = append(liars, p)
		}
		liar := rapid.SampledFrom(liars)
		seq, crashed := uint64(0), false
		for range rapid.IntRange(5, 25).Draw(rt, "steps") {
			to := s.hosts[rapid.IntRange(0, len(s.hosts)-1).Draw(rt, "to")]
			switch what := rapid.SampledFrom([]string{"advert", "answer", "answer", "summary", "time", "crash"}).Draw(rt, "what"); {
			case !to.up:
			case what == "advert":
				seq++
				p, bits := liar.Draw(rt, "peer"), uint8(rapid.IntRange(0, 3).Draw(rt, "bits"))
				a := overlay.Advert{Peer: p, Overlay: id, Seq: seq, Issued: s.now, Expires: s.now.Add(AdvertLife), Bits: bits,
					State: overlay.Unavailable, Follows: overlay.FollowsOf(id, p, 7)}
				if bits > 0 {
					a.State = overlay.Available
				}
				to.tell(Advertised{Advert: &a})
			case what == "crash" && !crashed && len(s.hosts) > 3:
				crashed = true
				leader.crash()
			case what == "time":
				s.pass(time.Duration(rapid.IntRange(1, 120).Draw(rt, "seconds"))*time.Second, func() bool { return false })
			default:
				from, network := task.PeerID(""), ""
				if what == "answer" {
					from = liar.Draw(rt, "from")
					network = rapid.SampledFrom([]string{"", "1", "2"}).Draw(rt, "network")
				}
				to.tell(Summarised{Of: to.m, From: from, Network: network, Summaries: lies(rt, s, id, liar)})
			}
			s.settle()
			for _, h := range s.hosts {
				if h.up && !h.m.Cell().Whole() {
					rt.Fatalf("host %d is in cell %s", h.n, h.m.Cell())
				}
				if got := h.m.Leader().Leader; h.up && got != "" && !s.of(got).up && !crashed {
					rt.Fatalf("host %d follows %s", h.n, got)
				}
			}
		}
		s.pass(2*time.Minute, func() bool { return false })
		if s.leader() == nil {
			rt.Fatal("the pool has no single leader in the end")
		}
	})
}

// lies draws summaries of any cells, with any divisions, by strangers.
func lies(rt *rapid.T, s *swarm, id overlay.ID, liar *rapid.Generator[task.PeerID]) (out []overlay.Summary) {
	for range rapid.IntRange(1, 4).Draw(rt, "summaries") {
		p := liar.Draw(rt, "leader")
		x := overlay.Summary{Overlay: id, Leader: p, Issued: s.now, Members: rapid.IntRange(0, 500).Draw(rt, "members"),
			Cell: overlay.CellOf(overlay.CellNumber(id, p), uint8(rapid.IntRange(0, 10).Draw(rt, "bits")))}
		for range x.Cell.Bits {
			by := liar.Draw(rt, "by")
			x.Lineage = append(x.Lineage, overlay.Division{Leader: by, Epoch: overlay.NextEpoch(uint64(rapid.IntRange(0, 1<<30).
				Draw(rt, "epoch")), by), Issued: s.now})
		}
		out = append(out, x)
	}
	return out
}
