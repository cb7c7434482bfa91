package submitter

import (
	"crypto/ed25519"
	"fmt"
	"slices"
	"time"

	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// unread stands for a signature that the submitter does not read.
var unread [ed25519.SignatureSize]byte

// end runs a task on workers that the leader chooses. It reports false if the leader finds none.
func (b *siege) end(l *siegeCell, i uint64) (message.TaskSummary, bool) {
	t := message.TaskSummary{Index: i, Signed: true}
	want := b.s.jobs[b.id].spec.Replicas
	again, isAgain := l.again[i]
	said := map[string][]task.Result{} // by output: replicas agree in the end
	var had []int
	for range 4 * want {
		w := 0
		if isAgain {
			w = b.reruns(l, again, had)
		} else {
			w = b.ordinary(l, had)
		}
		if w == 0 {
			return t, false
		}
		had = append(had, w)
		r := b.result(l, w, i, isAgain)
		text := string(r.Outputs[0].Inline)
		if said[text] = append(said[text], r); len(said[text]) == want {
			t.Results = said[text]
			return t, true
		}
	}
	return t, false
}

// ordinary chooses the worker of an ordinary lease among those that did not have the task; 0 if nobody may.
func (b *siege) ordinary(l *siegeCell, had []int) int {
	hostile := b.keys > 0 && b.rng.IntN(100) < b.share
	if l.hostile && len(b.leaders) > 1 { // the other cell has no honest workers
		hostile = true
	}
	if hostile {
		if w := b.attacker(had, l.hostile); w != 0 {
			return w
		}
	}
	if b.honest == 0 {
		return 0
	}
	from := b.rng.IntN(b.honest)
	for k := range b.honest {
		if w := siegeHonest + (from+k)%b.honest; !b.refused[b.peer(w)] && !slices.Contains(had, w) {
			return w
		}
	}
	return 0
}

// attacker returns the key that the attacker uses next, or 0 if the submitter refuses all that did not have the
// task. A hostile leader then goes on with refused keys.
func (b *siege) attacker(had []int, anyway bool) int {
	for _, least := range []bool{true, false} { // in the end every key has had its share, and begins anew
		for k := range b.keys {
			n := (b.key + k) % b.keys
			w := siegeKeys + n
			if b.refused[b.peer(w)] || slices.Contains(had, w) || least && b.each > 0 && b.used[n] >= b.each {
				continue
			}
			if n != b.key {
				b.key, b.workers = n, nil
			}
			b.used[n]++
			return w
		}
	}
	if n := b.rng.IntN(b.keys); anyway && !slices.Contains(had, siegeKeys+n) {
		return siegeKeys + n
	}
	return 0
}

// reruns chooses the worker of a re-run among those that the submitter names and that did not have the task; 0 if there
// is none. A hostile leader prefers the attacker's keys.
func (b *siege) reruns(l *siegeCell, a message.Again, had []int) int {
	may := func(w int) bool {
		p := b.peer(w)
		return !slices.Contains(had, w) && !slices.Contains(a.Not, p) &&
			(len(a.Only) == 0 || slices.Contains(a.Only, p)) && (l.hostile || !b.refused[p])
	}
	var good, bad []int
	for n := range b.honest {
		if may(siegeHonest + n) {
			good = append(good, siegeHonest+n)
		}
	}
	for n := range b.keys {
		if (b.votes || n == b.key) && may(siegeKeys+n) {
			bad = append(bad, siegeKeys+n)
		}
	}
	of := append(good, bad...)
	if l.hostile && len(bad) > 0 {
		of = bad
	}
	if len(of) == 0 {
		return 0
	}
	return of[b.rng.IntN(len(of))]
}

// result is a worker's signed result of a task. All of the attacker's keys invent the same output.
//
// It signs only what the submitter reads. The driver verifies workers' signatures, and the leader that the submitter
// follows is known by its connection. Real signatures would take two thirds of the time of a siege.
func (b *siege) result(l *siegeCell, worker int, i uint64, again bool) task.Result {
	of := b.identity(worker)
	says, took := b.right(i), siegeRun
	if worker >= siegeKeys {
		if took = max(b.claims, time.Millisecond); again || !b.truthful && !(b.halves && i%2 == 0) {
			says = fmt.Sprint("invented ", i)
		}
	}
	r := schedtest.Unsigned(b.task(i), says)
	r.Wall, r.CPU = took, took
	if b.engine != "" {
		r.Trail = &task.Trail{Pass: 1, Fuel: 100, Engine: "amd64"}
		if worker >= siegeKeys || b.alike {
			r.Trail.Engine = b.engine
		}
	}
	b.seq++
	receipt := &task.Receipt{Epoch: 2, Seq: b.seq, Issued: b.now.Add(-siegeRun).UnixMilli()}
	if l.peer == b.s.leader {
		receipt.Leader, receipt.Signature = l.peer, unread[:]
	} else {
		var err error
		if receipt, err = task.NewReceipt(l.key, l.peer, r.Task, of.peer, *receipt); err != nil {
			b.tb.Fatal(err)
		}
	}
	r.Worker, r.Receipt, r.Signature = of.peer, receipt, unread[:]
	return r
}
