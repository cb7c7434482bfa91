// Package authority says who may say what. It is asked about each message of another peer
// before any machine sees it, and goes by the message and by what this member knows. The
// table of docs/protocol.md has a line for each rule, and the tests have one.
package authority

import (
	"errors"
	"fmt"
	"slices"

	"godwit/scheduler/message"
	"godwit/task"
)

// Knows is what a member knows that decides who may say what.
type Knows interface {
	// Self is the member itself.
	Self() task.PeerID
	// Member reports whether a peer is a member now, by a signed advert.
	Member(peer task.PeerID) bool
	// Leads reports whether this member follows a peer as the leader, and in which epoch.
	Leads(peer task.PeerID) (epoch uint64, leads bool)
	// LeadsCell reports whether a peer leads another cell of the overlay, by a summary that it
	// signed and that holds.
	LeadsCell(peer task.PeerID) bool
	// Coordinates reports whether a peer is of the group that coordinates, as this member sees it.
	Coordinates(peer task.PeerID) bool
	// Submitter returns whose job it is, and false for a job that this member does not know.
	Submitter(id task.JobID) (peer task.PeerID, known bool)
	// Submits returns whose key a record carries, as task.Record.Submitter does.
	Submits(r *task.Record) task.PeerID
	// Leased reports whether this member's own books have that attempt of that worker, and
	// returns the receipt that it signed for it; nil where it did not, or no longer has it.
	Leased(id task.TaskID, a message.Attempt, worker task.PeerID) (receipt *task.Receipt, leased bool)
	// Led reports whether a peer led in an epoch, or may have, as far as this member saw.
	Led(peer task.PeerID, epoch uint64) bool
	// Receipts reports whether leaders here sign receipts. Simulations' do not.
	Receipts() bool
}

// ErrRefused is wrapped by why a message is not heard.
var ErrRefused = errors.New("authority: it may not say that")

// Check returns what of a message from may say, by k: the message itself, where that is all,
// or one in which leases that nothing shows are marked as unproven. It fails for one that
// is not to be heard at all. m is not changed.
func Check(from task.PeerID, m *message.Message, k Knows) (*message.Message, error) {
	switch {
	case m.Accepted != nil, m.Progress != nil, m.Place != nil, m.Ack != nil, m.Wanted != nil, m.Copy != nil:
		epoch, leads := k.Leads(from)
		switch {
		case (m.Accepted != nil || m.Progress != nil) && k.LeadsCell(from):
		case m.Progress != nil && (k.Coordinates(from) || k.Member(from)): // if it was asked: the submitter knows
		case !leads:
			return nil, refuse("it does not lead")
		case latest(m) > epoch:
			return nil, refuse("it leads in an earlier epoch than it names")
		}
	case m.Submit != nil, m.Got != nil, m.Report != nil, m.Known != nil, m.Copied != nil,
		m.Retired != nil, m.Kept != nil, m.Wrong != nil, m.Made != nil:
		if !k.Member(from) {
			return nil, refuse("it is no member, as far as is known")
		}
	}
	switch {
	case m.Submit != nil:
		if k.Submits(&m.Submit.Record) != from {
			return nil, refuse("the job is another's")
		}
	case m.Got != nil:
		if owner, known := k.Submitter(m.Got.Job); known && owner != from {
			return nil, refuse("the job is another's")
		}
	case m.Made != nil:
		if owner, known := k.Submitter(m.Made.Job); known && owner != from {
			return nil, refuse("the job is another's")
		}
	case m.Wrong != nil:
		r := &m.Wrong.Result
		if owner, known := k.Submitter(r.Task.Job); known && owner != from || r.Worker != k.Self() {
			return nil, refuse("the job, or the result, is another's")
		}
	case m.Report != nil && k.Receipts():
		return report(from, m, k), nil
	case m.Place != nil && k.Receipts():
		return place(from, m, k)
	}
	return m, nil // a Cancel is signed, whoever brings it
}

func refuse(why string) error { return fmt.Errorf("%w: %s", ErrRefused, why) }

