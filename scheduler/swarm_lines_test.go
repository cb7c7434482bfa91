package scheduler

import (
	"crypto/sha256"
	"fmt"
	"testing"
	"time"

	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
)

// lying is what a simulation has of replicas that save, and of nodes that lie. Its states are
// vouched for as in life, so that results show whose states their runs went on from.
type lying struct {
	replicas int // that each job asks for; 0: nothing of this
	liars    map[*simNode]bool
	wrong    map[task.CID]bool // states that a liar left, or a run came to that went on from one
	resumed  int               // runs that went on from a state
	spoilt   int               // of these, from a wrong one
	agreed   int               // leases of a step that went on from a state on which replicas agree
}

// TestSwarmLiars does what TestSwarmChaos does while replicas are saved, moved and gone on from, and
// one node fewer than a job has replicas lies: its states and results are wrong, and all liars'
// alike. Every task ends, with the right result.
//
//	GODWIT_SEEDS=10000 go test ./scheduler -run TestSwarmLiars
func TestSwarmLiars(t *testing.T) {
	resumed, spoilt, agreed := 0, 0, 0
	// The first: a state that nobody has, a result that is told again, a move to where another goes, a
	// submitter whose leader was deposed while it did not see that, a run that was handed over after it
	// began without its state, and one that runs where another replica goes.
	seeds := []uint64{104, 574, 1484, 2333, 2540, 7854}
	for seed := range seedsAsked(t, lyingSeeds) {
		seeds = append(seeds, seed)
	}
	for _, seed := range seeds {
		if ok := t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
			replicas := 2 + int(seed%3)/2
			s := swarmChaosOf(t, seed, 3+2*(replicas-1), seed%2 == 0, newLying(replicas))
			resumed, spoilt, agreed = resumed+s.lies.resumed, spoilt+s.lies.spoilt, agreed+s.lies.agreed
		}); !ok {
			return
		}
	}
	t.Logf("%d runs went on from states, %d of them from wrong ones; %d looks at one from what replicas agree on", resumed,
		spoilt, agreed)
	if resumed < lyingSeeds/2 || spoilt < lyingSeeds/10 || agreed == 0 {
		t.Errorf("it tests little in %d seeds", len(seeds))
	}
}

// lyingSeeds is how many seeds TestSwarmLiars tries; GODWIT_SEEDS overrides it.
const lyingSeeds = movingSeeds / 3

func newLying(replicas int) func(s *groupSim) {
	return func(s *groupSim) {
		s.lies = lying{replicas: replicas, liars: map[*simNode]bool{}, wrong: map[task.CID]bool{}}
		for k := range replicas - 1 {
			s.lies.liars[s.nodes[len(s.nodes)-1-k]] = true
		}
	}
}

// saveOften has a run save now and then, while it lasts.
func (n *simNode) saveOften(name message.AttemptName, run *simRun) {
	if n.s.lies.replicas == 0 {
		return
	}
	n.s.after(n, n.s.work/8+time.Duration(n.s.rng.Int64N(int64(n.s.work)/4+1)), func() {
		if n.runs[name] != run || run.frozen {
			return
		}
		n.step(message.Checkpointed{Task: name.Task, Attempt: name.Attempt, Checkpoint: n.saved(name, run)})
		n.saveOften(name, run)
	})
}

// sayState has a state of a replica be as it is at its fuel. Every other one lies where others have one too: right ones
// are equal there, and so are those of liars, who lie from half of the task on.
func (n *simNode) sayState(name message.AttemptName, run *simRun, state *message.Checkpoint) {
	l := &n.s.lies
	if l.replicas == 0 {
		return
	}
	began, grid := uint64(0), uint64(n.s.work/8/time.Millisecond)
	if len(run.chain) > 0 {
		began = run.chain[0].Fuel
	}
	wrong, says := run.wrong || l.liars[n], fmt.Append(nil, name)
	if run.saves++; run.saves%2 == 0 && grid > 0 && state.Fuel/grid*grid > began {
		state.Fuel = state.Fuel / grid * grid
		wrong = run.wrong || l.liars[n] && state.Fuel >= 4*grid
		says = fmt.Append(nil, name.Task, wrong)
	}
	state.CID = task.RawCID(fmt.Append(says, state.Fuel))
	if wrong {
		l.wrong[state.CID] = true
	}
}

// vouch has a node answer for a state of an attempt, whose run has that chain.
func (n *simNode) vouch(name message.AttemptName, c *message.Checkpoint, chain []task.Link) {
	if n.s.lies.replicas == 0 {
		return
	}
	leader := n.s.nodes[0]
	r, err := task.NewReceipt(leader.key, leader.id, name.Task, n.id,
		task.Receipt{Epoch: name.Attempt.Epoch, Seq: name.Attempt.Seq})
	if err == nil {
		c.Before = chain[:min(len(chain), task.MaxChain-1)]
		c.Voucher, err = task.Vouch(n.key, r, c.ToVouch(name.Task, sha256.Sum256([]byte(c.CID)), chain))
	}
	if err != nil {
		n.s.tb.Fatal(err)
	}
}

// began notes what a run went on from.
func (n *simNode) began(run *simRun, from *message.Checkpoint) {
	if n.s.lies.replicas == 0 {
		return
	}
	run.chain, run.wrong = from.Chain(), n.s.lies.wrong[from.CID]
	if n.s.lies.resumed++; run.wrong {
		n.s.lies.spoilt++
	}
}

// lie has a result be what its run came to: a liar tells of the chain every other time.
func (n *simNode) lie(run *simRun, r *task.Result) {
	l := &n.s.lies
	if l.replicas == 0 || r.Outcome != task.Completed {
		return
	}
	if r.Trail = (&task.Trail{Pass: 1, Fuel: 1 << 40, Began: run.chain}); l.liars[n] && n.s.rng.IntN(2) == 0 {
		r.Trail.Began = nil
	}
	if l.liars[n] || run.wrong {
		out := fmt.Append(nil, "a lie about ", r.Task)
		r.Outputs = []task.Output{{Name: "stdout", CID: task.RawCID(out), Size: int64(len(out)), Inline: out}}
	}
}

// checkLines fails where two leases of a task go on from the same state, or results agree that are
// not independent.
func (n *simNode) checkLines(j *job, i uint64, row *ledger.Row) {
	if !j.replicated() {
		return
	}
	if row != nil && !task.Independent(row.Agreed()) {
		n.s.tb.Fatalf("results of task %d agree of which not all are independent", i)
	}
	from := map[string]bool{} // by the word on it: lines that are right have the same states
	for _, l := range j.live[i].leases {
		if s := l.saved.from; s != nil && s.Voucher != nil && len(s.With) > 0 {
			n.s.lies.agreed++
			if n.s.lies.wrong[s.CID] {
				n.s.tb.Fatalf("replicas of task %d, of whom too few lie, agree on a wrong state", i)
			}
		} else if s != nil && s.Voucher != nil {
			if from[string(s.Voucher.Signature)] {
				n.s.tb.Fatalf("two leases of task %d go on from one state", i)
			}
			from[string(s.Voucher.Signature)] = true
		}
	}
}
