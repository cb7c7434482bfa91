package member

import (
	"testing"
	"time"

	"godwit/overlay"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// A cellLiar is a stranger with a key of its own that no host knows, and that lies about cells.
type cellLiar struct {
	id  task.PeerID
	seq uint64
	up  bool
	// summaries are what it answers to a question about cells. The time of issue is set for each answer.
	summaries []overlay.Summary
}

// newCellLiar returns a stranger whose key comes from a number that no host has.
func newCellLiar(n int) *cellLiar {
	_, id := schedtest.Identity(n)
	return &cellLiar{id: id, up: true}
}

// claim returns a summary in which the stranger leads its cell of so many bits.
func (x *cellLiar) claim(id overlay.ID, bits uint8, members int) overlay.Summary {
	return overlay.Summary{Overlay: id, Leader: x.id, Cell: overlay.CellOf(overlay.CellNumber(id, x.id), bits),
		Members: members, Slots: overlay.MaxCellSlots, Idle: overlay.MaxCellSlots}
}

// advertise sends all hosts an advert in which the stranger is in a cell of so many bits.
func (x *cellLiar) advertise(s *swarm, bits uint8) {
	x.seq++
	id := s.hosts[0].m.ID()
	a := overlay.Advert{Peer: x.id, Overlay: id, Seq: x.seq, Issued: s.now, Expires: s.now.Add(AdvertLife),
		Bits: bits, State: overlay.Available}
	for _, h := range s.hosts {
		if h.up {
			h.tell(Advertised{Advert: &a})
		}
	}
}

// answer returns the stranger's summaries, issued now.
func (x *cellLiar) answer(now time.Time) (out []overlay.Summary) {
	for _, s := range x.summaries {
		s.Issued = now
		out = append(out, s)
	}
	return out
}

// answerCells answers the hosts' questions about cells. A question to nobody in particular reaches the strangers, who
// are connected to each host, and one host.
func (s *swarm) answerCells(strangers ...*cellLiar) {
	for _, h := range s.hosts {
		asked := h.asked
		h.asked = nil
		for _, e := range asked {
			q, ok := e.(AskCells)
			if !ok || !h.up {
				continue
			}
			if o := s.of(q.From); o.up {
				h.tell(Summarised{Of: h.m, Summaries: o.m.Summaries()})
				continue
			}
			for _, x := range strangers {
				if x.up && (q.From == "" || q.From == x.id) {
					h.tell(Summarised{Of: h.m, Summaries: x.answer(s.now)})
				}
			}
			for _, o := range s.hosts {
				if q.From == "" && o != h && o.up {
					h.tell(Summarised{Of: h.m, Summaries: o.m.Summaries()})
					break
				}
			}
		}
	}
}

// passWith lets time pass second by second, in which questions about cells are answered, and calls each every time.
func (s *swarm) passWith(d time.Duration, each func(), strangers ...*cellLiar) {
	for end := s.now.Add(d); s.now.Before(end); {
		s.pass(time.Second, func() bool { return false })
		s.answerCells(strangers...)
		each()
	}
}

// A stranger advertises a smaller cell and answers that it leads there: the pool of five neither divides nor changes
// its leader.
func TestStrangersSummaryDoesNotSplitPool(t *testing.T) {
	s := newSwarm(t, 5)
	s.cells = overlay.DefaultCellRule()
	s.start()
	s.passWith(10*time.Minute, func() {})
	leader := s.leader()
	if leader == nil {
		t.Fatal("no leader after ten minutes")
	}
	x := newCellLiar(50)
	x.summaries = []overlay.Summary{x.claim(leader.m.ID(), 1, 300)}
	x.advertise(s, 1)
	s.passWith(25*time.Minute, func() {
		for _, h := range s.hosts {
			if !h.m.Cell().Whole() || h.m.Leader().Leader != leader.id {
				t.Fatalf("host %d is in cell %s and follows %s after a stranger's summary", h.n, h.m.Cell(), h.m.Leader().Leader)
			}
		}
	}, x)
}
