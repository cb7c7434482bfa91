package swarm

import (
	"crypto/ed25519"
	"iter"
	"slices"
	"strings"
	"time"

	"godwit/overlay"
	"godwit/predictor"
	"godwit/scheduler"
	"godwit/scheduler/message"
	"godwit/scheduler/submitter"
	"godwit/scheduler/worker"
	"godwit/task"
	"godwit/trace"
)

type peerID = task.PeerID

// A machine is one of the scheduler's.
type machine interface {
	Step(now time.Time, ev message.Event) []message.Effect
	NextWake() (time.Time, bool)
}

// A pending effect waits for the end of its turn. One field is set.
type pending struct {
	effect message.Effect
	from   machine // of effect
	advert *overlay.Advert
	lease  overlay.LeaseEffect
}

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
	told    message.OwnerState // what the worker heard last
	moveAt  time.Time          // when runs that stand still go elsewhere; zero for never
	moved   bool               // that time has come, and they stand still yet
	runs    []*run             // in the order begun
	takes   map[attemptName]*take

	view       *overlay.View
	away       map[peerID]overlay.Advert // newest adverts of lost members
	expiry     time.Time                 // not after the first advert's end
	suspicion  *overlay.Suspicion
	judgeAt    time.Time       // when the suspicion wants to be ticked; zero for never
	judgeAgain bool            // it may have changed
	linked     []int           // by node: the life with which there is a connection; 0 for none
	lastTo     []time.Duration // by node: when the last message gets there
	pooled     time.Time
	advertised overlay.Advert
	nextAdvert time.Time
	advertSeq  uint64

	lease       *overlay.Lease
	leaseAt     time.Time // when it wants to be ticked
	leaseAgain  bool      // it may have changed
	levels      overlay.Levels
	coordinator *scheduler.Coordinator // while it leads
	replica     *scheduler.Replica     // while it does not
	worker      *worker.Worker
	submitter   *submitter.Submitter
	leader      message.LeaderChanged // as the machines heard last
	followers   []peerID              // as the coordinator heard last
	regroupAt   time.Time
	regrouped   time.Time
	leaving     bool
	leaveBy     time.Time
	leaveMost   time.Time

	pending []pending
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
	n.up, n.refuses, n.leaving, n.moved, n.leaveBy = true, false, false, false, time.Time{}
	n.life++
	n.wakeAt, n.moveAt = time.Time{}, time.Time{}
	n.view = overlay.NewView(w.overlay)
	n.view.SetManifest(w.manifest)
	n.away, n.expiry = map[peerID]overlay.Advert{}, time.Time{}
	n.suspicion, n.judgeAt, n.judgeAgain = overlay.NewSuspicion(n.id), time.Time{}, false
	clear(n.linked)
	n.told = message.OwnerState{}
	n.pooled, n.advertised, n.nextAdvert = time.Time{}, overlay.Advert{}, w.clock
	n.leader, n.followers = message.LeaderChanged{}, nil
	n.levels = overlay.Levels{}
	cfg := w.cfg
	n.worker, n.submitter = worker.New(n.id, cfg.Timing, cfg.Worker), submitter.New(n.id, cfg.Timing, cfg.Submitter, n.key)
	n.coordinator, n.replica = nil, scheduler.NewReplica(n.id, cfg)
	n.turn(func() {
		w.note(n.submitter.Restore(n.scan))
		w.note(n.worker.Restore(n.kept("w/")))
		effects, err := n.replica.Restore(n.kept("c/"))
		w.note(err)
		n.do(n.replica, effects)
		n.lease, n.leaseAgain = overlay.NewLease(n.id, max(n.keptEpoch(), n.replica.Epoch()), w.clock), true
		n.regroupAt, n.regrouped = w.clock, time.Time{}
		n.decided()
		n.wake()
		if w.opt.Found && w.stats.Leaders == 0 {
			n.obey(n.lease.Found(w.clock))
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
	n.leaving, n.leaveBy, n.leaveMost = true, n.w.clock.Add(goodbyeTime), n.w.clock.Add(goodbyeMost)
	if n.w.hands() {
		n.turn(n.shareOut) // the leader hears of it first, and says where they go
	}
	n.turn(func() {
		n.endRuns("its host is going", died)
		n.shareOut()
		n.catchUp()
		n.obey(n.lease.Goodbye(n.w.clock))
		n.advertise()
	})
}

// The times of a goodbye, as of a live node: what it takes at most, and how long
// one with nothing to hand over stays.
const (
	goodbyeTime   = 2 * time.Second
	goodbyeMost   = 10 * time.Second // while tasks are on their way or saved
	goodbyeOrder  = goodbyeTime / 4
	goodbyeLinger = 50 * time.Millisecond
)

// onTheWay says whether a run is being handed over from here, or saved to end.
func (n *node) onTheWay() bool {
	return slices.ContainsFunc(n.runs, func(r *run) bool { return r.give != nil || r.then != nil })
}

// leaveLater has a node that leaves stay until what it has just saved is fetched,
// as a live one does.
func (n *node) leaveLater() {
	if by := n.w.clock.Add(goodbyeTime); n.leaving && by.After(n.leaveBy) {
		n.leaveBy = by
		if by.After(n.leaveMost) {
			n.leaveBy = n.leaveMost
		}
	}
}

// lingersUntil is when a node that leaves may go at the earliest.
func (n *node) lingersUntil() time.Time { return n.leaveMost.Add(goodbyeLinger - goodbyeMost) }

// hasLeft says whether a node that said goodbye may go.
func (n *node) hasLeft() bool {
	switch {
	case !n.leaving:
		return false
	case !n.w.clock.Before(n.leaveMost), !n.w.clock.Before(n.leaveBy) && !n.onTheWay():
		return true
	case n.coordinator != nil || n.w.clock.Before(n.lingersUntil()):
		return false
	}
	running, queued, unacked := n.worker.Load()
	return running+queued == 0 && (unacked == 0 || len(n.view.Members()) <= 1)
}

// leave ends a node that has said goodbye.
func (n *node) leave() {
	for _, e := range n.worker.Keep() {
		if p, ok := e.(message.Persist); ok {
			n.persist(p)
		}
	}
	n.down()
	n.refuses = !n.w.opt.Walled
	n.disconnect(n.w.s.Network.Delay)
}
