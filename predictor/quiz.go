package predictor

// A quiz puts questions to a host's record and keeps them until what came true is known.
// An answer is ripe when its horizon is over, also where the host left long before: if
// those that left were counted first, a pool would think for a day that all leave.
type quiz struct {
	turn    int
	open    [mostOpen]open
	answers []Answer
	leans   [leans]lean // of the host, by all its answers
}

// An open question is one whose horizon is not over.
type open struct {
	until int64 // 0: free
	class uint8
	left  bool
	said  said
}

const (
	// mostOpen is what is open at once: 24 h hold 7 questions of a day, 6 h 4 of six hours, 3 h
	// 4 of three, and a few.
	mostOpen = 20
	// mostAnswers is what a quiz keeps for Answers; more are lost.
	mostAnswers = 64
)

// eachTurns is in which turns each class is asked: questions of a day that follow each
// other within the hour would hardly differ.
var eachTurns = [classes]int{1, 1, 1, 2, 4}

// put asks a reader, of each class whose turn it is.
func (z *quiz) put(n *Reader, now int64) {
	z.turn++
	for c, d := range anchors {
		if z.turn%eachTurns[c] != 0 {
			continue
		}
		for i := range z.open {
			if q := &z.open[i]; q.until == 0 {
				q.until, q.class, q.left = now+d, uint8(c), false
				n.say(&q.said, now, d)
				break
			}
		}
	}
}

// ripen makes answers of what is over at now. Who did not leave is there until now.
func (z *quiz) ripen(now int64) {
	for i := range z.open {
		if q := &z.open[i]; q.until != 0 && q.until <= now {
			y := 1.0
			if q.left {
				y = 0
			}
			z.leans[leanOf[q.class]].learn(float64(q.said[sayMixed]), y, leanCounts[q.class])
			if len(z.answers) < mostAnswers {
				z.answers = append(z.answers, Answer{q.class, !q.left, q.said})
			}
			q.until = 0
		}
	}
}

// leave notes that the host left, after all that ripened.
func (z *quiz) leave() {
	for i := range z.open {
		z.open[i].left = true
	}
}

// drop forgets the questions of a session that ended up to some time, nobody knows when, or
// was lost from sight: those that are over by then and have no answer.
func (z *quiz) drop(upTo int64) {
	for i := range z.open {
		if q := &z.open[i]; !q.left && q.until <= upTo {
			q.until = 0
		}
	}
}

// waits says whether a question is open.
func (z *quiz) waits() bool {
	for i := range z.open {
		if z.open[i].until != 0 {
			return true
		}
	}
	return false
}

// take returns the answers since the last call.
func (z *quiz) take() []Answer {
	a := z.answers
	z.answers = nil
	return a
}
