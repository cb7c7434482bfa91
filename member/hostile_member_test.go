package member

import (
	"crypto/ed25519"
	"math/rand/v2"
	"reflect"
	"slices"
	"time"

	"godwit/overlay"
	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
)

// A hostile is a member that says whatever it can say: it has keys of its own, sees every
// frame of the swarm, and plays one of the parts.
type hostile struct {
	s     *swarm
	gang  *gang
	rng   *rand.Rand
	part  part
	g     *values
	seq   uint64 // of its newest advert
	slots int

	frames pool[[]byte] // that were said, by whomever
	// What is under way with others, as the last of them said.
	wanted pool[message.Wanted]
	known  map[task.PeerID]message.Known
	copied map[task.PeerID]uint64 // up to which Copy
	copies pool[message.Copy]
	leases pool[message.Lease] // granted to this member

	lead  uint64        // the epoch that it leads, by the rules; 0 for none
	group []task.PeerID // of that
	bits  uint8         // of the cell in its adverts
}

// A part is what a hostile member is beside hostile.
type part int

const (
	stranger  part = iota // a member of an open overlay, of several keys, that lends nothing
	insider               // one of those that a closed overlay admits
	leased                // lends slots, and is given leases
	leading               // the draw names it first, so that it is offered the lead
	borrowing             // leads the other cell of a divided overlay
	parts
)

func (p part) String() string {
	return [...]string{"stranger", "insider", "leased", "leading", "borrowing"}[p]
}

func (h *hostile) is(peer task.PeerID) bool { return slices.Contains(h.g.ids, peer) }

// hears reads some of the frames between honest members, and all that are addressed to this member.
func (h *hostile) hears(from, to task.PeerID, frame []byte, m *message.Message) {
	if mine := h.is(to); mine || h.rng.IntN(8) == 0 {
		h.frames.put(frame)
		h.g.see(m)
		if mine {
			h.told(from, to, m)
		}
	}
}

// told takes in what an honest member says to this one.
func (h *hostile) told(from, to task.PeerID, m *message.Message) {
	switch {
	case m.Got != nil && m.Got.Asks:
		h.answerAsk(from, to, m.Got)
	case m.Got != nil && !m.Got.Final:
		h.borrows(from, to, m.Got.Job, m.Got.Have)
	case m.Submit != nil:
		h.borrows(from, to, m.Submit.Record.ID(), m.Submit.Have)
	case m.Place != nil:
		for i := range m.Place.Leases {
			l := &m.Place.Leases[i]
			h.g.ownTasks.put(l.Task)
			h.leases.put(*l)
			if l.Receipt != nil {
				h.g.own.put(l.Receipt)
			}
		}
	case m.Wanted != nil:
		h.wanted.put(*m.Wanted)
	case m.Known != nil:
		h.known[from] = *m.Known
		delete(h.copied, from)
	case m.Copied != nil:
		h.copied[from] = m.Copied.Seq
	case m.Copy != nil:
		h.copies.put(*m.Copy)
	}
}

// offered accepts the leadership if that is this member's part.
func (h *hostile) offered(to task.PeerID, l Lease) {
	h.g.epochs.put(l.Renewal.Epoch)
	if l.Kind == Offer && h.part == leading && to == h.g.ids[0] {
		h.lead, h.group = l.Renewal.Epoch, l.Renewal.Group
		h.renew()
	}
}

// gossiped reads an advert.
func (h *hostile) gossiped(a *overlay.Advert) {
	h.g.peers.put(a.Peer)
	if a.Epoch > 0 {
		h.g.epochs.put(a.Epoch)
	}
}

// renew says that it leads, as the rules would have it.
func (h *hostile) renew() {
	if h.lead == 0 || !h.gang.up {
		return
	}
	h.lease(h.g.ids[0], Lease{Kind: Renewal, Renewal: overlay.Renewal{Epoch: h.lead, Group: h.group}}, h.s.hosts...)
	h.s.settle()
}

