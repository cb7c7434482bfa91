package scheduler

import (
	"cmp"
	"fmt"
	"slices"

	"godwit/scheduler/message"
	"godwit/task"
)

// Where replicas meet. Their workers tell, with each checkpoint, which boundaries the run came to:
// those lie at the same fuel for all (package task), so that two lines that are right have the same
// states there. Where they differ one of the two is wrong from there on, and it is not known which:
// they do not count as two that may come to agree, so another replica begins at once, not when both
// have ended. A mark is not signed: what a worker says of itself can cost it no more than a wrong
// result would. It is in memory alone; the next leader hears of later ones.

// maxMet bounds the marks that are kept of a line: its latest.
const maxMet = 64

// A meeting is what the lines of a task came to.
type meeting struct {
	marks  map[task.PeerID][]message.Mark // by root, sorted by fuel, each once
	parted []parting
}

// A parting is two lines that have come to two states at one fuel.
type parting struct {
	a, b task.PeerID // their roots
	fuel uint64
}

// maxPartings bounds those that are told of one task, and the lines that are compared.
const maxPartings = 64

// roots are those of the lines of a task that run, or came to a result.
func (j *job) roots(i uint64) (roots []task.PeerID) {
	if t := j.live[i]; t != nil {
		for _, l := range t.leases {
			roots = append(roots, l.root())
		}
	}
	if row := j.ledger.Rows[i]; row != nil {
		for k := range row.Results {
			by, _ := row.Results[k].AnsweredBy()
			roots = append(roots, by[len(by)-1])
		}
	}
	return roots
}

// add keeps a mark of a line, in place of one that it had at that fuel.
func (m *meeting) add(root task.PeerID, mark message.Mark) {
	marks := m.marks[root]
	k, found := slices.BinarySearchFunc(marks, mark.Fuel, compareMark)
	if found {
		marks[k] = mark
		return
	}
	marks = slices.Insert(marks, k, mark)
	m.marks[root] = marks[max(0, len(marks)-maxMet):]
}

func compareMark(m message.Mark, fuel uint64) int { return cmp.Compare(m.Fuel, fuel) }

// differs reports whether another line came to another state at the fuel of a mark.
func (m *meeting) differs(other task.PeerID, mark message.Mark) bool {
	marks := m.marks[other]
	k, found := slices.BinarySearchFunc(marks, mark.Fuel, compareMark)
	return found && marks[k].State != mark.State
}

// part notes that two lines have parted, once.
func (m *meeting) part(p parting) bool {
	if m.apart(p.a, p.b) || len(m.parted) >= maxPartings {
		return false
	}
	m.parted = append(m.parted, p)
	return true
}

// apart reports whether two lines have parted. m may be nil.
func (m *meeting) apart(a, b task.PeerID) bool {
	return m != nil && slices.ContainsFunc(m.parted, func(p parting) bool {
		return p.a == a && p.b == b || p.a == b && p.b == a
	})
}

// why tells people.
func (p parting) why(replicas int) string {
	return fmt.Sprintf("two of its replicas, begun by %s and %s, have come to two states with %d units of fuel used: one "+
		"of them is wrong, and another runs as well, so that %d agree", p.a, p.b, p.fuel, replicas)
}

// whyParted tells which replicas of a task have parted.
func (j *job) whyParted(i uint64) (out []Why) {
	if m := j.meetings[i]; m != nil {
		for _, p := range m.parted {
			out = append(out, Why{Reason: p.why(j.spec.Replicas)})
		}
	}
	return out
}
