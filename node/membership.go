package node

import (
	"context"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"godwit/internal/logging"
	"godwit/member"
	"godwit/overlay"
	"godwit/owner"
	"godwit/p2p"
	"godwit/scheduler/message"
)

// overlayPrefix is where what belongs to one overlay is kept, by its ID.
const overlayPrefix = "o/"

// foundWaitLAN is how long a node that only asks the local network waits for an
// answer before it leads alone: one there takes well under a second.
const foundWaitLAN = time.Second

// A membership is this node's part in one overlay. The loop owns it.
type membership struct {
	*member.Member
	meetings []overlay.Meeting // of tickets by which others find this node; at most maxMeetings
	all      *overlays
	id       overlay.ID
	prefix   string           // of its durable keys, the machines' own after it
	first    overlay.Manifest // version 0, for those who know none yet
	// admission is the rules, for the network's goroutines.
	admission atomic.Pointer[overlay.Manifest]
	share     float64 // of the slots, beside the other overlays', where the owner's rules say nothing; more than 0
	log       *slog.Logger
	copied    holding // what others are told of the ledger here
	decided   decided // by its machines here
}

// newMembership brings the machines back to what was durable, before the network
// hears of it.
func (o *overlays) newMembership(ctx context.Context, j joined) (*membership, error) {
	id := j.Manifest.ID()
	cfg := o.sched
	unknown, err := govern(&cfg, &j.Manifest)
	if err != nil {
		return nil, fmt.Errorf("overlay %s: %w", j.Manifest.Name, err)
	}
	if unknown != nil {
		o.log.Error("this node cannot follow the overlay's policy of migration: while it leads, no task moves", "overlay",
			j.Manifest.Name, "err", unknown)
	}
	m := &membership{
		Member: member.NewMember(o.peer, j.Manifest, j.Pass, cfg),
		all:    o, id: id, prefix: overlayPrefix + string(id) + "/", first: j.First, share: j.Share, meetings: j.Meetings,
		log: logging.In(o.log, logging.Overlay).With("overlay", j.Manifest.Name),
	}
	m.Driver = m
	return m, m.restore(ctx)
}

// restore gives the machines what was durable, and says when this node leads if it
// hears of nobody.
func (m *membership) restore(ctx context.Context) error {
	o := m.all
	load := func(prefix string) (map[string][]byte, error) { return o.store.load(ctx, m.prefix, prefix) }
	var damaged, failed error
	scan := func(prefix string) iter.Seq2[string, []byte] { return o.store.scan(ctx, m.prefix, prefix, &damaged) }
	o.at(func() {
		var alone bool
		if alone, failed = m.Restore(load, scan); failed != nil {
			return
		}
		switch {
		case !alone || len(o.cfg.Bootstrap) > 0 || o.cfg.met: // the lease says how long to wait
		case o.cfg.MDNS:
			m.FoundAt(o.now().Add(foundWaitLAN))
		default:
			m.FoundAt(o.now())
		}
	})
	if damaged != nil {
		return damaged
	}
	return failed
}

// step gives a machine an event that is its alone: the answer to an effect, or what
// this node's owner wants.
func (m *membership) step(to member.Machine, ev message.Event) {
	m.noteContent(ev)
	m.all.tell(member.Answered{Of: m.Member, To: to, Event: ev})
}

// weight is the overlay's share: the owner's rules win over what was said when
// it was joined.
func (m *membership) weight() float64 {
	if m.all.cfg.BootstrapNode {
		return 0
	}
	of := func(name string) int {
		return slices.IndexFunc(m.all.lending.weights, func(s owner.Share) bool { return s.Overlay == name })
	}
	i := of(string(m.id))
	if i < 0 {
		i = of(m.Manifest().Name)
	}
	if i < 0 {
		return m.share
	}
	return float64(m.all.lending.weights[i].Weight)
}

// network describes the overlay to the network, which asks for admission on
// goroutines of its own.
func (m *membership) network() p2p.Overlay {
	rules := *m.Manifest()
	m.admission.Store(&rules)
	return p2p.Overlay{ID: m.id, Closed: rules.Admission != overlay.Open, Admit: func(a *overlay.Advert) error {
		return m.admission.Load().Admits(a.Peer, a.Pass, a.Issued)
	}}
}