// latest is the latest epoch that a leader's message names as its own, or as one in which it
// gave a lease; 0 for none. Who hears of it obeys no earlier one any more.
func latest(m *message.Message) (epoch uint64) {
	switch {
	case m.Place != nil:
		epoch = m.Place.Epoch
		for i := range m.Place.Leases {
			epoch = max(epoch, m.Place.Leases[i].Attempt.Epoch)
		}
	case m.Ack != nil:
		epoch = m.Ack.Epoch
		for i := range m.Ack.Moves {
			epoch = max(epoch, m.Ack.Moves[i].As.Epoch)
		}
	case m.Wanted != nil:
		epoch = m.Wanted.Epoch
	case m.Copy != nil:
		epoch = m.Copy.Epoch
	}
	return epoch
}

// place refuses leases without the receipts of who gives them: what comes of such a one
// would be believed by nobody. The leader's word is its connection's, so its signature, which
// takes a third of a short task's time to see, is looked at in the first lease alone: that
// finds a leader that signs wrongly, and one that wants its own tasks' work to be lost needs
// no signature for that.
func place(from task.PeerID, m *message.Message, k Knows) (*message.Message, error) {
	for i := range m.Place.Leases {
		l := &m.Place.Leases[i]
		if l.Receipt == nil || l.Receipt.Leader != from || !names(l.Receipt, l.Attempt) {
			return nil, refuse("it gives a lease without a receipt of its own")
		}
		if l.From != nil && l.From.CID != l.Receipt.From {
			return nil, refuse("it gives a lease from another state than the receipt's")
		}
		err := l.Receipt.Valid()
		if i == 0 {
			err = l.Receipt.Verify(l.Task, k.Self())
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrRefused, err)
		}
	}
	return m, nil
}

// report marks the leases of a report that nothing shows, and leaves out the states that its
// worker does not vouch for. Signatures of these are checked where one is of use.
func report(from task.PeerID, m *message.Message, k Knows) *message.Message {
	r := *m.Report
	held := marker(&r.Held, func(h *message.Held) bool {
		_, leased := k.Leased(h.Task, h.Attempt, from)
		return leased || h.Receipt != nil && names(h.Receipt, h.Attempt) && Proves(h.Receipt, h.Task, from, k) == nil
	}, func(h *message.Held) { h.Unproven = true })
	ended := marker(&r.Ended, func(e *message.Ending) bool {
		// Though the lease be on the books here: others have none but the receipt to go by.
		return e.Result.Worker == from && Proves(e.Result.Receipt, e.Result.Task, from, k) == nil
	}, func(e *message.Ending) { e.Unproven = true })
	unvouched := func(s message.SavedState) bool {
		v := s.Checkpoint.Voucher
		return v == nil || v.Worker != from || !k.Led(v.Receipt.Leader, v.Receipt.Epoch)
	}
	saved := slices.ContainsFunc(r.Saved, unvouched)
	if saved {
		r.Saved = slices.DeleteFunc(slices.Clone(r.Saved), unvouched)
	}
	if !held && !ended && !saved {
		return m
	}
	return &message.Message{Report: &r}
}

// marker marks what does not hold in a list, which it copies first. It reports whether
// anything was marked.
func marker[T any](list *[]T, holds func(*T) bool, mark func(*T)) bool {
	marked := false
	for i := range *list {
		if holds(&(*list)[i]) {
			continue
		}
		if !marked {
			*list, marked = slices.Clone(*list), true
		}
		mark(&(*list)[i])
	}
	return marked
}

// names reports whether a receipt is of that attempt.
func names(r *task.Receipt, a message.Attempt) bool { return r.Epoch == a.Epoch && r.Seq == a.Seq }

// Proves returns nil if a receipt shows that a leader that k knows of gave worker the lease
// of a task, else what is wrong with it.
func Proves(r *task.Receipt, id task.TaskID, worker task.PeerID, k Knows) error {
	if r == nil {
		return refuse("no receipt shows that it had the lease")
	}
	if !k.Led(r.Leader, r.Epoch) {
		return refuse("nobody here knows that " + string(r.Leader) + " led")
	}
	given, _ := k.Leased(id, message.Attempt{Epoch: r.Epoch, Seq: r.Seq}, worker)
	if given.Equal(r) { // its own: nothing more to see in the signature
		return nil
	}
	return r.Verify(id, worker)
}
