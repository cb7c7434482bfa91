package submitter

import (
	"crypto/sha256"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"godwit/credibility"
	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// tells has another submitter tell so many tasks of a worker, and offer a result to be tried.
func (b *auditBench) tells(teller int, tasks float64, workers ...int) *task.Tally {
	_, self := schedtest.Identity(teller)
	t := &task.Tally{Overlay: "lab", Teller: self, Issued: b.now.Unix(), Shown: [][]byte{make([]byte, sha256.Size)}}
	for _, w := range workers {
		_, worker := schedtest.Identity(w)
		t.Rows = append(t.Rows, task.TallyRow{Worker: worker, Right: task.Tallied(tasks)})
	}
	slices.SortFunc(t.Rows, func(x, y task.TallyRow) int {
		if x.Worker < y.Worker {
			return -1
		}
		return 1
	})
	b.do(message.Told{Tally: t})
	return t
}

// tried has the newest tally of a teller be tried.
func (b *auditBench) tried(t *task.Tally, right bool) {
	b.do(message.Redone{Teller: t.Teller, Issued: t.Issued, Right: right})
}

// knows has so many tasks of a worker be right here.
func (b *auditBench) knows(worker int, tasks float64) task.PeerID {
	_, w := schedtest.Identity(worker)
	c := b.s.audits.credit(w)
	c.Known, c.At, c.First = tasks, b.now, b.now
	b.s.effects = nil
	b.s.audits.keep(w)
	for _, e := range b.s.effects {
		b.disk[e.(message.Persist).Key] = e.(message.Persist).Value
	}
	return w
}

func (b *auditBench) believed(worker int) float64 {
	_, w := schedtest.Identity(worker)
	return b.s.audits.heard.believed(w, b.s.audits.known(w))
}

// What others tell in an open pool counts as far as they were tried, and at most as much as was seen
// here, however many they are and whatever they say.
func TestToldInOpenPool(t *testing.T) {
	const worker, stranger = 2, 3
	b := newAuditBench(t, 1, "1e-3")
	b.knows(worker, 30)
	is := func(what string, want float64) {
		t.Helper()
		if got := b.believed(worker); math.Abs(got-want) > 1e-3 {
			t.Errorf("%s: %.3f tasks are believed, want %g", what, got, want)
		}
		if got := b.believed(stranger); got != 0 {
			t.Errorf("%s: of whom nothing is known here %g", what, got)
		}
	}
	first := b.tells(10, 12, worker, stranger)
	is("one that was not tried", 30)
	b.tried(first, true)
	is("one that was right", 42)
	b.tried(first, false)
	is("a tally is tried once", 42)
	b.now = b.now.Add(time.Second)
	b.tried(b.tells(10, 12, worker, stranger), false)
	is("one that was right once of twice", 36)
	for liar := range maxTellers {
		b.tried(b.tells(100+liar, 1e7, worker, stranger), true)
	}
	is("a crowd of liars", 60)
	if n := len(b.s.audits.heard.tellers); n != maxTellers {
		t.Errorf("%d are listened to", n)
	}
	_, liar := schedtest.Identity(100)
	b.do(message.Proven{Worker: liar})
	if b.s.audits.heard.weight(liar) != 0 {
		t.Error("one that was proven wrong counts")
	}
	b.restart()
	is("after a restart", 60)
	b.now = b.now.Add(task.TallyLife)
	if b.do(message.Wake{}); b.believed(worker) > 30 {
		t.Error("what was told long ago counts")
	}
}

// Where members were let in each one's word counts, with ten tasks more than was seen here; it fades
// as what was seen.
func TestToldByMembers(t *testing.T) {
	const worker, stranger = 2, 3
	b := newAuditBench(t, 1, "1e-3")
	b.s.Assume(credibility.InvitedPool, credibility.Strangers{})
	b.knows(worker, 5)
	b.tells(10, 4, worker, stranger)
	b.tells(11, 100, stranger)
	if got := [2]float64{b.believed(worker), b.believed(stranger)}; got != [2]float64{9, 10} {
		t.Errorf("believed are %v", got)
	}
	b.restart()
	b.now = b.now.Add(24 * time.Hour)
	b.do(message.Wake{})
	if want, got := credibility.Faded(9, 24*time.Hour), b.believed(worker); math.Abs(got-want) > 1e-3 {
		t.Errorf("a day later %g, want %g", got, want)
	}
	if TalliesOf(b.s).ToTry() != nil {
		t.Error("members' tallies are tried")
	}
}

// Tried is what would count, of tellers that are not refused, once for each tally. Who was right keeps
// its place; who never was gives it to others.
func TestToTry(t *testing.T) {
	const worker, elsewhere = 2, 3
	b := newAuditBench(t, 1, "1e-3")
	b.knows(worker, 1)
	tries := func() (out []task.PeerID) {
		for _, t := range TalliesOf(b.s).ToTry() {
			out = append(out, t.Teller)
		}
		return out
	}
	b.tells(10, 5, elsewhere)
	good := b.tells(11, 5, worker)
	if got := tries(); !slices.Equal(got, []task.PeerID{good.Teller}) {
		t.Fatalf("tried are %v", got)
	}
	b.tried(good, true)
	b.tells(11, 6, worker) // as old: it is none
	if len(tries()) > 0 || b.believed(worker) != 2 {
		t.Errorf("%v are tried again", tries())
	}
	b.now = b.now.Add(time.Second)
	for liar := range maxTellers {
		tally := b.tells(100+liar, 5, worker)
		b.tried(tally, false)
		if !slices.Contains(b.s.audits.heard.order, tally.Teller) {
			t.Fatalf("teller %d is not listened to", liar)
		}
	}
	own := *good
	own.Teller, own.Issued = b.self, b.now.Unix()
	b.do(message.Told{Tally: &own})
	old := *good
	_, old.Teller = schedtest.Identity(9)
	old.Issued = b.now.Add(-task.TallyLife).Unix()
	b.do(message.Told{Tally: &old})
	for _, peer := range []task.PeerID{b.self, old.Teller} {
		if b.s.audits.heard.tellers[peer] != nil {
			t.Errorf("%s is listened to", peer)
		}
	}
	if w := b.s.audits.heard.weight(good.Teller); w != 1 || !slices.IsSorted(b.s.audits.heard.order) {
		t.Errorf("who was right counts %g", w)
	}
	b.tells(11, 5, worker)
	if got := tries(); !slices.Equal(got, []task.PeerID{good.Teller}) {
		t.Errorf("of another tally tried are %v", got)
	}
}

// Tellers that offer nothing to run again here fill the table first. One that offers something is listened to all the
// same, and keeps its place while it can come to count.
func TestTellersWithoutProofGiveWay(t *testing.T) {
	const worker, elsewhere = 2, 3
	b := newAuditBench(t, 1, "1e-3")
	b.knows(worker, 1)
	for liar := range maxTellers {
		_, teller := schedtest.Identity(100 + liar)
		_, of := schedtest.Identity([]int{worker, elsewhere}[liar%2])
		tally := &task.Tally{Overlay: "lab", Teller: teller, Issued: b.now.Unix(),
			Rows: []task.TallyRow{{Worker: of, Right: task.Tallied(5)}}}
		if liar%2 == 1 {
			tally.Shown = [][]byte{make([]byte, sha256.Size)} // of a worker that is not known here
		}
		b.do(message.Told{Tally: tally})
	}
	good := b.tells(11, 5, worker)
	for liar := range 2 * maxTellers {
		b.tells(200+liar, 5, elsewhere)
	}
	if got := TalliesOf(b.s).ToTry(); len(got) != 1 || got[0].Teller != good.Teller {
		t.Fatalf("%d tallies are tried", len(got))
	}
	if n := len(b.s.audits.heard.tellers); n > maxTellers {
		t.Errorf("%d are listened to", n)
	}
}

// A teller that praises its own keys without measure: what they make is run again as the bound says, and
// once one of them lies, all of it is in doubt; no wrong result is final. A worker of whom nothing is
// known here gains nothing.
func TestTellerPraisesItsOwn(t *testing.T) {
	const liar, teller, tasks = 2, 9, 300
	b := newAuditBench(t, tasks, "1e-3")
	b.s.cfg.Strangers = credibility.Strangers{}
	b.tried(b.tells(teller, 1e7, liar), true)
	_, lies := schedtest.Identity(liar)
	terms := credibility.Terms{Prior: .1, Target: 1e-3, Least: .03}
	for i := range uint64(tasks) {
		own := b.s.audits.known(lies)
		v := b.s.jobs[b.id].spec.Verify
		got, least := b.s.audits.share(v, lies), terms.Share(2*own.Right(b.now))
		if own.Faults == 0 && got < least-1e-9 {
			t.Fatalf("task %d: a share of %g, at least %g", i, got, least)
		}
		says := truth
		if i >= 60 && i%3 == 0 {
			says = "lie"
		}
		b.deliver(i, nil, b.ran(liar, i, says))
		for len(b.audits) > 0 {
			b.answer(b.says(truth))
		}
		for k := uint64(60); k <= i; k += 3 {
			if b.standings(k)[0] == message.StandingFinal {
				t.Fatalf("the lie of task %d is final", k)
			}
		}
	}
	if b.s.audits.known(lies).Faults == 0 {
		t.Error("the liar is not found")
	}
}

// rowOf is what a tally says of a worker.
func rowOf(t *task.Tally, worker task.PeerID) (r task.TallyRow) {
	if i := slices.IndexFunc(t.Rows, func(r task.TallyRow) bool { return r.Worker == worker }); i >= 0 {
		r = t.Rows[i]
	}
	return r
}

// What this node tells is what it saw itself, in bounds, and results that it found right, which it shows.
func TestTally(t *testing.T) {
	b := newAuditBench(t, 50, "full")
	if TalliesOf(b.s).Make("lab") != nil {
		t.Error("who knows nothing tells it")
	}
	for i := range uint64(50) {
		says := map[bool]string{true: "lie", false: truth}[i == 3]
		b.deliver(i, nil, b.ran(2+int(i%3), i, says))
		for len(b.audits) > 0 {
			b.answer(b.says(truth))
		}
	}
	_, liar := schedtest.Identity(2)
	_, praised := schedtest.Identity(9)
	b.s.audits.credit(praised).Praise(7, b.now) // which is others' word
	got := TalliesOf(b.s).Make("lab")
	if len(got.Rows) != 3 || !rowOf(got, liar).Refused || rowOf(got, praised).Right > 0 || got.Teller != b.self {
		t.Errorf("%+v", got.Rows)
	}
	if len(got.Shown) != task.MaxTallyShown {
		t.Fatalf("%d results are offered", len(got.Shown))
	}
	if _, err := got.Sign(b.key); err != nil {
		t.Error(err)
	}
	id, shows := TalliesOf(b.s).Shows([32]byte(got.Shown[0]))
	if held := b.held(id.Index); !shows || task.TallyName(&held.Results[0]) != [32]byte(got.Shown[0]) {
		t.Errorf("shown is %v, %v", id, shows)
	}
	if _, shows := TalliesOf(b.s).Shows([32]byte{1}); shows {
		t.Error("it shows what it never offered")
	}
	for i := range task.MaxTallyRows {
		b.knows(1000+i, 1e9)
	}
	if got = TalliesOf(b.s).Make("lab"); len(got.Rows) != task.MaxTallyRows || !rowOf(got, liar).Refused {
		t.Errorf("%d rows", len(got.Rows))
	}
	if _, err := got.Sign(b.key); err != nil {
		t.Error(err)
	}
	b.now = b.now.Add(shownFor)
	b.do(message.Wake{})
	if got = TalliesOf(b.s).Make("lab"); len(got.Shown) > 0 {
		t.Errorf("after a day %d results are offered", len(got.Shown))
	}
}

// A job says how far others' word counts for what is accepted.
func TestHeardOf(t *testing.T) {
	b := newAuditBench(t, 1, "0.0001%")
	b.apart = 0
	b.s.cfg.Pool.Least = 0
	b.knows(2, 4)
	b.deliver(0, nil, b.ran(2, 0, truth))
	if h := b.allChecks().Heard; h != nil {
		t.Errorf("nobody told, and it says %+v", h)
	}
	b.tried(b.tells(10, 3, 2), true)
	b.tells(11, 9, 2)
	if h := b.allChecks().Heard; fmt.Sprintf("%+v", h) != "&{Tellers:1 Workers:1 Own:4 Told:3}" {
		t.Errorf("it says %+v", h)
	}
}
