package member

import (
	"fmt"
	"testing"
	"time"

	"godwit/overlay"
	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// halved returns a swarm of one host, which leads one half of an overlay.
func halved(t *testing.T) (*swarm, *host) {
	t.Helper()
	s := newSwarm(t, 1)
	s.cells = overlay.DefaultCellRule()
	s.start()
	h := s.hosts[0]
	if !s.pass(time.Minute, func() bool { return h.m.Coordinator() != nil }) {
		t.Fatal("the host does not lead")
	}
	h.m.cell = overlay.CellOf(h.m.number, 1)
	return s, h
}

// strangersOf returns peers of the other half, beginning at a number.
func strangersOf(h *host, from, count int) (out []task.PeerID) {
	for n := from; len(out) < count; n++ {
		if _, p := schedtest.Identity(n); !h.m.cell.Holds(overlay.CellNumber(h.m.ID(), p)) {
			out = append(out, p)
		}
	}
	return out
}

// visit sends a host the advert of a member of another cell.
func (h *host) visit(p task.PeerID, seq uint64, addr string) {
	a := overlay.Advert{Peer: p, Overlay: h.m.ID(), Seq: seq, Issued: h.s.now, Expires: h.s.now.Add(AdvertLife), Bits: 1}
	if addr != "" {
		a.Addrs = []string{addr}
	}
	h.tell(Advertised{Advert: &a})
}

// A stranger fills the visitor table from one network. A submitter from another network is a member, and stays one
// when the stranger goes on.
func TestVisitorFromAnotherNetworkKeepsItsEntry(t *testing.T) {
	for _, network := range []string{"", "/ip4/198.51.100.%d/tcp/1"} {
		addr := func(i int) string {
			if network == "" {
				return ""
			}
			return fmt.Sprintf(network, i%250)
		}
		_, h := halved(t)
		liars := strangersOf(h, 100, 2*maxVisitors+1)
		for i, p := range liars[:maxVisitors] {
			h.visit(p, 1, addr(i))
		}
		honest := liars[2*maxVisitors]
		h.visit(honest, 1, "/ip4/203.0.113.7/tcp/1")
		for i, p := range liars[maxVisitors : 2*maxVisitors] {
			h.visit(p, 1, addr(i))
			h.visit(liars[i], 2, addr(i))
		}
		if !(knows{h.m}).Member(honest) {
			t.Errorf("strangers at %q crowd out a visitor from another network", network)
		}
		if n := len(h.m.visitors.known); n != maxVisitors {
			t.Errorf("the table has %d visitors, want %d", n, maxVisitors)
		}
	}
}

// Strangers from one network fill the table, and a submitter from that network comes last: its message is accepted.
func TestNewVisitorIsAdmittedToFullTable(t *testing.T) {
	_, h := halved(t)
	peers := strangersOf(h, 100, maxVisitors+1)
	for _, p := range peers {
		h.visit(p, 1, "")
	}
	if !(knows{h.m}).Member(peers[maxVisitors]) {
		t.Error("the newest visitor is not a member")
	}
}

// A submitter with a job here keeps its entry, although strangers from its own network come after it.
func TestVisitorWithDelegationKeepsItsEntry(t *testing.T) {
	_, h := halved(t)
	submitter := 100
	for ; ; submitter++ {
		if _, p := schedtest.Identity(submitter); !h.m.cell.Holds(overlay.CellNumber(h.m.ID(), p)) {
			break
		}
	}
	key, peer := schedtest.Identity(submitter)
	peers := strangersOf(h, submitter+1, 3*maxVisitors)
	for _, p := range peers[:maxVisitors-1] {
		h.visit(p, 1, "")
	}
	h.s.now = h.s.now.Add(time.Second) // the submitter is the newest visitor
	h.visit(peer, 1, "")
	record := schedtest.Job(t, key, 3, func(j *task.Job) { j.Overlay = string(h.m.ID()) })
	spec, err := record.Open()
	if err != nil {
		t.Fatal(err)
	}
	h.s.jobs[record.ID()] = spec
	h.tell(&Said{Of: h.m, From: peer, Message: &message.Message{Submit: &message.Submit{Record: record}}})
	h.s.settle()
	if _, _, known := h.m.Coordinator().Submitter(record.ID()); !known {
		t.Fatal("the job was not accepted")
	}
	for _, p := range peers[maxVisitors-1:] {
		h.visit(p, 1, "")
	}
	if !(knows{h.m}).Member(peer) {
		t.Error("strangers crowd out a submitter with a job here")
	}
}

// A visitor is known for long ten minutes after its first advert, and not before.
func TestVisitorIsKnownLongAfterTenMinutes(t *testing.T) {
	s, h := halved(t)
	s.pass(2*overlay.MinUptime, func() bool { return false })
	p := strangersOf(h, 100, 1)[0]
	h.visit(p, 1, "")
	if h.m.KnowsLong(p) {
		t.Error("a visitor is known for long at once")
	}
	s.pass(overlay.MinUptime, func() bool { return false })
	h.visit(p, 2, "")
	if !h.m.KnowsLong(p) {
		t.Error("a visitor isn't known for long after ten minutes")
	}
}