// lease says something to the leases of others.
func (h *hostile) lease(from task.PeerID, l Lease, to ...*host) {
	for _, o := range to {
		if o.up && o.m.Admits(from) {
			o.tell(LeaseSaid{Of: o.m, From: from, Lease: l})
		}
	}
}

// advertise gossips an advert of one of its keys, which every host checks.
func (h *hostile) advertise(n int, change func(*overlay.Advert)) {
	h.seq = max(h.seq+1, uint64(h.s.now.UnixNano()))
	a := overlay.Advert{Peer: h.g.ids[n], Overlay: h.g.overlay, Seq: h.seq, Issued: h.s.now,
		Expires: h.s.now.Add(AdvertLife), State: overlay.Available, Slots: h.slots, Memory: 1 << 32, Speed: 1}
	if h.part != leading { // the draw has it behind all others
		a.Reach = overlay.ReachPrivate
	} else {
		a.Epoch = h.lead
	}
	a.Bits = h.bits
	change(&a)
	if a.Sign(h.g.keys[n]) != nil {
		return
	}
	b, err := a.Encode()
	if err != nil {
		return
	}
	for _, o := range h.s.hosts {
		if !o.up {
			continue
		}
		if opened, err := overlay.OpenAdvert(b, h.s.now); err == nil {
			o.tell(Advertised{Advert: &opened})
		}
	}
}

func unchanged(*overlay.Advert) {}

// step says one thing to one of the hosts.
func (h *hostile) step() {
	to := h.s.hosts[h.rng.IntN(len(h.s.hosts))]
	if !to.up {
		return
	}
	n := h.rng.IntN(len(h.g.ids))
	switch h.rng.IntN(100) {
	case 2, 3:
		h.speakOfCells(to, n)
	case 8, 9, 10:
		h.finishes()
	case 4, 5, 6, 7:
		if j := h.gang.anyJob(); j != nil {
			m := message.Message{Progress: h.invents(j, to, h.rng.IntN(2) == 0)}
			h.say(h.g.ids[n], j.owner, &m)
		}
	case 0:
		h.advertise(n, func(a *overlay.Advert) {
			a.Epoch, a.Slots = h.claim(n), h.rng.IntN(h.slots+1)
			if a.Epoch > 0 && h.rng.IntN(2) == 0 {
				a.Group = []task.PeerID{h.g.self()}
			}
		})
	case 1:
		h.lease(h.g.ids[n], Lease{Kind: pick(h.rng, Renewal, Offer, Refusal), Leader: h.g.peer(),
			Renewal: overlay.Renewal{Epoch: h.claim(n), Group: []task.PeerID{h.g.ids[n], h.g.peer()}}}, to)
	default:
		m := h.compose(to.id)
		h.say(h.g.ids[n], to, &m)
	}
	h.s.settle()
}

// claim is an epoch that one of its keys may claim to lead, or none.
func (h *hostile) claim(n int) uint64 {
	if h.rng.IntN(3) == 0 {
		return h.g.epoch()
	}
	c := claimed{key: n, epoch: overlay.NextEpoch(h.g.epochs.any(h.rng), h.g.ids[n])}
	h.g.claims.put(c)
	return c.epoch
}

// say brings a message to a host as the network does.
func (h *hostile) say(from task.PeerID, to *host, m *message.Message) {
	frame, err := message.EncodeFrame([]message.Message{*m})
	if err != nil {
		return
	}
	out, err := message.DecodeFrame(frame)
	if err != nil || !to.m.Admits(from) {
		return
	}
	if h.rng.IntN(8) == 0 {
		h.frames.put(frame)
	}
	to.tell(&Said{Of: to.m, From: from, Message: &out[0]})
}

