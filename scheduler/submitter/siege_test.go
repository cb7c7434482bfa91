package submitter

import (
	"crypto/ed25519"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"godwit/credibility"
	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// Numbers of the identities in a siege. The submitter is 1.
const (
	siegeLeader   = 1000 // leads the submitter's own cell
	siegeBorrower = 1100 // leads the other cell
	siegeHonest   = 2000 // the first honest worker
	siegeKeys     = 5000 // the attacker's first key
)

const (
	siegeTurn   = 50   // results that a leader delivers per turn
	siegeAudits = 5    // re-runs that the submitter's machine completes per turn
	siegeRounds = 1200 // turns after which a job counts as stalled; most take a second of the job
	siegeIdle   = 30   // turns after which a job that only waits for its owner ends
	siegeVain   = 120  // turns after which a job ends that waits for its owner while leaders bring nothing usable
	// siegeRun is the time that a task really takes on every machine.
	siegeRun = time.Second
)

// An attack describes the attacker of a siege and the job under attack. Every result of the attacker has a real
// lease: its leader leads, and its workers are members.
type attack struct {
	name   string
	tasks  uint64
	verify string
	change func(*task.Job) // nil if verify says everything
	lends  bool            // the submitter's machine lends a core

	honest int  // honest workers
	known  bool // the submitter has checked the honest workers for months
	keys   int  // worker keys of the attacker
	each   int  // results per key; 0 means until the submitter refuses the key
	votes  bool // all keys lend slots, so that the submitter can draw them for re-runs

	leads    bool // the attacker leads the submitter's cell
	borrows  bool // the attacker leads another cell, which borrows tasks
	share    int  // percentage of the tasks that the attacker's workers get
	truthful bool // the attacker's workers lie only in re-runs
	halves   bool // the attacker's workers are right in every second result
	garbage  bool // the borrower also answers re-runs of the home cell, with failures that nobody signed
	claims   time.Duration
	engine   string // in every trail of the attacker; "" means that no result has a trail
	alike    bool   // the honest workers use the attacker's engine
}

// A siege is a submitter with one job under attack. The leaders are other nodes, and a simulated machine answers
// the submitter's own re-runs correctly.
type siege struct {
	*auditBench
	attack
	rng     *rand.Rand
	leaders []*siegeCell
	key     int         // the attacker's key in use
	used    map[int]int // results per key of the attacker
	refused map[task.PeerID]bool
	seq     uint64
	crew    map[int]siegePeer // every identity
	workers []task.PeerID     // that lend slots now; nil if the key in use has changed
	peers   []task.PeerID

	own    map[uint64]bool // tasks that ran here again
	alone  int             // tasks that ran here because nothing usable came of them
	slow   int             // interpreted runs here
	rounds int
}

// A siegePeer is an identity, which is costly to derive.
type siegePeer struct {
	key  ed25519.PrivateKey
	peer task.PeerID
}

// A siegeCell is a leader and the last word that it got from the submitter.
type siegeCell struct {
	key     ed25519.PrivateKey
	peer    task.PeerID
	hostile bool
	told    bool
	have    ledger.Set
	again   map[uint64]message.Again
	brought uint64
}

func newSiege(tb testing.TB, a attack, seed uint64) *siege {
	b := &siege{auditBench: &auditBench{subBench: newSubBench(tb)}, attack: a, rng: rand.New(rand.NewPCG(seed, a.tasks)),
		used: map[int]int{}, crew: map[int]siegePeer{}, refused: map[task.PeerID]bool{}, own: map[uint64]bool{}}
	b.addLeader(siegeLeader, a.leads)
	if a.borrows {
		b.addLeader(siegeBorrower, true)
	}
	b.subBench.lends = a.lends
	b.s.cfg = Default()
	b.s.cfg.Receipts, b.s.cfg.Unaided, b.s.cfg.Where, b.s.cfg.Coordinators = true, true, b, b
	b.now = b.now.Add(-time.Hour) // the machine's rules are settled before the job begins
	b.restart()
	b.now = b.now.Add(time.Hour)
	for n := range a.honest {
		if w := b.peer(siegeHonest + n); a.known {
			*b.s.audits.credit(w) = credibility.Credit{Known: 20, At: b.now, Audits: 20, First: b.now.AddDate(0, -6, 0)}
			b.s.audits.noteFirst(b.now.AddDate(0, -6, 0))
		}
	}
	b.act(message.LeaderChanged{Leader: b.leaders[0].peer, Epoch: 2})
	b.offer()
	return b
}

func (b *siege) addLeader(n int, hostile bool) {
	p := b.identity(n)
	b.leaders = append(b.leaders, &siegeCell{key: p.key, peer: p.peer, hostile: hostile,
		again: map[uint64]message.Again{}})
}

func (b *siege) offer() {
	v, err := task.ParseVerify(b.verify)
	if err != nil {
		b.tb.Fatal(err)
	}
	rec := schedtest.Job(b.tb, b.subBench.key, b.tasks, func(j *task.Job) {
		j.Verify, j.Submitted = v, task.At(b.now)
		if b.change != nil {
			b.change(j)
		}
	})
	b.id = rec.ID()
	b.act(message.Offer{Record: rec})
	b.act(&message.Received{From: b.leaders[0].peer, Message: &message.Message{Accepted: &message.Accepted{Job: b.id}}})
	b.tellCells()
}

// tellCells reports the attacker's cell, which claims four times the slots of the submitter's own.
func (b *siege) tellCells() {
	if b.borrows {
		b.act(message.CellsAre{Slots: 2 * b.honest, Others: []message.CellLoad{{Leader: b.leaders[1].peer, Cell: "1",
			Slots: 8 * b.honest, Idle: 8 * b.honest}}})
	}
}

// Group implements Coordinators, and the next methods implement Map.
func (b *siege) Group() []task.PeerID { return []task.PeerID{b.leaders[0].peer} }

func (b *siege) Workers() []task.PeerID {
	if b.workers == nil {
		for n := range b.honest {
			b.workers = append(b.workers, b.peer(siegeHonest+n))
		}
		for n := range b.keys {
			if b.votes || n == b.key {
				b.workers = append(b.workers, b.peer(siegeKeys+n))
			}
		}
		slices.Sort(b.workers)
	}
	return b.workers
}

func (b *siege) Peers() []task.PeerID {
	if b.peers == nil {
		for n := range b.keys {
			b.peers = append(b.peers, b.peer(siegeKeys+n))
		}
		for n := range b.honest {
			b.peers = append(b.peers, b.peer(siegeHonest+n))
		}
		slices.Sort(b.peers)
	}
	return b.peers
}

// identity returns the key and ID of a peer by its number.
func (b *siege) identity(n int) siegePeer {
	p, known := b.crew[n]
	if !known {
		p.key, p.peer = schedtest.Identity(n)
		b.crew[n] = p
	}
	return p
}

func (b *siege) peer(n int) task.PeerID { return b.identity(n).peer }

// Network puts every peer into a network of its own, which is the attacker's best case.
func (b *siege) Network(w task.PeerID) string { return "net " + string(w) }

// act takes a step and delivers its messages.
func (b *siege) act(ev message.Event) {
	b.do(ev)
	for _, e := range b.last {
		switch e := e.(type) {
		case message.Send:
			b.hear(e)
		case message.Examine:
			held := b.held(e.Task.Index)
			b.act(message.Examined{Task: e.Task, Held: held,
				Meets: len(held.Results) > 0 && strings.Contains(textOf(&held), siegeHit)})
		}
	}
}

func (b *siege) hear(e message.Send) {
	for _, l := range b.leaders {
		if l.peer != e.To {
			continue
		}
		switch m := &e.Message; {
		case m.Submit != nil:
			l.told, l.have = true, slices.Clone(m.Submit.Have)
			clear(l.again)
			b.hearAgain(l, m.Submit.Again, m.Submit.Refused)
		case m.Got != nil && !m.Got.Asks:
			l.told, l.have = true, slices.Clone(m.Got.Have)
			b.hearAgain(l, m.Got.Again, m.Got.Refused)
		}
	}
}

func (b *siege) hearAgain(l *siegeCell, again []message.Again, refused []task.PeerID) {
	for _, a := range again {
		l.again[a.Index] = a
	}
	for _, w := range refused {
		b.refused[w] = true
	}
}

// run plays the siege until the job is delivered, waits for its owner or stalls.
func (b *siege) run() {
	idle, vain, held := 0, 0, uint64(0)
	for b.rounds = 1; b.rounds <= siegeRounds && !b.over() && idle < siegeIdle && vain < siegeVain; b.rounds++ {
		busy := false
		for _, l := range b.leaders {
			busy = b.turn(l) || busy
		}
		if b.garbage {
			b.disturb()
		}
		busy = b.works() || busy
		if at, ok := b.s.NextWake(); !busy && ok && at.After(b.now) {
			b.now = at
		} else {
			b.now = b.now.Add(siegeRun)
		}
		b.act(message.Wake{})
		asks, holds := b.asksOwner(), b.s.jobs[b.id].have.Count()
		if idle++; busy || !asks {
			idle = 0
		}
		if vain++; holds != held || !asks {
			vain, held = 0, holds
		}
	}
}

// asksOwner reports whether the job waits for its owner: to allow more checks, or to lend a core for tasks of which a
// leader delivers nothing usable.
func (b *siege) asksOwner() bool {
	st, _ := b.s.Job(b.id)
	return strings.Contains(st.Reason, "`godwit verify`") || strings.Contains(st.Reason, "too little came of the job")
}

// over reports whether the owner has every result and nothing is left to check.
func (b *siege) over() bool {
	st, known := b.s.Job(b.id)
	return known && st.Final && (st.Checks == nil || st.Checks.Delivered)
}

// turn delivers a leader's next results and reports whether it had any.
func (b *siege) turn(l *siegeCell) bool {
	if !l.told {
		return false
	}
	p := &message.Progress{Job: b.id}
	waits := uint64(0)
	for i := range b.tasks {
		if l.have.Contains(i) {
			continue
		}
		if waits++; len(p.Tasks) < siegeTurn {
			if t, ok := b.end(l, i); ok {
				p.Tasks = append(p.Tasks, t)
			}
		}
	}
	if len(p.Tasks) == 0 && l.brought > 0 {
		return false
	}
	l.brought += uint64(len(p.Tasks))
	waits -= uint64(len(p.Tasks))
	p.Summary = message.JobSummary{State: message.JobRunning, Total: b.tasks, Done: b.tasks - waits, Waiting: waits}
	b.act(&message.Received{From: l.peer, Message: &message.Message{Progress: p}})
	return len(p.Tasks) > 0
}

// disturb has the borrower answer the re-runs that only the home cell was asked for.
func (b *siege) disturb() {
	p := &message.Progress{Job: b.id, Summary: message.JobSummary{State: message.JobRunning, Total: b.tasks}}
	for i := range b.leaders[0].again {
		if len(p.Tasks) < siegeTurn && !b.leaders[0].have.Contains(i) {
			p.Tasks = append(p.Tasks, message.TaskSummary{Index: i, Failed: true, Reason: "garbage"})
		}
	}
	if len(p.Tasks) > 0 {
		slices.SortFunc(p.Tasks, func(x, y message.TaskSummary) int { return int(x.Index) - int(y.Index) })
		b.act(&message.Received{From: b.leaders[1].peer, Message: &message.Message{Progress: p}})
	}
}

// works answers some of the re-runs that wait for the submitter's machine.
func (b *siege) works() bool {
	done := 0
	for ; done < siegeAudits && len(b.audits)+len(b.first) > 0; done++ {
		b.now = b.now.Add(siegeRun)
		if len(b.first) > 0 {
			a := b.first[0]
			b.first = b.first[1:]
			b.alone++
			b.act(message.Audited{Task: a.Task, First: true, Here: b.here(a)})
			continue
		}
		a := b.audits[0]
		b.audits = b.audits[1:]
		if b.givenUp(a) {
			continue
		}
		if b.own[a.Task.Index] = true; a.Interpreted {
			b.slow++
		}
		ev := message.Audited{Task: a.Task, Interpreted: a.Interpreted, StopAt: a.StopAt, Held: b.held(a.Task.Index),
			Here: b.here(a)}
		for _, key := range OtherKeys(a.Task) {
			if value := b.disk[key]; value != nil {
				r, err := DecodeOther(value)
				if err != nil {
					b.tb.Fatal(err)
				}
				ev.Others = append(ev.Others, r)
			}
		}
		b.act(ev)
	}
	return done > 0
}

// here is the correct result of a run on the submitter's machine.
func (b *siege) here(a message.Audit) task.Result {
	r := schedtest.Result(b.tb, b.subBench.key, a.Task, b.right(a.Task.Index))
	r.Wall = siegeRun
	if b.engine != "" {
		r.Trail = &task.Trail{Pass: 1, Fuel: 100, Engine: "amd64"}
		if a.Interpreted {
			r.Trail.Engine = task.EngineInterpreter
		}
	}
	if err := r.Sign(b.subBench.key); err != nil {
		b.tb.Fatal(err)
	}
	return r
}

// siegeHit marks results that meet the job's condition.
const siegeHit = "hit"

// right is the correct output of a task. Every fiftieth meets the job's condition.
func (b *siege) right(i uint64) string {
	if i%50 == 7 {
		return truth + " " + siegeHit
	}
	return truth
}

func textOf(t *message.TaskSummary) string {
	if t.Failed || len(t.Results) == 0 || len(t.Results[0].Outputs) == 0 {
		return "failed"
	}
	return string(t.Results[0].Outputs[0].Inline)
}
