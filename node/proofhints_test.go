package node

import (
	"encoding/binary"
	"testing"
	"testing/synctest"
	"time"

	"godwit/task"
)

// A lying member publishes a report with a refused worker before each query and never has a proof. It gets at most
// every second query, none after three, and hints again only after a week.
func TestHintsOfALiar(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := startSwarm(t, 3)
		s.gather(s.peers...)
		p, liar, honest := s.peers[0], s.peers[1].ID(), s.peers[2].ID()
		p.onLoop(t, func() {
			m, now := p.ordered()[0], p.now()
			report := func(by task.PeerID) {
				p.proofs.hint(m, &task.Tally{Teller: by, Rows: []task.TallyRow{{Worker: "w", Refused: true}}})
			}
			var got []task.PeerID
			for range 12 {
				report(liar)
				_, peer := p.proofs.hinted(now)
				got = append(got, peer)
				p.proofs.consider(m, liar, nil)
			}
			for i, peer := range got {
				if want := i%2 == 0 && i < 2*mostUseless; want != (peer == liar) {
					t.Errorf("query %d goes to %q", i, peer)
				}
			}
			report(honest)
			report(liar)
			if _, peer := p.proofs.hinted(now); peer != honest {
				t.Errorf("after the liar's hints are ignored, the query goes to %q", peer)
			}
			p.proofs.hints.drawn = false
			p.proofs.hints.counts[liar] = hinter{ignored: now.Add(-time.Second)}
			report(liar)
			if _, peer := p.proofs.hinted(now); peer != liar {
				t.Errorf("after a week, the query goes to %q", peer)
			}
		})
	})
}

// The last author of a report with a refused worker has no precedence over earlier ones.
func TestHintsPickAuthorsEqually(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := startSwarm(t, 3)
		s.gather(s.peers...)
		p, first, last := s.peers[0], s.peers[1].ID(), s.peers[2].ID()
		p.onLoop(t, func() {
			picked := map[task.PeerID]int{}
			for range 400 {
				for _, by := range []task.PeerID{first, last} {
					p.proofs.hint(p.ordered()[0], &task.Tally{Teller: by, Rows: []task.TallyRow{{Worker: "w", Refused: true}}})
				}
				p.proofs.hints.drawn = false
				_, peer := p.proofs.hinted(p.now())
				picked[peer]++
			}
			if picked[first] < 100 || picked[last] < 100 {
				t.Errorf("of 400 queries %d go to the first author, %d to the last", picked[first], picked[last])
			}
		})
	})
}

// A lying member sends statements that cannot be decided. After the third check it is not queried for a week, hinted
// or at random, so that it cannot keep others from being checked.
func TestOpenChecksSilenceALiar(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := startSwarm(t, 2)
		s.gather(s.peers...)
		p, liar := s.peers[0], s.peers[1]
		for n := range mostUseless {
			if p.look().unheard {
				t.Fatalf("not queried after %d checks", n)
			}
			p.show(liar, binary.BigEndian.AppendUint64([]byte{0xff}, uint64(n)))
			s.until("it is checked", func() bool { return !p.look().checking })
		}
		p.onLoop(t, func() {
			if _, peer := p.proofs.draw(p.now()); peer != "" {
				t.Errorf("%q is queried after %d checks without a verdict", peer, mostUseless)
			}
			if _, peer := p.proofs.draw(p.now().Add(unheardFor + time.Minute)); peer != liar.ID() {
				t.Errorf("%q is queried after a week", peer)
			}
		})
	})
}

// Members beyond the bound do not make a node forget all others that it does not query: only the earliest is.
func TestUnheardMembersAreForgottenOneByOne(t *testing.T) {
	p := &proofs{driver: &driver{}, unheard: map[task.PeerID]time.Time{}}
	start := time.Unix(1_800_000_000, 0)
	for n := range maxUnheard + 5 {
		p.unhear(task.PeerID(binary.BigEndian.AppendUint64(nil, uint64(n))), start.Add(time.Duration(n)*time.Second))
	}
	last := task.PeerID(binary.BigEndian.AppendUint64(nil, uint64(5)))
	if until := p.unheard[last]; len(p.unheard) != maxUnheard || until.IsZero() {
		t.Errorf("%d members are not queried, the sixth until %v", len(p.unheard), until)
	}
}
