package node

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"godwit/node/informant"
	"godwit/scheduler/message"
	"godwit/scheduler/submitter"
	"godwit/task"
	"godwit/task/referee"
)

// newProofSwarm has peers of which the first lies, and a job of the last whose results were checked.
func newProofSwarm(t *testing.T, peers int) (*swarm, task.JobID) {
	s := newSwarm(t, peers)
	for i, p := range s.peers {
		p.runner.output, p.runner.lies = 2000, i == 0
		if i > 0 {
			p.cfg.Bootstrap = []string{s.peers[0].host.Addr}
		}
		p.start()
	}
	s.gather(s.peers...)
	p := s.peers[peers-1]
	id := p.submitVerified(12, 2*time.Second, "full")
	if c := p.settle(id).Checks; c.Wrong == 0 {
		t.Fatalf("nobody lied: %+v", c)
	}
	return s, id
}

// refuses reports whether the submitter of a peer refuses another.
func (p *peer) refuses(other *peer) (refused bool) {
	p.onLoop(p.s.t, func() { refused = p.ordered()[0].Submitter().Refuses(other.ID()) })
	return refused
}

// What one submitter found wrong the others see for themselves, also from those that it showed it to; they
// refuse that worker, and nobody else. What they do not see for themselves they do not believe.
func TestProofSpreads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := newProofSwarm(t, 4)
		liar := s.peers[0]
		for range 200 {
			if s.peers[1].refuses(liar) && s.peers[2].refuses(liar) {
				break
			}
			for _, p := range s.peers[1:3] { // as if its turn had come
				p.onLoop(t, func() {
					p.proofs.askAt = p.now()
					p.proofs.askIfDue(p.now())
				})
			}
			time.Sleep(10 * time.Second)
			synctest.Wait()
		}
		for i, p := range s.peers[1:] {
			if !p.refuses(liar) {
				t.Errorf("peer %d does not refuse the liar: %v", i+1, p.proofs.checked)
			}
			for _, other := range s.peers[1:] {
				if p.refuses(other) {
					t.Errorf("peer %d refuses an honest one", i+1)
				}
			}
			p.onLoop(t, func() {
				if p.proofs.look().unheard && i < 2 {
					t.Errorf("peer %d ignores a member", i+1)
				}
			})
		}
	})
}

// shownOf returns a teller's job, a right result of a worker that is asked for, and one that was wrong.
func shownOf(t *testing.T, teller *peer, id task.JobID, by func(task.PeerID) bool) (rec task.Record,
	honest, lied task.Result) {
	t.Helper()
	rec, _, err := teller.Submitted(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	results, err := teller.Results(t.Context(), id, 0, 12)
	if err != nil {
		t.Fatal(err)
	}
	for i := range results {
		switch r := &results[i]; {
		case r.Refuted != nil:
			lied = r.Refuted.Result
		case by(r.Results[0].Worker):
			honest = r.Results[0]
		}
	}
	return rec, honest, lied
}

// TestProofOfTakenResult shows a wrong result that a job took from another one: with the record of the other job, since
// its worker ran that job's task.
func TestProofOfTakenResult(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, of := newProofSwarm(t, 3)
		p := s.peers[2]
		results, err := p.Results(t.Context(), of, 0, 12)
		if err != nil {
			t.Fatal(err)
		}
		k := slices.IndexFunc(results, func(r message.TaskSummary) bool { return r.Refuted != nil })
		taken := results[k]
		id := task.TaskID{Job: p.submit(12, time.Second), Index: taken.Index}
		p.finish(id.Job, 12)
		value, err := task.Encode(&taken)
		if err != nil {
			t.Fatal(err)
		}
		rec, _, err := p.Submitted(t.Context(), id.Job)
		if err != nil {
			t.Fatal(err)
		}
		m := p.ordered()[0]
		held := message.Persist{Key: m.prefix + submitter.ResultKey(id.Job, id.Index), Value: value}
		if err := p.store.commit(t.Context(), []message.Persist{held}); err != nil {
			t.Fatal(err)
		}
		shown, err := referee.Decode(p.proofs.statement(t.Context(), m, id, rec, false))
		if err != nil {
			t.Fatal(err)
		}
		if shown.Record.ID() != of || shown.Result.Task.Job != of {
			t.Errorf("the record is of job %s and the result of %s, want %s", shown.Record.ID(), shown.Result.Task.Job, of)
		}
		if _, err := shown.Open(); err != nil {
			t.Error(err)
		}
	})
}

