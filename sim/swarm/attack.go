package swarm

import (
	"crypto/ed25519"
	"slices"
	"time"

	"godwit/member"
	"godwit/overlay"
	"godwit/scheduler/message"
	"godwit/scheduler/submitter"
	"godwit/task"
)

// An Attack adds strangers to a run: peers that have keys, receive what nodes send to them, and send whatever
// their keys can sign. A stranger has no state machine. Nil functions do nothing.
type Attack struct {
	// Keys are the strangers' keys. A stranger is named by its index.
	Keys []ed25519.PrivateKey
	// Begin is called once, at the start of the run.
	Begin func(s *Stage)
	// Heard receives each message that a node sends to a stranger.
	Heard func(s *Stage, stranger int, from task.PeerID, m *message.Message)
	// Cells answers a question of a node about the overlay's cells.
	Cells func(s *Stage, stranger int, by task.PeerID) []overlay.Summary
	// Apart is how long a node that comes up during the run hears of no other node, only of strangers.
	Apart time.Duration
	// Ended is called after the run, before its machines are gone.
	Ended func(s *Stage)
}

// A Stage is what an Attack sees and does. Nodes are named by their index.
type Stage struct {
	w         *world
	strangers []*node
	seq       uint64 // of the newest advert
}

// addStrangers makes the strangers of an attack, and the peer to which messages for unknown keys go.
func (w *world) addStrangers() {
	w.nowhere = &node{w: w, index: len(w.nodes), there: nobody}
	if w.opt.Attack == nil {
		return
	}
	w.stage = &Stage{w: w}
	for i, key := range w.opt.Attack.Keys {
		n := &node{w: w, index: len(w.nodes) + 1 + i, key: key, id: task.PeerIDOf(key.Public().(ed25519.PublicKey)),
			up: true, life: 1, strange: true, there: nobody}
		w.stage.strangers, w.byID[n.id] = append(w.stage.strangers, n), n
	}
}

// peer returns the node or stranger with that ID. For other IDs it returns a peer that never answers.
func (w *world) peer(id peerID) *node {
	if n := w.byID[id]; n != nil {
		return n
	}
	return w.nowhere
}

// peerAt returns the node or stranger with that index in links.
func (w *world) peerAt(i int) *node {
	if i < len(w.nodes) {
		return w.nodes[i]
	}
	return w.stage.strangers[i-len(w.nodes)-1]
}

// overhear gives a stranger messages of a node.
func (s *Stage) overhear(to, from *node, messages []message.Message) {
	if s.w.opt.Attack.Heard == nil {
		return
	}
	i := slices.Index(s.strangers, to)
	for k := range messages {
		m := messages[k] // the list is used again
		s.w.opt.Attack.Heard(s, i, from.id, &m)
	}
}

// cellsOf returns a stranger's answer to a question about cells.
func (s *Stage) cellsOf(to, by *node) []overlay.Summary {
	if s.w.opt.Attack.Cells == nil {
		return nil
	}
	return s.w.opt.Attack.Cells(s, slices.Index(s.strangers, to), by.id)
}

// isApart reports whether a node has come so lately that it hears of strangers only.
func (n *node) isApart() bool {
	s := n.w.stage
	return s != nil && n.there.up > 0 && n.w.now < n.there.up+n.w.opt.Attack.Apart
}

// visited returns a stranger that the node takes for a member of another cell, as package node prefers such
// peers for questions about cells; nil if there is none.
func (s *Stage) visited(n *node) *node {
	if s == nil {
		return nil
	}
	var all []*node
	for _, o := range s.strangers {
		if n.m.Visits(o.id) {
			all = append(all, o)
		}
	}
	if len(all) == 0 {
		return nil
	}
	return all[s.w.cells.IntN(len(all))]
}

// Now returns the machines' time.
func (s *Stage) Now() time.Time { return s.w.clock }

// Overlay returns the overlay's ID.
func (s *Stage) Overlay() overlay.ID { return s.w.overlay }

// After calls do when d has passed.
func (s *Stage) After(d time.Duration, do func()) { s.w.queue.add(s.w.now+d, talking, do) }

// Every calls do now and each time that d has passed again.
func (s *Stage) Every(d time.Duration, do func()) {
	do()
	s.After(d, func() { s.Every(d, do) })
}

// Stranger returns a stranger's ID.
func (s *Stage) Stranger(i int) task.PeerID { return s.strangers[i].id }

// Advertise signs an advert of a stranger and brings it to nodes; without any, to all that are up. The caller
// sets what the advert says of its peer's machine, cell and epoch.
func (s *Stage) Advertise(i int, a overlay.Advert, to ...int) {
	n := s.strangers[i]
	s.seq++
	a.Peer, a.Overlay, a.Seq = n.id, s.w.overlay, uint64(s.w.clock.UnixNano())+s.seq
	a.Issued, a.Expires = s.w.clock, s.w.clock.Add(member.AdvertLife)
	if a.Memory == 0 {
		a.Memory = overlay.MaxMemory
	}
	if a.Speed == 0 {
		a.Speed = 1
	}
	s.w.note(a.Sign(n.key))
	n.said = &a
	s.each(to, func(o *node) { o.tell(member.Advertised{Advert: &a}) })
}

