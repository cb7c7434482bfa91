package submitter

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"godwit/credibility"
	"godwit/scheduler/durable"
	"godwit/scheduler/message"
	"godwit/task"
)

// What other submitters say that they found right of workers, in tallies, is hearsay. It counts as far
// as this node ran again what the teller found right, and came to the same; where each member was let in,
// fully. In all it counts at most as much as this node saw of the worker itself, whoever tells, and
// however many: a liar with many keys gains no more. Where members were let in it counts ten tasks
// more; in an open pool a liar whose friends praise it would get through with its first result one
// time in four. What others say against a worker counts for nothing: for that there are proofs.

const (
	// maxTellers bounds the submitters that are listened to.
	maxTellers = 32
	// mostDrawn is after how many results of a teller that were run again the older count half.
	mostDrawn = 64
)

// hearsay is what others tell of workers.
type hearsay struct {
	a       *audits
	tellers map[task.PeerID]*teller  // at most maxTellers
	order   []task.PeerID            // of them, sorted
	about   map[task.PeerID][]saying // by worker, what was found right, in the order of tellers
	shown   showing
}

// A saying is one teller's word about one worker.
type saying struct {
	teller task.PeerID
	tasks  float64 // as of issued
	issued int64
}

// A teller is another submitter.
type teller struct {
	tally *task.Tally // its newest
	// drawn counts its results that this node was to run again, and right those of them that were
	// shown and are right. tried is when the tally was issued of which the last was.
	drawn, right int
	tried        int64
	untrue       bool // it called a result right that is wrong: see untrue.go
}

// tellerState is the durable form of a teller that counts.
type tellerState struct {
	Tally task.Tally `cbor:"1,keyasint"`
	Drawn int        `cbor:"2,keyasint,omitempty"`
	Right int        `cbor:"3,keyasint,omitempty"`
	Tried int64      `cbor:"4,keyasint,omitempty"`
	// Untrue is set of one that called a result right that is wrong.
	Untrue bool `cbor:"5,keyasint,omitempty"`
}

// trusts reports whether members were let in: then each one's word counts.
func (h *hearsay) trusts() bool { return h.a.s.cfg.Pool.Prior <= credibility.InvitedPool.Prior }

// bonus is how many tasks hearsay counts at most beyond what was seen here.
func (h *hearsay) bonus() float64 {
	if h.trusts() {
		return credibility.Hearsay
	}
	return 0
}

// weight is how far a teller's word counts: 0 to 1.
func (h *hearsay) weight(peer task.PeerID) float64 {
	t := h.tellers[peer]
	switch {
	case t == nil || t.untrue || !t.tally.Counts(h.a.s.now) || !h.a.abroad.says(peer):
		return 0
	case h.trusts():
		return 1
	case t.drawn == 0:
		return 0
	}
	return float64(t.right) / float64(t.drawn)
}

// of is what others say of a worker.
func (h *hearsay) of(worker task.PeerID) (out []credibility.Praise) {
	for _, said := range h.about[worker] {
		if w := h.weight(said.teller); w > 0 {
			after := max(0, h.a.s.now.Unix()-said.issued)
			out = append(out, credibility.Praise{Weight: w, Right: credibility.Faded(said.tasks, seconds(after))})
		}
	}
	return out
}

// sort has what each teller says at hand by worker. Tallies come a few in ten minutes.
func (h *hearsay) sort() {
	h.about = map[task.PeerID][]saying{}
	for _, peer := range h.order {
		t := h.tellers[peer].tally
		for _, r := range t.Rows {
			if r.Right > 0 {
				h.about[r.Worker] = append(h.about[r.Worker], saying{peer, r.Tasks(), t.Issued})
			}
		}
	}
}

// believed is how many tasks of a worker count as right, with what others say.
func (h *hearsay) believed(worker task.PeerID, credit credibility.Credit) float64 {
	if len(h.about[worker]) == 0 {
		return credit.Believed(h.a.s.now)
	}
	return credit.BelievedWith(h.of(worker), h.bonus(), h.a.s.now)
}

// told takes in a tally.
func (h *hearsay) told(tally *task.Tally) {
	if tally.Teller == h.a.s.self || !tally.Counts(h.a.s.now) {
		return
	}
	t := h.tellers[tally.Teller]
	switch {
	case t == nil && len(h.tellers) >= maxTellers && !h.makeRoom():
		return
	case t == nil:
		t = &teller{}
		h.add(tally.Teller, t)
	case t.tally.Issued >= tally.Issued:
		return
	}
	t.tally = tally
	h.sort()
	h.keep(tally.Teller)
}

