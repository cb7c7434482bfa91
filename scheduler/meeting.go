package scheduler

import (
	"cmp"
	"fmt"
	"slices"
	"time"

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
	marks  map[task.PeerID][]message.Mark        // by root, sorted by fuel, each once
	told   map[task.PeerID][]*message.Checkpoint // with the marks, by root: see note
	parted []parting
	wrong  []task.PeerID // roots of lines that this node found wrong
	// sure is the furthest state on which as many lines agree as the job asks for, with their words: see agree; nil for
	// none. It is read only.
	sure *message.Checkpoint
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

// add keeps a mark of a line, in place of one that it had at that fuel. Of too many those go first that its worker does
// not sign any more, at that spacing at first.
func (m *meeting) add(root task.PeerID, mark message.Mark, spacing uint64) {
	marks := m.marks[root]
	k, found := slices.BinarySearchFunc(marks, mark.Fuel, compareMark)
	if found {
		marks[k] = mark
		return
	}
	if marks = slices.Insert(marks, k, mark); len(marks) > maxMet {
		before, now := uint64(0), task.SpacingAt(spacing, marks[len(marks)-1].Fuel)
		marks = slices.DeleteFunc(marks, func(m message.Mark) bool {
			crosses := task.Crosses(before, m.Fuel, now)
			before = m.Fuel
			return !crosses
		})
	}
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
			for _, root := range []task.PeerID{p.a, p.b} {
				if m.isWrong(root) {
					out = append(out, Why{Reason: whyWrong(root, p.fuel)})
				}
			}
		}
	}
	return out
}

// A refereeing is a part that this node runs to see which replicas are wrong.
type refereeing struct {
	id    task.TaskID
	fuel  uint64
	since time.Time
}

// agreed is the greatest fuel at which two lines came to the same state, below where they parted; 0 for none.
func (m *meeting) agreed(p parting) (fuel uint64) {
	for _, mark := range m.marks[p.a] {
		k, found := slices.BinarySearchFunc(m.marks[p.b], mark.Fuel, compareMark)
		if found && mark.Fuel < p.fuel && m.marks[p.b][k].State == mark.State {
			fuel = mark.Fuel
		}
	}
	return fuel
}

// against divides the lines that have a mark at a fuel into those with that state and the others.
func (m *meeting) against(fuel uint64, state [32]byte) (same, others []task.PeerID) {
	for root, marks := range m.marks {
		switch k, found := slices.BinarySearchFunc(marks, fuel, compareMark); {
		case !found:
		case marks[k].State == state:
			same = append(same, root)
		default:
			others = append(others, root)
		}
	}
	slices.Sort(others)
	return same, others
}

// forget has a line be as if it had not run: its root begins the task anew. m may be nil.
func (m *meeting) forget(root task.PeerID) {
	if m == nil {
		return
	}
	delete(m.marks, root)
	delete(m.told, root)
	m.parted = slices.DeleteFunc(m.parted, func(p parting) bool { return p.a == root || p.b == root })
	m.wrong = slices.DeleteFunc(m.wrong, func(w task.PeerID) bool { return w == root })
}

// isWrong reports whether a line was found wrong. m may be nil.
func (m *meeting) isWrong(root task.PeerID) bool { return m != nil && slices.Contains(m.wrong, root) }

// whyWrong tells people.
func whyWrong(root task.PeerID, fuel uint64) string {
	return fmt.Sprintf("the replica begun by %s is wrong: this leader's node and another came to one state with %d units "+
		"of fuel used, and it to another", root, fuel)
}
