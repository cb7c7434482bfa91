package virtual

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"godwit/credibility"
	"godwit/overlay"
	"godwit/scheduler/message"
	"godwit/sim/swarm"
	"godwit/task"
)

// An Outcome is what came of one run.
type Outcome struct {
	Variation Variation
	Succeeded string // how the attack succeeded, which ended the run; "" if it did not
	Right     int    // results of honest jobs that are right
	Wrong     int    // results of honest jobs that are wrong
	Lost      int    // tasks of honest jobs without a result at the end of the run
	Twice     int    // results that were delivered twice
}

// String describes an outcome in one line.
func (o *Outcome) String() string {
	if o.Succeeded != "" {
		return "the attack succeeded: " + o.Succeeded
	}
	return fmt.Sprintf("%d right, %d wrong, %d lost, %d twice", o.Right, o.Wrong, o.Lost, o.Twice)
}

// An attack is one row's lies.
type attack struct {
	v    Variation
	rng  *rand.Rand
	s    *swarm.Stage
	id   overlay.ID
	keys []ed25519.PrivateKey
	jobs []honest
	out  *Outcome

	// begin is called once the pool has a leader, at v.First.
	begin func()
	heard func(stranger int, from task.PeerID, m *message.Message)
	cells func(stranger int, by task.PeerID) []overlay.Summary
	// came is when the newcomer came; late is called some minutes after newcomers come.
	came time.Time
	late func()
	// judge is called after the run.
	judge func()
}

// An honest is a job of an honest owner.
type honest struct {
	at int // node
	id task.JobID
	v  task.Job
}

// poolName is the name of the attacked open pool.
const poolName = "commons"

// A play prepares an attack: it adds keys and sets the functions.
type play func(a *attack)

// run runs one variation of an attack.
func run(p play, v Variation, rng *rand.Rand) (*Outcome, error) {
	manifest, err := overlay.Named(poolName)
	if err != nil {
		return nil, err
	}
	out := &Outcome{Variation: v}
	a := &attack{v: v, rng: rng, id: manifest.ID(), out: out}
	p(a)
	out.Variation, v = a.v, a.v
	scenario, err := v.scenario()
	if err != nil {
		return nil, err
	}
	attack := &swarm.Attack{Keys: a.keys, Begin: func(s *swarm.Stage) {
		a.s = s
		s.After(v.First, a.begin)
		if a.late != nil {
			s.After(v.comes()+lateAfter, a.late)
		}
	}, Apart: v.Apart}
	if a.heard != nil {
		attack.Heard = func(_ *swarm.Stage, i int, from task.PeerID, m *message.Message) { a.heard(i, from, m) }
	}
	if a.cells != nil {
		attack.Cells = func(_ *swarm.Stage, i int, by task.PeerID) []overlay.Summary { return a.cells(i, by) }
	}
	attack.Ended = func(*swarm.Stage) {
		if out.Succeeded == "" {
			a.count()
		}
		if a.judge != nil {
			a.judge()
		}
	}
	_, err = swarm.Run(scenario, swarm.Options{Manifest: manifest, Cells: v.rule(), Bits: v.Bits, Found: v.Bits == 0,
		Signed: true, Attack: attack})
	if err != nil && strings.Contains(err.Error(), "twice") {
		out.Twice++
		err = nil
	}
	return out, err
}

// submit has an honest node submit the variation's job.
func (a *attack) submit(node int) honest {
	spec := task.Job{Name: "honest", Overlay: string(a.id), Module: task.RawCID([]byte("module")),
		Outputs: []string{task.Stdout}, Work: a.v.Work, Memory: 1 << 20, Replicas: a.v.Replicas, Retries: 10,
		Checkpoint: task.Checkpoint{Off: true}, Nonce: make([]byte, task.NonceSize),
		Sweep: task.Sweep{Repeat: uint64(a.v.Tasks)}}
	binary.BigEndian.PutUint64(spec.Nonce, uint64(len(a.jobs))+1)
	// Its file says nothing of checks, as most do.
	spec.Verify = task.Percent(credibility.OpenPool.Least)
	secret := task.DrawKey(swarm.Key(a.v.Seed, node), spec.Nonce)
	draw := sha256.Sum256(secret[:])
	spec.Verify.Draw = draw[:]
	j := honest{node, a.s.Hand(node, spec), spec}
	a.jobs = append(a.jobs, j)
	return j
}

// watchResults has the attack succeed as soon as an owner holds a wrong result.
func (a *attack) watchResults() {
	a.s.Every(5*time.Second, func() {
		if a.count(); a.out.Succeeded == "" {
			a.out.Right, a.out.Wrong, a.out.Lost = 0, 0, 0 // until the next time
		}
	})
}

