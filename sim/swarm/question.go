package swarm

import "time"

// A question is what one node asks another, and its answer. It is used again for another.
type question struct {
	from, to               *node
	life                   int // of from
	begun, way, back, wait time.Duration
	lost, dials            bool
	there                  func()
	done                   func(ok, refused bool)
	ok, refused            bool // the answer

	arrives, returns, tells func() // what happens then: made once
}

// question is one to be asked.
func (l *letters) question() *question {
	if last := len(l.asked) - 1; last >= 0 {
		out := l.asked[last]
		l.asked = l.asked[:last]
		return out
	}
	q := &question{}
	q.arrives, q.returns = q.arrive, q.answered
	q.tells = func() { q.done(q.ok, q.refused) }
	return q
}

// request asks a node something: there runs at it when it arrives, and then done
// here. Without an answer within wait, done is told so; refused says that the
// machine is there and its node is not.
func (n *node) request(to *node, wait time.Duration, there func(), done func(ok, refused bool)) {
	w := n.w
	q := w.letters.question()
	q.from, q.to, q.life, q.wait, q.there, q.done = n, to, n.life, wait, there, done
	q.begun, q.way, q.back = w.now, w.delay(), w.delay()
	q.lost, q.dials = w.isLost(), n.linked(to) == 0
	w.queue.add(q.begun+q.way, talking, q.arrives)
}

// arrive has the other answer, if it can.
func (q *question) arrive() {
	n, to, w := q.from, q.to, q.from.w
	late := q.way+q.back > q.wait
	if q.dials && !q.lost && to.up {
		n.link(to)
	}
	switch {
	case !q.lost && to.up:
		if !to.strange {
			to.turn(q.there)
		}
		if late {
			q.answer(max(w.now, q.begun+q.wait), false, false)
		} else {
			q.answer(q.begun+q.way+q.back, true, false)
		}
	case !q.lost && to.refuses && !late:
		q.answer(q.begun+q.way+q.back, false, true)
	default:
		q.answer(max(w.now, q.begun+q.wait), false, false)
	}
}

// answer has what came of it be told at a time.
func (q *question) answer(at time.Duration, ok, refused bool) {
	q.ok, q.refused = ok, refused
	q.from.w.queue.add(at, talking, q.returns)
}

// answered tells who asked, if it is there still. Then the question may be another.
func (q *question) answered() {
	l := &q.from.w.letters
	if n := q.from; n.up && n.life == q.life {
		n.turn(q.tells)
	}
	*q = question{arrives: q.arrives, returns: q.returns, tells: q.tells}
	if len(l.asked) < lettersKept {
		l.asked = append(l.asked, q)
	}
}
