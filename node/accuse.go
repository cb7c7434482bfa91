package node

import (
	"crypto/sha256"

	"godwit/scheduler/message"
	"godwit/task/referee"
)

// A leader whose node saw that a replica is wrong on the way has what its workers vouched for. This node runs the part
// by the program compiled and interpreted, as it would if another showed it, and only then shows it to others.

// maxAccusations bounds those that wait.
const maxAccusations = 4

// An accusation is of a state that one of this node's leaders found wrong.
type accusation struct {
	of        *membership
	statement referee.Statement
}

// accuse takes in what a leader of this node found.
func (d *driver) accuse(m *membership, e message.Accuse) {
	if len(d.accusations) >= maxAccusations {
		return
	}
	s := referee.Statement{Record: e.Record, Chain: e.Chain, Part: e.Part}
	s.Result.Task = e.Task
	s.Record.Key = nil // who may be told has it
	d.accusations = append(d.accusations, accusation{m, s})
}

// accuseNext looks at one, unless it is known.
func (p *proofs) accuseNext() {
	if len(p.accusations) == 0 {
		return
	}
	a := p.accusations[0]
	p.accusations = p.accusations[1:]
	b, err := a.statement.Encode()
	if err != nil || a.of.IsOut() || p.known(a.of, &a.statement) || p.tried[sha256.Sum256(b)] {
		return
	}
	p.tried[sha256.Sum256(b)], p.checking = true, true
	p.check(a.of, p.self, b, &a.statement, nil)
}
