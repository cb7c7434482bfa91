package swarm

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"godwit/member"
	"godwit/scheduler/message"
	"godwit/scheduler/submitter"
	"godwit/task"
)

// carryOut does one effect, or arranges what will answer it.
func (n *node) carryOut(e member.Effect) {
	switch e := e.(type) {
	case member.Gossip:
		n.spread(e.Advert, e.Cell)
	case member.Greet:
		cellNet{n}.greets(e)
	case member.JoinCell:
		cellNet{n}.joined(e)
	case member.GossipSummary:
		cellNet{n}.sumUp(e.Summary)
	case member.SayLease:
		n.sayLease(e)
	case *member.Do:
		for _, of := range e.Effects {
			n.do(e.From, of)
		}
	}
}

// do carries out an effect of a machine.
func (n *node) do(from machine, e message.Effect) {
	switch e := e.(type) {
	case message.Persist:
		n.persist(e)
	case message.Send:
		n.post(e)
	case message.Fetch:
		n.fetch(from, e)
	case message.Prepare:
		n.prepare(e)
	case message.Start:
		n.begin(e)
	case message.HandOver:
		n.handOver(e)
	case message.Expect:
		n.expect(e)
	case message.Stop:
		n.stop(e)
	case message.Audit:
		n.audit(e)
	case message.Outrun:
		n.tell(member.Outrun{Of: n.m, From: e.From, Epoch: e.Epoch})
	case message.Decided:
		n.w.decided(n, from, e)
	}
}

func (n *node) persist(p message.Persist) {
	if p.Value == nil {
		delete(n.disk, p.Key)
		return
	}
	if strings.HasPrefix(p.Key, submitter.ResultsPrefix) {
		if _, held := n.disk[p.Key]; held && !n.w.checks {
			n.w.note(fmt.Errorf("node %d was given the result %s twice", n.index, p.Key))
		}
		n.w.stats.Delivered++
	}
	n.disk[p.Key] = p.Value
}

func (n *node) post(e message.Send) {
	if !n.w.opt.Signed {
		vouch(&e.Message)
	}
	if e.To == n.id {
		if n.own == nil {
			n.own = n.w.letters.empty()
		}
		n.own = append(n.own, e.Message)
		return
	}
	to := n.w.peer(e.To)
	for i := range n.lines {
		if n.lines[i].to == to {
			n.lines[i].messages = append(n.lines[i].messages, e.Message)
			return
		}
	}
	n.lines = append(n.lines, line{to, append(n.w.letters.empty(), e.Message)})
}

// vouch marks results as seen to verify: this driver has signed each that there is, and nobody here
// changes any.
func vouch(m *message.Message) {
	if m.Report != nil {
		for i := range m.Report.Ended {
			m.Report.Ended[i].Signed = true
		}
	}
	if m.Progress != nil {
		for i := range m.Progress.Tasks {
			m.Progress.Tasks[i].Signed = true
		}
	}
}

// letters are those that have arrived, and lists of messages that have been told, for the next
// ones: nobody keeps what member.Said points to.
type letters struct {
	lists [][]message.Message
	free  []*letter
	asked []*question // that were answered
}

// empty is a list with room for messages, or nil.
func (l *letters) empty() []message.Message {
	last := len(l.lists) - 1
	if last < 0 {
		return nil
	}
	out := l.lists[last]
	l.lists = l.lists[:last]
	return out
}

// emptied takes a list that is needed no more.
func (l *letters) emptied(told []message.Message) {
	if cap(told) == 0 || len(l.lists) == lettersKept {
		return
	}
	clear(told)
	l.lists = append(l.lists, told[:0])
}

// letter is one to be written.
func (l *letters) letter() *letter {
	last := len(l.free) - 1
	if last < 0 {
		out := &letter{}
		out.arrives = out.arrive
		return out
	}
	out := l.free[last]
	l.free = l.free[:last]
	return out
}

// back takes a letter that has arrived, or was lost.
func (l *letters) back(old *letter) {
	l.emptied(old.messages)
	*old = letter{arrives: old.arrives}
	if len(l.free) < lettersKept {
		l.free = append(l.free, old)
	}
}

// lettersKept is how many of each are kept: more are on their way only where thousands of
// nodes speak at once.
const lettersKept = 1 << 10

// bring gets the blocks that are not here from whoever of the holders has them,
// and says which it could not get.
func (n *node) bring(cids []task.CID, holders []peerID, done func(missing task.CID)) {
	w := n.w
	var bytes int64
	here := true
	for _, c := range cids {
		if !n.blocks[c] {
			here, bytes = false, bytes+w.sizes[c]
		}
	}
	var wait time.Duration // for nobody, when all is here
	if !here {
		wait = w.delay() + w.delay() + w.transfer(bytes)
	}
	n.after(wait, talking, func() {
		for _, c := range cids {
			if n.blocks[c] {
				continue
			}
			if !slices.ContainsFunc(holders, func(p peerID) bool { o := w.byID[p]; return o != nil && o.up && o.blocks[c] }) {
				done(c)
				return
			}
			n.blocks[c] = true
			if _, state := w.saves[c]; state {
				w.moved += w.sizes[c]
			}
		}
		done("")
	})
}

func (n *node) fetch(from machine, e message.Fetch) {
	n.bring(e.CIDs, e.Holders, func(missing task.CID) {
		done := message.Fetched{Key: e.Key}
		if missing != "" {
			done.Err = "nobody there has " + string(missing)
		}
		n.step(from, done)
	})
}

func (n *node) prepare(e message.Prepare) {
	n.bring([]task.CID{task.CID(e.Job)}, e.Holders, func(missing task.CID) {
		if missing != "" {
			n.step(n.m.Worker(), message.Prepared{ID: e.Job, Err: "nobody there has the job's files"})
			return
		}
		n.step(n.m.Worker(), message.Prepared{ID: e.Job, Job: n.w.jobs[e.Job].spec})
	})
}
