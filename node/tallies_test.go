package node

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"godwit/node/informant"
	"godwit/overlay"
	"godwit/scheduler/submitter"
	"godwit/task"
)

// tellTallies has peers ask each other for tallies, as if their turn had come, until something holds.
func (s *swarm) tellTallies(what string, done func() bool) {
	s.t.Helper()
	for range 200 {
		if done() {
			return
		}
		for _, p := range s.peers {
			p.onLoop(s.t, func() {
				p.tallies.askAt = p.now()
				p.tallies.askIfDue(p.now())
			})
		}
		time.Sleep(10 * time.Second)
		synctest.Wait()
	}
	s.t.Fatalf("%s: not after 200 rounds", what)
}

// hears reports whether the word of another counts at a peer's submitter, and keeps whether a peer has its tally.
func (p *peer) hears(other *peer) (hears bool) {
	p.onLoop(p.s.t, func() { hears = submitter.TalliesOf(p.ordered()[0].Submitter()).Hears(other.ID()) })
	return hears
}

func (p *peer) keeps(other *peer) (keeps bool) {
	p.onLoop(p.s.t, func() {
		m := p.ordered()[0]
		for teller := range p.tallies.kept[m.id] {
			keeps = keeps || teller == other.ID()
		}
	})
	return keeps
}

// What one submitter found right another hears of, also from those who have no job; it runs a result of
// it again itself, and then its word counts. A liar that the one names is proven to the other.
func TestTalliesSpread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := newProofSwarm(t, 4)
		liar, idle, p, teller := s.peers[0], s.peers[1], s.peers[2], s.peers[3]
		p.settle(p.submitVerified(12, 2*time.Second, "full"))
		s.tellTallies("the teller's word counts", func() bool { return p.hears(teller) })
		s.tellTallies("it goes round", func() bool { return idle.keeps(teller) && idle.keeps(p) })
		if idle.hears(teller) || !p.keeps(teller) {
			t.Error("a teller that nobody tried counts, or one is heard and not kept")
		}
		p.onLoop(t, func() {
			if p.tallies.trials.came[false] > 0 || p.proofs.look().unheard {
				t.Errorf("%v, and a member is not queried", p.tallies.trials.came)
			}
		})
		if !p.refuses(liar) || p.refuses(idle) || p.refuses(teller) {
			t.Error("it refuses another than the liar")
		}
	})
}

// What is no tally of a member of that overlay is not kept; who passes on what nobody signed is not asked any
// more. A teller that offers results and shows none does not count.
func TestLyingTellers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := newProofSwarm(t, 4)
		p, teller, other := s.peers[2], s.peers[3], s.peers[1]
		p.settle(p.submitVerified(12, 2*time.Second, "full"))
		var in string
		p.onLoop(t, func() { in = string(p.ordered()[0].id) })
		now, life := p.now().Unix(), int64(task.TallyLife/time.Second)
		for name, tt := range map[string]struct {
			tally  task.Tally
			signer *peer
			forged bool // the signature is another's
			kept   bool
		}{
			"another overlay's": {task.Tally{Overlay: "other", Issued: now}, teller, false, false},
			"of the future":     {task.Tally{Overlay: in, Issued: now + 3600}, teller, false, false},
			"too old":           {task.Tally{Overlay: in, Issued: now - life}, teller, false, false},
			"its own":           {task.Tally{Overlay: in, Issued: now}, p, false, false},
			"forged":            {task.Tally{Overlay: in, Issued: now}, teller, true, false},
			"good":              {task.Tally{Overlay: in, Issued: now}, teller, false, true},
		} {
			tally := tt.tally
			tally.Teller = tt.signer.ID()
			tally.Rows = []task.TallyRow{{Worker: other.ID(), Right: task.MaxTallied}}
			tally.Shown = [][]byte{make([]byte, 32)}
			key := tt.signer.key
			if tt.forged {
				key = other.key
			}
			b, err := tally.Sign(key)
			if err != nil {
				t.Fatal(err)
			}
			p.onLoop(t, func() {
				told, raw, err := readTallies(answerOf(t, b))
				p.tallies.hear(p.ordered()[0], other.ID(), told, raw, err)
				if unheard := p.proofs.look().unheard; unheard != tt.forged {
					t.Errorf("%s: who told it is asked no more: %v", name, unheard)
				}
				p.proofs.choice = informant.Choice{}
			})
			if p.keeps(tt.signer) != tt.kept {
				t.Errorf("%s: it is kept: %v", name, !tt.kept)
			}
			p.onLoop(t, func() { delete(p.tallies.kept, p.ordered()[0].id) })
		}
		s.tellTallies("it is tried", func() (tried bool) {
			p.onLoop(t, func() { tried = p.tallies.trials.came[false] > 0 })
			return tried
		})
		if p.hears(teller) {
			t.Error("who shows nothing counts")
		}
	})
}