// compose makes a message: anew, of one that was said, or one that goes on with what is
// under way.
func (h *hostile) compose(to task.PeerID) message.Message {
	switch h.rng.IntN(10) {
	case 0, 1, 2:
		return h.anew(h.rng.IntN(reflect.TypeFor[message.Message]().NumField()))
	case 3, 4, 5:
		if m, ok := h.replayed(); ok {
			h.mutate(&m)
			return m
		}
	case 6:
		if m, ok := h.replayed(); ok {
			return m
		}
	}
	return h.goOn(to)
}

// anew makes a message of one kind.
func (h *hostile) anew(kind int) message.Message {
	var m message.Message
	f := reflect.ValueOf(&m).Elem().Field(kind)
	f.Set(reflect.New(f.Type().Elem()))
	h.g.fill(f.Elem(), "", 0)
	return m
}

func (h *hostile) replayed() (message.Message, bool) {
	frame := h.frames.any(h.rng)
	if frame == nil {
		return message.Message{}, false
	}
	out, err := message.DecodeFrame(frame)
	if err != nil || len(out) == 0 {
		return message.Message{}, false
	}
	return out[0], true
}

// mutate makes some of a message's parts anew, and takes from its lists or adds to them.
func (h *hostile) mutate(m *message.Message) {
	type at struct {
		v     reflect.Value
		field string
	}
	var parts []at
	walk(reflect.ValueOf(m), "", func(v reflect.Value, field string) {
		if v.CanSet() {
			parts = append(parts, at{v, field})
		}
	})
	if len(parts) == 0 {
		return
	}
	for range 1 + h.rng.IntN(3) {
		p := parts[h.rng.IntN(len(parts))]
		if p.v.Kind() == reflect.Slice && p.v.Type() != bytesType && p.v.Len() > 0 && h.rng.IntN(2) == 0 {
			p.v.Set(reflect.Append(p.v.Slice(0, p.v.Len()-1), p.v.Index(h.rng.IntN(p.v.Len()))))
			continue
		}
		h.g.fill(p.v, p.field, 1)
	}
}

// goOn makes a message that fits what others wait for, or are likely to hear.
func (h *hostile) goOn(to task.PeerID) message.Message {
	g, epoch := h.g, h.epochNow()
	if h.lead > 0 && h.rng.IntN(4) == 0 {
		return h.answer(to, h.lead)
	}
	switch h.rng.IntN(11) {
	case 0, 1, 2: // the end of a task, as a worker tells it
		id := g.task()
		return message.Message{Report: &message.Report{Epoch: epoch, Slots: h.slots, Full: h.rng.IntN(2) == 0, Born: 1,
			Ended: []message.Ending{{Attempt: g.attempt(), Result: g.result(id)}}}}
	case 3: // a lease that is held
		id := g.task()
		return message.Message{Report: &message.Report{Epoch: epoch, Slots: h.slots, Full: h.rng.IntN(2) == 0, Born: 1,
			Hands: true, Held: []message.Held{{Task: id, Attempt: g.attempt(), Running: h.rng.IntN(2) == 0,
				After: pick(h.rng, message.Attempt{}, g.attempt()), Receipt: g.receipt(id), Bad: g.badWord(id)}}}}
	case 9: // a state of a task
		id := g.task()
		if row, err := (&ledger.Row{Best: g.state(id)}).Encode(); err == nil && h.rng.IntN(2) == 0 {
			return message.Message{Known: &message.Known{Epoch: epoch, Session: 1, Seq: 1,
				Pairs: []message.Pair{{Key: ledger.RowKey(id), Value: row}}}}
		}
		return message.Message{Report: &message.Report{Epoch: epoch, Slots: h.slots, Born: 1,
			Saved: []message.SavedState{{Task: id, Attempt: g.attempt(), Checkpoint: *g.state(id)}}}}
	case 4, 5: // what a copy has
		w := h.wanted.any(h.rng)
		k := &message.Known{Epoch: epoch, Session: max(w.Session, 1), Seq: w.Seq + 1, Last: h.rng.IntN(4) == 0}
		for range h.rng.IntN(3) {
			k.Pairs = append(k.Pairs, g.pair())
		}
		return message.Message{Known: k}
	case 6: // how far a follower is
		c := h.copies.any(h.rng)
		return message.Message{Copied: &message.Copied{Epoch: epoch, Session: c.Session, Seq: c.Seq,
			Gap: h.rng.IntN(4) == 0}}
	case 7:
		return h.answer(to, epoch)
	case 8: // a job
		return message.Message{Submit: &message.Submit{Record: g.records.any(h.rng), Accepted: h.rng.IntN(2) == 0}}
	}
	id := g.task()
	return message.Message{Progress: &message.Progress{Job: id.Job, Tasks: []message.TaskSummary{{Index: id.Index,
		Failed: h.rng.IntN(4) == 0, Results: []task.Result{g.result(id)}}}}}
}

