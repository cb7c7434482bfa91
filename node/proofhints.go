package node

import (
	"math/rand/v2"
	"time"

	"godwit/task"
)

const (
	// mostUseless is the number of useless answers after which a member's hints, or its statements, are ignored for
	// unheardFor.
	mostUseless = 3
	// maxHinters bounds the members whose useless answers are counted.
	maxHinters = 1024
)

// A hinter is a member that may have a proof, by its trust report, or that sent statements without a verdict.
type hinter struct {
	useless int       // hints in a row that led to no proof
	open    int       // statements in a row whose check ended without a verdict
	ignored time.Time // end of the interval in which its hints are ignored; zero if they count
	last    time.Time // time of the last useless answer
}

// hints choose the member that is queried for proofs next, from trust reports with refused workers. A report costs its
// author nothing, so a hint decides at most every second query, and a member whose hints are useless loses them. The
// zero value has no hint. The loop owns it.
type hints struct {
	peer  task.PeerID // author of a report with a refused worker; "" for none
	in    *membership // overlay of the report
	since int         // hints since the last query that a hint decided

	asked  task.PeerID // member that is being queried because of its hint; "" for none
	drawn  bool        // the next query goes to a member at random
	counts map[task.PeerID]hinter
}

// hint notes a trust report that refuses a worker which is not refused here: its author may have a proof. Of several
// authors each is as likely to be queried, so that the last to report gains nothing.
func (p *proofs) hint(m *membership, tally *task.Tally) {
	h := &p.hints
	for _, r := range tally.Rows {
		if r.Refused && r.Worker != p.self && !m.Submitter().Refuses(r.Worker) {
			if h.counts[tally.Teller].ignored.After(p.now()) {
				return
			}
			if h.since++; rand.N(h.since) == 0 {
				h.peer, h.in = tally.Teller, m
			}
			return
		}
	}
}

// hinted returns the author of a hint once, or "" if there is none or a random member is due.
func (p *proofs) hinted(now time.Time) (*membership, task.PeerID) {
	h := &p.hints
	h.asked = ""
	if h.drawn {
		h.drawn = false
		return nil, ""
	}
	m, peer := h.in, h.peer
	h.in, h.peer, h.since = nil, "", 0
	if m == nil || m.IsOut() || p.unheard[peer].After(now) || h.counts[peer].ignored.After(now) || !p.member(m, peer) {
		return nil, ""
	}
	h.asked, h.drawn = peer, true
	return m, peer
}

// uselessHint counts a query that a hint decided and that brought no statement to check.
func (p *proofs) uselessHint(peer task.PeerID, now time.Time) {
	if p.hints.asked != peer || peer == "" {
		return
	}
	p.hints.asked = ""
	p.hints.count(peer, now, false)
}

// checkedFor counts the verdict on a member's statement: a proof clears its useless answers. A check without a verdict
// may have taken as long as a check can, so a member whose statements come to nothing else is not queried for a while.
func (p *proofs) checkedFor(peer task.PeerID, proven bool, now time.Time) {
	if proven {
		delete(p.hints.counts, peer)
		return
	}
	if p.hints.count(peer, now, true).open >= mostUseless {
		delete(p.hints.counts, peer)
		p.unhear(peer, now)
		p.log.Warn("checks of a member's proofs reached no verdict: ignoring the member for a week", "peer", peer)
	}
}

// count counts a useless answer of a member.
func (h *hints) count(peer task.PeerID, now time.Time, open bool) hinter {
	c, known := h.counts[peer]
	if !known && len(h.counts) >= maxHinters {
		forgetEarliest(h.counts, func(o hinter) time.Time { return o.last })
	}
	if h.counts == nil {
		h.counts = map[task.PeerID]hinter{}
	}
	if now.Sub(c.last) > unheardFor {
		c.useless, c.open = 0, 0
	}
	if open {
		c.open++
	}
	if c.useless++; c.useless >= mostUseless {
		c.useless, c.ignored = 0, now.Add(unheardFor)
	}
	c.last = now
	h.counts[peer] = c
	return c
}

// forgetEarliest removes the entry with the earliest time.
func forgetEarliest[V any](of map[task.PeerID]V, at func(V) time.Time) {
	var first task.PeerID
	for peer, v := range of {
		if first == "" || at(v).Before(at(of[first])) {
			first = peer
		}
	}
	delete(of, first)
}
