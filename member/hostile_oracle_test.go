package member

import (
	"fmt"
	"time"

	"godwit/overlay"
	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
)

// An oracle knows everything that really happened in a swarm: the granted leases, the delegated tasks and the leaders.
type oracle struct {
	leases  map[realLease]bool     // granted by honest leaders
	loans   map[realLoan]time.Time // when an honest submitter delegated a task
	led     map[uint64]task.PeerID // epochs in which an honest member followed a hostile one
	trusted map[task.PeerID]bool   // hostile peers that an honest member remembers as leaders or standing by
	known   map[task.PeerID]bool   // keys of hostile members that send adverts

	given  map[task.TaskID]bool       // tasks that hostile members got leases of
	helped map[task.JobID]bool        // jobs of which hostile members got leases or delegated tasks
	lied   map[task.PeerID]*honestJob // jobs with a wrong result of a hostile worker
	faults map[fault]bool             // proven faults
	finals map[task.JobID]int         // number of ends of a job
	tally  map[string]int             // events by which the reach of the test is judged
}

// A fault is a wrong result of a worker that was proven to a host.
type fault struct {
	to     *host
	worker task.PeerID
}

// A realLease is a lease that an honest leader granted.
type realLease struct {
	task   task.TaskID
	at     message.Attempt
	worker task.PeerID
}

// A realLoan is a task that an honest submitter delegated to the leader of another cell.
type realLoan struct {
	task task.TaskID
	to   task.PeerID
}

func newOracle() oracle {
	return oracle{leases: map[realLease]bool{}, loans: map[realLoan]time.Time{}, led: map[uint64]task.PeerID{},
		trusted: map[task.PeerID]bool{}, known: map[task.PeerID]bool{}, given: map[task.TaskID]bool{},
		helped: map[task.JobID]bool{}, lied: map[task.PeerID]*honestJob{},
		faults: map[fault]bool{}, finals: map[task.JobID]int{},
		tally: map[string]int{}}
}

// note records a message of an honest member.
func (g *gang) note(from, to task.PeerID, m *message.Message) {
	switch {
	case m.Place != nil:
		for i := range m.Place.Leases {
			l := &m.Place.Leases[i]
			g.leases[realLease{l.Task, l.Attempt, to}] = true
			if g.is(to) {
				g.given[l.Task], g.helped[l.Task.Job] = true, true
			}
		}
	case m.Got != nil && m.Got.Asks && g.is(to):
		g.tally["queries"]++
	case !g.is(to) || g.follows(from, to): // the leader of the sender's own cell is not delegated anything
	case m.Submit != nil:
		g.noteLoans(m.Submit.Record.ID(), to, m.Submit.Have)
	case m.Got != nil && !m.Got.Final && !m.Got.Asks:
		g.noteLoans(m.Got.Job, to, m.Got.Have)
	}
}

// follows reports whether a host follows a peer as the leader.
func (g *gang) follows(from, peer task.PeerID) bool {
	leader, _ := g.s.of(from).leader()
	return leader == peer
}

// noteLoans records the tasks of a job that a leader is to run: all that the submitter does not report as held.
func (g *gang) noteLoans(id task.JobID, to task.PeerID, have []message.Range) {
	spec := g.s.jobs[id]
	held, err := ledger.MakeSet(have)
	if spec == nil || err != nil {
		return
	}
	for i := range spec.Tasks() {
		loan := realLoan{task.TaskID{Job: id, Index: i}, to}
		if _, lent := g.loans[loan]; !lent && !held.Contains(i) {
			g.loans[loan], g.helped[id] = g.s.now, true
			g.tally["delegated tasks"]++
		}
	}
}

// look records which hostile peers honest members follow and remember.
func (g *gang) look() {
	for _, o := range g.s.hosts {
		if !o.up {
			continue
		}
		if leader, epoch := o.m.lease.Leader(); g.is(leader) {
			g.led[epoch] = leader
		}
		for _, id := range o.m.lease.Remembered() {
			if g.is(id) {
				g.trusted[id] = true
			}
		}
	}
}

// loanSkew is the difference between two clocks that a submitter tolerates in a receipt.
const loanSkew = 5 * time.Minute

// real returns nil if the worker of a result that a host holds really had a lease of the task.
func (g *gang) real(o *host, r *task.Result) error {
	l := r.Receipt
	switch {
	case l == nil && r.Worker == o.id: // the submitter ran the task itself
		return nil
	case l == nil:
		return fmt.Errorf("there is no receipt")
	case g.s.of(l.Leader).s != nil:
		if !g.leases[realLease{r.Task, message.Attempt{Epoch: l.Epoch, Seq: l.Seq}, r.Worker}] {
			return fmt.Errorf("no leader granted a lease of epoch %d", l.Epoch)
		}
		return nil
	case !g.is(l.Leader):
		return fmt.Errorf("the lease is by %s, who does not exist", l.Leader)
	}
	if at, lent := g.loans[realLoan{r.Task, l.Leader}]; lent && !time.UnixMilli(l.Issued).Add(loanSkew).Before(at) {
		return nil // the leader of the other cell answers for its workers
	}
	switch led := g.led[l.Epoch] == l.Leader || g.trusted[l.Leader] && bearsTag(l.Leader, l.Epoch); {
	case !led:
		return fmt.Errorf("the lease is by %v, who did not lead in epoch %d", g.of(l.Leader).part, l.Epoch)
	case !g.known[r.Worker] && g.s.of(r.Worker).s == nil && g.s.jobs[r.Task.Job].Verify == nil:
		return fmt.Errorf("the worker is no member, and nobody checks the result")
	}
	return nil
}

// bearsTag reports whether a peer can lead in an epoch.
func bearsTag(peer task.PeerID, epoch uint64) bool {
	const tag = 24 // bits
	return epoch>>tag > 0 && overlay.NextEpoch((epoch>>tag-1)<<tag, peer) == epoch
}
