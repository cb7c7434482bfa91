package trust

import (
	"encoding/binary"
	"math/rand/v2"
	"time"

	"godwit/credibility"
)

// intervals is how many of them a task has here: tasks end with 16 to 32.
const intervals = 24

// A falsehood says which intervals of a task are wrong: a bit each.
type falsehood uint32

func (f falsehood) holds(i int) bool { return f>>i&1 == 1 }

// A behaviour is what a worker does with its k-th task, from 0.
type behaviour func(k int, rng *rand.Rand) falsehood

// honest is always right.
func honest(int, *rand.Rand) falsehood { return 0 }

// skips makes up a number of intervals of each task.
func skips(n int) behaviour {
	return func(_ int, rng *rand.Rand) falsehood {
		var f falsehood
		for _, i := range rng.Perm(intervals)[:n] {
			f |= 1 << i
		}
		return f
	}
}

// late is right for a number of tasks, and then does as another.
func late(after int, then behaviour) behaviour {
	return func(k int, rng *rand.Rand) falsehood {
		if k < after {
			return 0
		}
		return then(k, rng)
	}
}

// only does one task as another does, and all others right.
func only(task int, as behaviour) behaviour {
	return func(k int, rng *rand.Rand) falsehood {
		if k != task {
			return 0
		}
		return as(k, rng)
	}
}

// flaky errs in an interval of a task now and then, by chance.
func flaky(chance float64) behaviour {
	return func(_ int, rng *rand.Rand) falsehood {
		if rng.Float64() >= chance {
			return 0
		}
		return 1 << rng.IntN(intervals)
	}
}

// An acquaintance is one worker as one submitter meets it: task after task, audited as its
// credit says, until an audit is wrong. Then all that was not audited in full is run again.
type acquaintance struct {
	terms  credibility.Terms
	key    [32]byte
	worker behaviour
	rng    *rand.Rand

	// told is what other submitters say of the worker, nil for nobody, and bonus what counts of it at
	// most beyond what is known here.
	told  func() []credibility.Praise
	bonus float64

	credit credibility.Credit
	done   int
	found  bool
	// of its results that are accepted: how many are wrong, and how many intervals of all
	// nobody audited
	wrong, unaudited int
	audited, again   int // intervals
}

// met is when everything happens: credit does not fade here, as in the formulas.
var met = time.Unix(0, 0)

// do has the worker do its next task, and audits it.
func (a *acquaintance) do() {
	f := a.worker(a.done, a.rng)
	root := [32]byte{}
	binary.BigEndian.PutUint64(root[:], a.rng.Uint64())
	right := a.credit.Right(met)
	if a.told != nil {
		right = a.credit.BelievedWith(a.told(), a.bonus, met)
	}
	drawn := credibility.Draw(a.key, uint64(a.done), root, intervals, a.terms.Share(right))
	a.done++
	a.audited += len(drawn)
	for _, i := range drawn {
		if f.holds(i) {
			a.expose()
			return
		}
	}
	a.credit.Confirm(len(drawn), intervals, met)
	a.unaudited += intervals - len(drawn)
	if f != 0 {
		a.wrong++
	}
}

// expose ends the acquaintance: the task runs elsewhere, and so does what nobody audited.
func (a *acquaintance) expose() {
	a.found = true
	a.again += a.unaudited + intervals
	a.wrong, a.unaudited = 0, 0
}

// begin returns one that has just begun.
func begin(terms credibility.Terms, worker behaviour, rng *rand.Rand) *acquaintance {
	a := &acquaintance{terms: terms, worker: worker, rng: rng}
	for i := range a.key {
		a.key[i] = byte(rng.Uint32())
	}
	return a
}

// meet has a worker do as many tasks as it is left to, and returns what came of it.
func meet(terms credibility.Terms, worker behaviour, tasks int, rng *rand.Rand) *acquaintance {
	a := begin(terms, worker, rng)
	for a.done < tasks && !a.found {
		a.do()
	}
	return a
}
