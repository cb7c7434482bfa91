package swarm

import (
	"iter"
	"slices"
	"strings"
	"time"

	"godwit/member"
	"godwit/scheduler/message"
	"godwit/trace"
)

// boot starts a node from its disk.
func (n *node) boot() {
	w := n.w
	n.takes = map[attemptName]*take{}
	n.up, n.refuses, n.moved, n.there.up = true, false, false, w.now
	n.life++
	n.woken = n.waking()
	n.said, n.read = nil, reading{}
	n.wakeAt, n.moveAt = time.Time{}, time.Time{}
	n.cutAll()
	n.peer = member.New(member.Config{
		Self: n.id, Key: n.key, Scheduler: w.cfg, World: view{n}, Pool: n.pool,
		Draw:     w.opt.Script.drawOf(n.index, w.adverts.Float64),
		Unsigned: !w.opt.Signed, SignResult: n.signResult(), Lazy: true, Cells: w.opt.Cells,
		Experiment: member.Experiment{Rules: &w.cfg.Rules, Coordinators: w.opt.Coordinators},
	}, w.clock)
	n.m = member.NewMember(n.peer, w.manifest, nil, w.cfg)
	if w.opt.Cells.On() {
		n.m.Begin(cellNet{n}.firstCell())
	}
	n.turn(func() {
		n.at(func() {
			_, err := n.m.Restore(func(prefix string) (map[string][]byte, error) { return n.kept(prefix), nil }, n.scan)
			w.note(err)
			n.peer.Enter(n.m)
		})
		n.decided()
		n.wake()
		if w.opt.Found && w.stats.Leaders == 0 {
			n.at(n.m.Found)
		}
	})
	n.connect()
	w.handOver()
}

func (n *node) kept(prefix string) map[string][]byte {
	out := map[string][]byte{}
	for k, v := range n.disk {
		if strings.HasPrefix(k, prefix) {
			out[k] = v
		}
	}
	return out
}

func (n *node) scan(prefix string) iter.Seq2[string, []byte] {
	pairs := n.kept(prefix)
	keys := make([]string, 0, len(pairs))
	for k := range pairs {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return func(yield func(string, []byte) bool) {
		for _, k := range keys {
			if !yield(k, pairs[k]) {
				return
			}
		}
	}
}

// down ends the node as it is.
func (n *node) down() {
	for _, r := range n.runs {
		r.settle()
		r.over = true
		if g := r.give; g != nil && g.to.runOf(g.e.Task, g.e.As) != nil {
			n.w.lost(r, "", moved) // it has arrived there, of which this node has not heard
			r.give = nil
			continue
		} else if g != nil {
			g.breakOff(n.w.s.Network.Detect)
		}
		n.w.lost(r, "its host is gone", died)
	}
	n.runs, n.pending, n.own, n.lines = nil, nil, nil, nil
	n.up = false
	n.w.ends(&n.there.up, &n.w.stats.Up)
	n.w.ends(&n.there.leads, &n.w.stats.Led)
	n.saw(n.w.clock, trace.Unavailable)
}

// crash ends the node silently.
func (n *node) crash() {
	n.down()
	n.disconnect(n.w.s.Network.Detect)
}

// goodbye has the node say that it goes; it ends once it may.
func (n *node) goodbye() {
	n.at(n.peer.Leave)
	if n.w.hands() {
		n.turn(func() { n.at(n.m.Depart) }) // the leader hears of it first, and says where they go
	}
	n.turn(func() {
		n.endRuns("its host is going", died)
		n.at(n.m.Depart)
		n.at(n.m.Goodbye)
	})
}

// leave ends a node that has said goodbye.
func (n *node) leave() {
	for _, e := range n.m.Worker().Keep() {
		if p, ok := e.(message.Persist); ok {
			n.persist(p)
		}
	}
	n.down()
	n.refuses = !n.w.opt.Walled
	n.disconnect(n.w.s.Network.Delay)
}
