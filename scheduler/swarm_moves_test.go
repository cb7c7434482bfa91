package scheduler

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"godwit/migrate"
	"godwit/scheduler/leasing"
	"godwit/scheduler/message"
	"godwit/task"
)

// TestSwarmMoves does what TestSwarmChaos does while tasks are moved at random,
// some of which cannot be saved, or whose workers say nothing. All promises hold,
// and no two replicas come to one worker.
func TestSwarmMoves(t *testing.T) {
	moved := 0
	for seed := range uint64(movingSeeds) {
		if ok := t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) { moved += swarmChaos(t, seed, true).moved }); !ok {
			return
		}
	}
	if moved < movingSeeds/4 {
		t.Errorf("%d tasks moved in %d runs: it tests little", moved, movingSeeds)
	}
	t.Logf("%d tasks moved in %d runs", moved, movingSeeds)
}

// save ends an attempt with its state; one in eight cannot be saved, and one in
// eight says nothing.
func (n *simNode) save(id task.TaskID, a message.Attempt) {
	run := n.runs[message.AttemptName{Task: id, Attempt: a}]
	if run == nil {
		return
	}
	luck := n.s.rng.IntN(8)
	if n.s.exact {
		luck = 7
	}
	switch luck {
	case 0:
		n.step(message.NotSaved{Task: id, Attempt: a, Reason: "no luck"})
		return
	case 1:
		return
	}
	state := n.saved(message.AttemptName{Task: id, Attempt: a}, run)
	n.step(message.Checkpointed{Task: id, Attempt: a, Checkpoint: state})
	n.end(id, a, task.Result{Outcome: task.Interrupted})
}

// restless is a policy of migration by which about half of the members that run
// anything are to be left each second.
type restless struct{}

func (restless) Scan(_ time.Time, hosts []migrate.Host, _ migrate.Forecast, rng *rand.Rand) []migrate.Prediction {
	var out []migrate.Prediction
	for i := range hosts {
		if len(hosts[i].Tasks) > 0 {
			out = append(out, migrate.Prediction{Peer: hosts[i].Peer, Exit: rng.IntN(2) == 0, Reason: "restless"})
		}
	}
	return out
}

func (restless) Left(task.PeerID, time.Time) {}
func (restless) Period() time.Duration       { return time.Second }

var anywhere migrate.Policy = restless{}

// checkBooks looks at what a leader has booked.
func (n *simNode) checkBooks() {
	if n.coord == nil {
		return
	}
	load, recalls := map[*host]int{}, map[*host]int{}
	given := 0
	for _, j := range n.coord.table.jobs {
		for i, t := range j.live {
			n.checkLines(j, i, j.ledger.Rows[i])
			seen := map[task.PeerID]bool{}
			for _, l := range t.leases {
				if seen[l.host.peer] {
					n.s.tb.Fatalf("two leases of task %d are at %s", i, l.host.peer)
				}
				seen[l.host.peer] = true
				given++
				if m := l.move; m != nil && m.to != nil && !slices.Contains(m.to.coming, l) {
					n.s.tb.Fatalf("task %d moves to %s, which does not know it", i, m.to.peer)
				} else if m != nil && m.handsOver() && j.leaseAt(i, m.as) != nil {
					n.s.tb.Fatalf("both attempts of a hand-over of task %d count", i)
				}
				if l.is(leasing.Open) {
					load[l.host]++
				}
				if l.is(leasing.AskedBack) {
					recalls[l.host]++
				}
				n.s.checkState(l)
				if l.move != nil && l.move.to != nil {
					load[l.move.to]++
				}
			}
		}
	}
	for _, h := range n.coord.members.hosts {
		if h.load != load[h] || h.memoryUsed < 0 {
			n.s.tb.Fatalf("host %s: load %d, its leases and those on their way say %d; memory %d", h.peer, h.load, load[h],
				h.memoryUsed)
		}
		if h.recalls != recalls[h] {
			n.s.tb.Fatalf("host %s: %d leases are asked back, %d say so", h.peer, h.recalls, recalls[h])
		}
	}
	if given != n.coord.members.given {
		n.s.tb.Fatalf("%d leases on the books, counted as %d", given, n.coord.members.given)
	}
}

// fetchable says whether a block is here or at one of the holders.
func (n *simNode) fetchable(cid task.CID, holders []task.PeerID) bool {
	return n.blocks[cid] || slices.ContainsFunc(holders, func(p task.PeerID) bool {
		o := n.s.byID[p]
		return n.s.sees(n, o) && o.blocks[cid]
	})
}

// checkState fails where a lease's state and what is kept of it say two things.
func (s *groupSim) checkState(l *lease) {
	m := l.move
	switch {
	case l.state == leasing.Refused || l.state >= leasing.Over,
		l.is(leasing.Open) != (l.ending == nil),
		l.is(leasing.Open) && l.is(leasing.Moves) != (m != nil),
		l.is(leasing.HandsOver) && !m.handsOver(), l.is(leasing.Moves) && !l.is(leasing.HandsOver) && m.handsOver(),
		l.is(leasing.Awaits) && l.after == (message.Attempt{}):
		s.tb.Fatalf("a lease is %v: ending %v, move %+v, after %v", l.state, l.ending, m, l.after)
	}
}