// Summarize brings signed summaries of strangers to nodes; without any, to all leaders of cells.
func (s *Stage) Summarize(list []overlay.Summary, to ...int) {
	if len(to) == 0 {
		for i, n := range s.w.nodes {
			if n.up && n.m.Coordinator() != nil {
				to = append(to, i)
			}
		}
	}
	s.each(to, func(o *node) { o.tell(member.Summarised{Of: o.m, Summaries: list}) })
}

// Summary returns a summary that a stranger has signed now, of its own cell with so many bits. Its lineage has the
// divisions that the overlay began with. The stranger signs the others itself.
func (s *Stage) Summary(i int, bits uint8, members, slots int) overlay.Summary {
	n := s.strangers[i]
	cell := overlay.CellOf(overlay.CellNumber(s.w.overlay, n.id), bits)
	sum := overlay.Summary{Overlay: s.w.overlay, Leader: n.id, Cell: cell, Epoch: overlay.NextEpoch(1<<24, n.id),
		Issued: s.w.clock, Members: members, Slots: slots, Idle: slots,
		Lineage: s.w.firstLineage(overlay.CellOf(overlay.CellNumber(s.w.overlay, n.id), min(bits, s.w.opt.Bits)))}
	for b := uint8(len(sum.Lineage)); b < bits; b++ {
		d := overlay.Division{Leader: n.id, Epoch: sum.Epoch, Issued: s.w.clock}
		s.w.note(d.Sign(s.w.overlay, b, n.key))
		sum.Lineage = append(sum.Lineage, d)
	}
	s.w.note(sum.Sign(n.key))
	return sum
}

// each does something at nodes that are up, one gossip later.
func (s *Stage) each(to []int, do func(o *node)) {
	s.w.queue.add(s.w.now+s.w.opt.Gossip, talking, func() {
		for k, o := range s.w.nodes {
			if o.up && (len(to) == 0 || slices.Contains(to, k)) {
				o.turn(func() { do(o) })
			}
		}
	})
}

// Send sends messages of a stranger to a peer.
func (s *Stage) Send(i int, to task.PeerID, messages ...message.Message) {
	if o := s.w.peer(to); o.m != nil {
		s.strangers[i].send(o, messages)
	}
}

// SayLease has a stranger's lease say something to a node.
func (s *Stage) SayLease(i int, to task.PeerID, l member.Lease) {
	n := s.strangers[i]
	o := s.w.peer(to)
	n.w.queue.add(n.w.now+n.w.delay(), talking, func() {
		if o.up && o.m != nil {
			o.turn(func() { o.tell(member.LeaseSaid{Of: o.m, From: n.id, Lease: l}) })
		}
	})
}

// Hand gives a node a job to submit and returns its ID. A node that is down submits nothing.
func (s *Stage) Hand(node int, spec task.Job) task.JobID {
	spec.Submitted = task.At(s.w.clock)
	return s.w.handScripted(&Job{Node: node, Spec: spec})
}

// Stop ends the run now: nothing more happens in it.
func (s *Stage) Stop() { s.w.stopped = true }

// Nodes returns the number of nodes.
func (s *Stage) Nodes() int { return len(s.w.nodes) }

// Up reports whether a node is up.
func (s *Stage) Up(i int) bool { return s.w.nodes[i].up }

// ID returns a node's ID.
func (s *Stage) ID(i int) task.PeerID { return s.w.nodes[i].id }

// Member returns a node's part in the overlay, to be read only; nil while the node is down.
func (s *Stage) Member(i int) *member.Member {
	if !s.w.nodes[i].up {
		return nil
	}
	return s.w.nodes[i].m
}

// Crash ends a node silently, for good.
func (s *Stage) Crash(i int) { s.w.nodes[i].crash() }

// Results returns the results that a node's submitter holds of a job, by task.
func (s *Stage) Results(i int, id task.JobID) (map[uint64]message.TaskSummary, error) {
	out := map[uint64]message.TaskSummary{}
	for k := range s.w.jobs[id].tasks {
		value, held := s.w.nodes[i].disk[submitter.ResultKey(id, uint64(k))]
		if !held {
			continue
		}
		t, err := submitter.DecodeSummary(value)
		if err != nil {
			return nil, err
		}
		out[uint64(k)] = t
	}
	return out, nil
}

// linkStranger connects a node and a stranger, one of which has dialed the other.
func (n *node) linkStranger(to *node) {
	n.with(to).life, to.with(n).life = to.life, n.life
	for _, ends := range [][2]*node{{n, to}, {to, n}} {
		if here, there := ends[0], ends[1]; !here.strange {
			here.turn(func() {
				here.connected(there.id)
				cellNet{here}.greetedBy(there)
			})
		}
	}
}
