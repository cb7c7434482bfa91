package node

import (
	"errors"
	"testing"
	"testing/synctest"

	"godwit/task"
	"godwit/task/referee"
)

// What a teller shows is tried if it is what was drawn, of its own job and of another worker. A result that
// it calls right and is wrong speaks against it, and proves its worker wrong.
func TestTrials(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, id := newProofSwarm(t, 3)
		liar, p, teller := s.peers[0], s.peers[1], s.peers[2]
		rec, honest, lied := shownOf(t, teller, id, func(w task.PeerID) bool { return w == p.ID() })
		for name, tt := range map[string]struct {
			of, drawn task.Result
			teller    *peer
			unshown   bool
			want      referee.Verdict
		}{
			"right":           {honest, honest, teller, false, referee.Nothing},
			"another one":     {honest, lied, teller, true, ""},
			"another's job":   {honest, honest, liar, true, ""},
			"nobody's result": {task.Result{Task: honest.Task, Worker: "w"}, task.Result{}, teller, true, ""},
			"a lie":           {lied, lied, teller, false, referee.Proven},
		} {
			drawn := task.TallyName(&tt.drawn)
			one := &trial{tally: &task.Tally{Teller: tt.teller.ID(), Issued: 1}, name: drawn[:], begun: p.now(),
				statement: referee.Statement{Record: rec, Result: tt.of}}
			p.onLoop(t, func() { one.in = p.ordered()[0] })
			err := p.tallies.try(one)
			if errors.Is(err, errUnshown) != tt.unshown || !tt.unshown && (err != nil || one.found.Verdict != tt.want) {
				t.Errorf("%s: %v, %+v", name, err, one.found)
			}
			p.onLoop(t, func() {
				before := p.tallies.trials.came[true]
				p.tallies.tried(one, err)
				if right := p.tallies.trials.came[true] > before; right != (tt.want == referee.Nothing) {
					t.Errorf("%s: it is right: %v", name, right)
				}
			})
			if tt.want == referee.Proven && !p.refuses(liar) {
				t.Errorf("%s: the liar is not refused", name)
			}
		}
		if !p.refuses(liar) || p.refuses(teller) {
			t.Error("it refuses another than the liar")
		}
	})
}

// Who cannot be reached is asked again; who never can be, or whose content never comes, is not right.
func TestTrialLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := startSwarm(t, 1).peers[0]
		p.onLoop(t, func() {
			one := &trial{in: p.ordered()[0], tally: &task.Tally{Teller: "teller", Issued: 1}, begun: p.now()}
			for n := range 2 * maxLater {
				p.tallies.trials.running = true
				p.tallies.tried(one, errLater)
				if want := (n + 1) / maxLater; p.tallies.trials.came[false] != want || p.tallies.trials.running {
					t.Errorf("after %d times %d are not right, want %d", n+1, p.tallies.trials.came[false], want)
				}
			}
			p.tallies.trials.rest = p.now().Add(1)
			if p.tallies.tryIfDue(p.now()); p.tallies.trials.running {
				t.Error("one begins while it rests")
			}
		})
	})
}