// answer is what a leader says to a replica, by what that said last.
func (h *hostile) answer(to task.PeerID, epoch uint64) message.Message {
	k := h.known[to]
	if h.rng.IntN(2) == 0 {
		return message.Message{Wanted: &message.Wanted{Epoch: epoch, Session: k.Session, Seq: k.Seq,
			Done: h.rng.IntN(2) == 0, Follow: h.rng.IntN(2) == 0}}
	}
	c := &message.Copy{Epoch: epoch, Session: k.Session, Seq: h.copied[to] + 1}
	for range h.rng.IntN(3) {
		c.Pairs = append(c.Pairs, h.g.pair())
	}
	if h.rng.IntN(2) == 0 {
		var rows message.RowWriter
		for range h.rng.IntN(3) {
			rows.Add(h.g.task(), h.g.pair().Value)
		}
		c.Runs, c.Names = rows.Take()
	}
	return message.Message{Copy: c}
}

// epochNow is the one that the swarm is in, mostly.
func (h *hostile) epochNow() uint64 {
	if l := h.s.leader(); l != nil && h.rng.IntN(8) > 0 {
		_, e := l.m.lease.Leader()
		return e
	}
	if h.lead > 0 {
		return h.lead
	}
	return h.g.epoch()
}

// newHostile returns a member that has sent nothing yet.
func newHostile(g *gang, p part) *hostile {
	h := &hostile{s: g.s, gang: g, rng: g.rng, part: p, known: map[task.PeerID]message.Known{},
		copied: map[task.PeerID]uint64{}}
	h.g = &values{rng: g.rng, now: func() time.Time { return g.s.now }, overlay: g.s.manifest.ID()}
	n := 1
	if p == stranger {
		n = 3
	}
	for len(h.g.ids) < n {
		key, id := newKey(g.rng)
		if p == leading && !g.s.firstOf(id) || p == borrowing && !otherHalf(g.s.manifest.ID(), id) {
			continue
		}
		h.g.keys, h.g.ids = append(h.g.keys, key), append(h.g.ids, id)
		h.g.peers.put(id)
	}
	if p == leased || p == leading {
		h.slots = 2
	}
	return h
}

// newKey returns a new identity.
func newKey(rng *rand.Rand) (ed25519.PrivateKey, task.PeerID) {
	var seed [ed25519.SeedSize]byte
	for i := range seed {
		seed[i] = byte(rng.Uint32())
	}
	key := ed25519.NewKeyFromSeed(seed[:])
	return key, task.PeerIDOf(key.Public().(ed25519.PublicKey))
}

// firstOf reports whether the draw has a peer before all hosts, where they lack the same.
func (s *swarm) firstOf(id task.PeerID) bool {
	all := []overlay.Candidate{{Peer: id, Weight: 1}}
	for _, o := range s.hosts {
		all = append(all, overlay.Candidate{Peer: o.id, Weight: 1})
	}
	return overlay.Order(s.manifest.ID(), all)[0] == id
}