// Who shows what proves nothing is not asked any more; what cannot be read costs it nothing.
func TestProofOfNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, id := newProofSwarm(t, 3)
		teller, p := s.peers[2], s.peers[1]
		rec, honest, lied := shownOf(t, teller, id, func(w task.PeerID) bool { return w != p.ID() })
		forged := lied
		forged.Worker = teller.ID()
		for name, tt := range map[string]struct {
			of      task.Result
			garbage string
			want    referee.Verdict
		}{
			"it is right":       {of: honest, want: referee.Nothing},
			"another signed it": {of: forged, want: referee.Nothing},
			"it cannot be read": {garbage: "\xff", want: referee.Open},
			"nothing":           {garbage: "\xa0", want: referee.Nothing},
			"the checker's own": {of: task.Result{Worker: p.ID()}},
		} {
			b := []byte(tt.garbage)
			if tt.garbage == "" {
				st := referee.Statement{Record: rec, Result: tt.of}
				var err error
				if b, err = st.Encode(); err != nil {
					t.Fatal(name, err)
				}
			}
			before := p.show(teller, b)
			if tt.want == "" {
				if before.checking {
					t.Errorf("%s: it is looked at", name)
				}
				continue
			}
			s.until(name, func() bool { return !p.look().checking })
			after := p.look()
			if after.of[tt.want] != before.of[tt.want]+1 || after.unheard != (tt.want == referee.Nothing) {
				t.Errorf("%s: %+v, before %+v", name, after, before)
			}
			if !before.checking || p.show(teller, b).checking {
				t.Errorf("%s: it is not looked at once", name)
			}
			p.onLoop(t, func() { p.proofs.choice = informant.Choice{} })
		}
		for _, other := range s.peers {
			if p.refuses(other) {
				t.Error("somebody is refused for that")
			}
		}
	})
}

// A looked is how a peer's proofs stand.
type looked struct {
	checking, unheard bool
	of                map[referee.Verdict]int
}

func (p *peer) look() (l looked) {
	p.onLoop(p.s.t, func() { l = p.proofs.look() })
	return l
}

// look is on the loop.
func (p *proofs) look() looked {
	l := looked{p.checking, false, map[referee.Verdict]int{}}
	for _, m := range p.queryable() {
		l.unheard = l.unheard || p.choice.Silenced(m.Peer, p.now())
	}
	for v, n := range p.checked {
		l.of[v] = n
	}
	return l
}

// show has a peer consider what another tells. It looks before the loop can hear what came of that.
func (p *peer) show(teller *peer, statement []byte) (l looked) {
	p.onLoop(p.s.t, func() {
		p.proofs.consider(p.ordered()[0], teller.ID(), [][]byte{statement})
		l = p.proofs.look()
	})
	return l
}

// After a statement was looked at, none is for as many times longer as its share says.
func TestProofsTakeTheirShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := startSwarm(t, 1)
		p := s.peers[0]
		p.onLoop(t, func() {
			now := p.now()
			p.proofs.came(p.ordered()[0], p.ID(), nil, &referee.Statement{}, referee.Finding{Verdict: referee.Open}, time.Hour)
			if got := p.proofs.askAt.Sub(now); got < proofShare*time.Hour {
				t.Errorf("after an hour's work the next is asked for in %v", got)
			}
			p.proofs.checking = true
			p.proofs.consider(p.ordered()[0], p.ID(), [][]byte{{1}})
			if len(p.proofs.tried) != 0 {
				t.Error("two are looked at at once")
			}
			p.proofs.checking = false
		})
	})
}

// Where nobody serves the state before a part the whole task is run; a part that is none costs nothing but a look.
func TestPartThatNobodyServes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, id := newProofSwarm(t, 3)
		teller, p := s.peers[2], s.peers[1]
		rec, spec, err := teller.Submitted(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		const n = task.MinIntervals
		kept := &task.KeptStates{}
		for k := range uint64(n) {
			kept.States = append(kept.States, task.KeptState{Fuel: (k + 1) * spec.Spacing(), Hash: make([]byte, 32),
				CID: task.RawCID([]byte{byte(k)})})
		}
		lie := task.Result{Task: task.TaskID{Job: id, Index: 3}, Outcome: task.Completed, Trail: &task.Trail{Pass: 1,
			Fuel: (n+1)*spec.Spacing() - 1, Boundaries: n, Root: task.TrailRoot(kept.Boundaries())}}
		if err := lie.Sign(s.peers[0].key); err != nil {
			t.Fatal(err)
		}
		part := lie.Trail.ProveIntervals(0, n, n, kept)
		p.onLoop(t, func() { p.proofs.askAt = p.now().Add(informant.IgnoredFor) }) // it asks nobody meanwhile
		for name, tt := range map[string]struct {
			part *task.PartProof
			runs int
		}{
			"nobody serves it": {part, 2}, // compiled and interpreted
			"it is none":       {&task.PartProof{First: part.First, Last: part.Last + 1, Kept: part.Kept}, 0},
			"others'":          {&task.PartProof{First: part.First, Last: part.Last, Kept: part.Kept[1:]}, 0},
		} {
			b, err := (&referee.Statement{Record: rec, Result: lie, Part: tt.part}).Encode()
			if err != nil {
				t.Fatal(err)
			}
			before := p.runner.started()[lie.Task]
			if !p.show(teller, b).checking {
				t.Fatalf("%s: it is not looked at", name)
			}
			for p.look().checking {
				time.Sleep(time.Second)
			}
			if got := p.runner.started()[lie.Task] - before; got != tt.runs || p.refuses(s.peers[0]) {
				t.Errorf("%s: the task ran %d times, want %d; refused is its worker: %v", name, got, tt.runs,
					p.refuses(s.peers[0]))
			}
		}
	})
}
