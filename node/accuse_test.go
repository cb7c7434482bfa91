package node

import (
	"testing"
	"testing/synctest"

	"godwit/scheduler/message"
	"godwit/task"
	"godwit/task/referee"
)

// What a leader of this node found wrong waits with the part that is, as many as are looked at, and nobody is told a
// job's key. By what nobody signed nobody is refused, and this node goes on listening to itself.
func TestAccusations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := startSwarm(t, 1)
		p := s.peers[0]
		p.onLoop(t, func() {
			said := message.Accuse{Record: task.Record{Key: []byte{1}}, Part: &task.PartProof{Last: 1, Leg: 1},
				Chain: []task.Link{{Fuel: 5, Voucher: task.Voucher{Worker: "w"}}}}
			for i := range uint64(maxAccusations + 2) {
				said.Task.Index = i
				p.proofs.accuse(p.ordered()[0], said)
			}
			if n := len(p.proofs.accusations); n != maxAccusations {
				t.Errorf("%d wait", n)
			}
			for i, a := range p.proofs.accusations {
				of := a.statement
				if of.Record.Key != nil || of.Part == nil || len(of.Chain) != 1 || of.Result.Task.Index != uint64(i) {
					t.Errorf("%d is %+v", i, of)
				}
			}
			if p.proofs.accuseNext(); !p.proofs.checking || len(p.proofs.accusations) != maxAccusations-1 {
				t.Error("the first is not looked at")
			}
		})
		s.until("looked at", func() bool { return !p.look().checking })
		if l := p.look(); l.unheard || l.of[referee.Proven] > 0 || l.of[referee.Open]+l.of[referee.Nothing] == 0 {
			t.Errorf("%+v", l)
		}
		if p.refuses(p) {
			t.Error("it refuses itself")
		}
	})
}