func (h *hearsay) add(peer task.PeerID, t *teller) {
	h.tellers[peer] = t
	i, _ := slices.BinarySearch(h.order, peer)
	h.order = slices.Insert(h.order, i, peer)
}

// makeRoom forgets a teller: one whose tally is too old, or who was tried and never right, or else one that does not
// count and offers nothing by which it could come to. Who was right stays, however many come.
func (h *hearsay) makeRoom() bool {
	i := slices.IndexFunc(h.order, func(peer task.PeerID) bool {
		t := h.tellers[peer]
		return !t.tally.Counts(h.a.s.now) || t.drawn > 0 && t.right == 0 || t.untrue
	})
	if i < 0 {
		i = slices.IndexFunc(h.order, func(peer task.PeerID) bool { return h.weight(peer) == 0 && !h.toTry(peer) })
	}
	if i < 0 {
		return false
	}
	peer := h.order[i]
	delete(h.tellers, peer)
	h.order = slices.Delete(h.order, i, i+1)
	h.a.s.emit(message.Persist{Key: submitterTellers + string(peer)})
	return true
}

// toTry reports whether a teller offers a result to run again here, of a tally of which none was yet.
func (h *hearsay) toTry(peer task.PeerID) bool {
	t := h.tellers[peer]
	return !t.untrue && t.tried < t.tally.Issued && len(t.tally.Shown) > 0 && t.tally.Counts(h.a.s.now) &&
		h.a.abroad.says(peer) && slices.ContainsFunc(t.tally.Rows, h.a.concerns)
}

// redone takes in whether a result of a teller's was right.
func (h *hearsay) redone(ev *message.Redone) {
	peer := ev.Teller
	t := h.tellers[peer]
	if t == nil || t.tried >= ev.Issued {
		return
	}
	if t.tried = ev.Issued; t.drawn >= mostDrawn {
		t.drawn, t.right = t.drawn/2, t.right/2
	}
	if t.drawn++; ev.Right {
		t.right++
	}
	t.untrue = t.untrue || ev.Wrong
	h.keep(peer)
	if ev.Wrong {
		h.toldUntruth(peer)
	}
}

// keep makes a teller durable that counts, or was tried.
func (h *hearsay) keep(peer task.PeerID) {
	if t := h.tellers[peer]; t.drawn > 0 || h.trusts() {
		h.a.s.save(submitterTellers+string(peer), task.TaskID{},
			&tellerState{*t.tally, t.drawn, t.right, t.tried, t.untrue})
	}
}

// restore takes in who was listened to.
func (h *hearsay) restore(scan func(string) iter.Seq2[string, []byte], errs *durable.Errors) {
	for key, value := range scan(submitterTellers) {
		var s tellerState
		peer := task.PeerID(strings.TrimPrefix(key, submitterTellers))
		err := task.Decode(value, &s)
		if err == nil && (s.Tally.Teller != peer || s.Right < 0 || s.Drawn < s.Right) {
			err = fmt.Errorf("a teller of whom %d of %d are right", s.Right, s.Drawn)
		}
		if errs.Note(key, err); err == nil && len(h.tellers) < maxTellers {
			h.add(peer, &teller{&s.Tally, s.Drawn, s.Right, s.Tried, s.Untrue})
		}
	}
	h.sort()
}

// ToTry lists the tallies of which a result is to be run again here, so that it is known how far they
// count: those that say something of a worker here, whose teller's word does not count anyway. Of each
// tally that is done once. They are in order of their tellers, and read only.
func (t Tallies) ToTry() (out []*task.Tally) {
	h := t.h
	if h.trusts() {
		return nil
	}
	for _, peer := range h.order {
		if h.toTry(peer) {
			out = append(out, h.tellers[peer].tally)
		}
	}
	return out
}

// Hears reports whether what another submitter tells counts here.
func (t Tallies) Hears(teller task.PeerID) bool { return t.h.weight(teller) > 0 }

// concerns reports whether a row is of a worker that had a task of a job here, and is not refused.
func (a *audits) concerns(r task.TallyRow) bool {
	c := a.known(r.Worker)
	return r.Right > 0 && !c.First.IsZero() && c.Says(a.s.now)
}
