package swarm

import (
	"crypto/ed25519"
	"iter"
	"slices"
	"strings"
	"time"

	"godwit/member"
	"godwit/predictor"
	"godwit/scheduler/message"
	"godwit/task"
	"godwit/trace"
)

type peerID = task.PeerID

// A machine is one of the scheduler's.
type machine = member.Machine

// A node is one machine of the overlay, with all that package node has of it.
type node struct {
	w     *world
	index int
	key   ed25519.PrivateKey
	id    peerID
	host  *trace.Host // nil of one that only submits
	site  string      // "" for none

	// What outlives it: disk holds its machines' pairs, blocks what it has of
	// jobs and checkpoints, recorder its history.
	disk     map[string][]byte
	blocks   map[task.CID]bool
	recorder *predictor.Recorder
	pool     *predictor.Pool

	up      bool
	refuses bool // while it is down: its machine is there and turns dials down
	life    int  // counts starts
	spell   host // what the trace says of it
	owner   message.OwnerState
	moveAt  time.Time // when runs that stand still go elsewhere; zero for never
	moved   bool      // that time has come, and they stand still yet
	runs    []*run    // in the order begun
	takes   map[attemptName]*take

	peer   *member.Peer
	m      *member.Member
	linked []int           // by node: the life with which there is a connection; 0 for none
	lastTo []time.Duration // by node: when the last message gets there

	pending []member.Effect // of this turn, not carried out yet
	spare   []member.Effect // memory for the next
	own     []message.Message
	lines   []line
	turning bool
	wakeAt  time.Time
}

// A line is what one turn has to say to one peer.
type line struct {
	to       *node
	messages []message.Message
}

// boot starts a node from its disk.
func (n *node) boot() {
	w := n.w
	n.takes = map[attemptName]*take{}
	n.up, n.refuses, n.moved = true, false, false
	n.life++
	n.wakeAt, n.moveAt = time.Time{}, time.Time{}
	clear(n.linked)
	n.peer = member.New(member.Config{
		Self: n.id, Key: n.key, Scheduler: w.cfg, World: view{n}, Pool: n.pool, Draw: w.adverts.Float64,
		Unsigned: true, Lazy: true, Experiment: member.Experiment{Rules: &w.cfg.Rules, Coordinators: w.opt.Coordinators},
	}, w.clock)
	n.m = member.NewMember(n.peer, w.manifest, nil, w.cfg)
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
	n.recorder.Observe(n.w.clock, trace.Unavailable)
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

// leaving reports whether the node has said goodbye.
func (n *node) leaving() bool { return n.peer.Leaves() }

// onTheWay reports whether a run is being handed over from here, or saved to end.
func (n *node) onTheWay() bool {
	return slices.ContainsFunc(n.runs, func(r *run) bool { return r.give != nil || r.then != nil })
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