// answerOf is an answer with tallies.
func answerOf(t *testing.T, tallies ...[]byte) []byte {
	t.Helper()
	b, err := json.Marshal(talliesAnswer{Tallies: tallies})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// A crowd of tellers takes no more room than there is, and of one answer no more than it may have.
func TestManyTellers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := startSwarm(t, 2)
		s.gather(s.peers...)
		p, teller := s.peers[0], s.peers[1]
		p.onLoop(t, func() {
			m := p.ordered()[0]
			kept := map[task.PeerID]keptTally{}
			for i := range maxTallies {
				kept[task.PeerID(fmt.Sprint(i))] = keptTally{bytes: []byte{1}, issued: p.now().Unix()}
			}
			p.tallies.kept[m.id] = kept
			tally := &task.Tally{Overlay: string(m.id), Teller: teller.ID(), Issued: p.now().Unix()}
			if !p.tallies.keeps(m, tally, []byte{2}, p.now()) || len(kept) != maxTallies {
				t.Errorf("%d are kept", len(kept))
			}
			if got := p.tallies.of(m, p.now()); len(got) != 1 || len(kept) != 1 {
				t.Errorf("%d are told of, of %d that are no members", len(got), len(kept))
			}
		})
		ask := func(from task.PeerID, q talliesQuery) (int, error) {
			body, err := json.Marshal(q)
			if err != nil {
				t.Fatal(err)
			}
			b, err := p.tallies.answerTallies(t.Context(), from, body)
			var a talliesAnswer
			if err == nil {
				err = json.Unmarshal(b, &a)
			}
			return len(a.Tallies), err
		}
		var in overlay.ID
		p.onLoop(t, func() { in = p.ordered()[0].id })
		id := tallyID([]byte{2})
		for name, tt := range map[string]struct {
			from task.PeerID
			q    talliesQuery
			want int // -1 for an error
		}{
			"a member":         {teller.ID(), talliesQuery{Overlay: in}, 1},
			"who has it":       {teller.ID(), talliesQuery{Overlay: in, Have: [][]byte{id[:], {1}, nil}}, 0},
			"a stranger":       {"stranger", talliesQuery{Overlay: in}, -1},
			"of another":       {teller.ID(), talliesQuery{Overlay: "other"}, -1},
			"who has too many": {teller.ID(), talliesQuery{Overlay: in, Have: make([][]byte, maxTallies+2)}, -1},
		} {
			if got, err := ask(tt.from, tt.q); got != max(tt.want, 0) || (err != nil) != (tt.want < 0) {
				t.Errorf("%s is told %d, %v", name, got, err)
			}
		}
		for _, name := range [][]byte{nil, make([]byte, 32)} {
			body, err := json.Marshal(shownQuery{in, name})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := p.tallies.answerShown(t.Context(), teller.ID(), body); !errors.Is(err, errNotShown) {
				t.Errorf("a result that was never offered: %v", err)
			}
			if _, err := p.tallies.answerShown(t.Context(), "stranger", body); !errors.Is(err, errNoMember) {
				t.Errorf("a stranger asks for a result: %v", err)
			}
		}
		if _, _, err := readTallies(answerOf(t, make([][]byte, talliesAtOnce+1)...)); err == nil {
			t.Error("an answer beyond the bound is read")
		}
	})
}

// The author of a report that refuses a worker is queried next, unless it is no member any more.
func TestHinted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := startSwarm(t, 3)
		s.gather(s.peers...)
		p, teller := s.peers[0], s.peers[1].ID()
		p.onLoop(t, func() {
			m, now := p.ordered()[0], p.now()
			hinted := func(by task.PeerID, row task.TallyRow) bool {
				p.proofs.choice = informant.Choice{}
				p.proofs.hint(m, &task.Tally{Teller: by, Rows: []task.TallyRow{row}})
				_, is := p.proofs.choice.Hinted(now, func(i informant.Member) bool {
					return i == informant.Member{Overlay: m.id, Peer: by}
				})
				return is
			}
			for _, tt := range []struct {
				row  task.TallyRow
				want bool
			}{
				{task.TallyRow{Worker: "w", Refused: true}, true},
				{task.TallyRow{Worker: "w", Right: 1}, false},
				{task.TallyRow{Worker: p.self, Refused: true}, false},
			} {
				if got := hinted(teller, tt.row); got != tt.want {
					t.Errorf("a report with %+v is a hint: %v, want %v", tt.row, got, tt.want)
				}
			}
			refused := task.TallyRow{Worker: "w", Refused: true}
			for by, want := range map[task.PeerID]bool{teller: true, "stranger": false} {
				asked := 0
				for range 40 {
					p.proofs.choice = informant.Choice{}
					p.proofs.hint(m, &task.Tally{Teller: by, Rows: []task.TallyRow{refused}})
					if _, peer := p.proofs.choose(now); peer == by {
						asked++
					}
				}
				if always, never := asked == 40, asked == 0; want && !always || !want && !never {
					t.Errorf("after 40 hints %q was queried %d times", by, asked)
				}
			}
		})
	})
}