// count compares the results that owners hold with the right ones. A wrong one that is still to be checked is not
// delivered yet, so it counts as lost until it is replaced.
func (a *attack) count() {
	for _, j := range a.jobs {
		held, err := a.s.Results(j.at, j.id)
		if err != nil {
			a.succeed("a result cannot be read: %v", err)
			continue
		}
		for i := range a.v.Tasks {
			t, ok := held[uint64(i)]
			wrong := ok && (t.Failed || len(t.Results) == 0 || !bytes.Equal(stdout(&t.Results[0]), right(j.id, i)))
			switch {
			case !ok, wrong && !a.delivered(j, i):
				a.out.Lost++
			case wrong:
				a.out.Wrong++
			default:
				a.out.Right++
			}
		}
	}
	if a.out.Wrong > 0 {
		a.succeed("%d wrong results were delivered", a.out.Wrong)
	}
}

// delivered reports whether a result that an owner holds counts as correct, or is not checked any more.
func (a *attack) delivered(j honest, index int) bool {
	m := a.s.Member(j.at)
	if m == nil {
		return false
	}
	st, _ := m.Submitter().Job(j.id)
	if st.Settled() {
		return true
	}
	all, _ := m.Submitter().Standings(j.id, []uint64{uint64(index)})
	return all[0] == message.StandingAccepted || all[0] == message.StandingFinal || all[0] == message.StandingReplaced
}

// right returns what a task comes to on an honest node: see package sim/swarm.
func right(id task.JobID, index int) []byte {
	return fmt.Append(nil, task.TaskID{Job: id, Index: uint64(index)})
}

func stdout(r *task.Result) []byte {
	for _, o := range r.Outputs {
		if o.Name == task.Stdout {
			return o.Inline
		}
	}
	return nil
}

// succeed records how the attack succeeded, and ends the run. The first reason counts.
func (a *attack) succeed(format string, args ...any) {
	if a.out.Succeeded == "" {
		a.out.Succeeded = fmt.Sprintf(format, args...)
		a.s.Stop()
	}
}

// addKey adds a stranger's key whose number in the overlay satisfies a condition, nil for any, and returns the
// stranger's index.
func (a *attack) addKey(fits func(number uint64) bool) int {
	for {
		var seed [ed25519.SeedSize]byte
		for i := 0; i < len(seed); i += 8 {
			binary.BigEndian.PutUint64(seed[i:], a.rng.Uint64())
		}
		key := ed25519.NewKeyFromSeed(seed[:])
		peer := task.PeerIDOf(key.Public().(ed25519.PublicKey))
		if fits == nil || fits(overlay.CellNumber(a.id, peer)) {
			a.keys = append(a.keys, key)
			return len(a.keys) - 1
		}
	}
}

// peer returns the ID of a stranger's key.
func (a *attack) peer(i int) task.PeerID {
	return task.PeerIDOf(a.keys[i].Public().(ed25519.PublicKey))
}

// inCell returns a condition for addKey.
func inCell(c overlay.Cell) func(uint64) bool { return c.Holds }

// hostCell returns the cell of a host at the start.
func (a *attack) hostCell(host int) overlay.Cell {
	return overlay.CellOf(overlay.CellNumber(a.id, hostID(a.v.Seed, host)), a.v.Bits)
}

func hostID(seed uint64, host int) task.PeerID {
	return task.PeerIDOf(swarm.Key(seed, host).Public().(ed25519.PublicKey))
}

// invented returns a signed result of a worker with that key, which never had a lease. The receipt names a
// stranger as leader; it is signed in some variations, and where results of several strangers must agree.
func (a *attack) invented(worker ed25519.PrivateKey, id task.JobID, index, leader int) (task.Result, error) {
	text := fmt.Appendf(nil, "made up %d", index)
	r := task.Result{Task: task.TaskID{Job: id, Index: uint64(index)}, Outcome: task.Completed, CPU: time.Second,
		Wall: time.Second, Outputs: []task.Output{{Name: task.Stdout, CID: task.RawCID(text), Size: int64(len(text)),
			Inline: text}},
	}
	by := a.s.Stranger(leader)
	r.Receipt = &task.Receipt{Leader: by, Epoch: overlay.NextEpoch(1<<24, by), Seq: uint64(index),
		Issued: a.s.Now().UnixMilli()}
	if a.v.Replicas > 1 || a.v.Seed%2 == 0 {
		var err error
		peer := task.PeerIDOf(worker.Public().(ed25519.PublicKey))
		if r.Receipt, err = task.NewReceipt(a.keys[leader], by, r.Task, peer, *r.Receipt); err != nil {
			return r, err
		}
	}
	return r, r.Sign(worker)
}

// randomBytes reads drawn bytes.
type randomBytes struct{ rng *rand.Rand }

// Read fills b.
func (r randomBytes) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = byte(r.rng.Uint32())
	}
	return len(b), nil
}
