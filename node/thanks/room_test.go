package thanks

import (
	"encoding/binary"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"godwit/task"
)

// stranger is the nth key of an attacker.
func stranger(n int) task.PeerID {
	return task.PeerID(binary.BigEndian.AppendUint64([]byte("key"), uint64(n)))
}

// receiptOf is a receipt for a day before noon's.
func receiptOf(by task.PeerID, daysAgo int64, given task.Given) Note {
	return Note{Thanks: &task.Thanks{Overlay: lab, Submitter: by, Worker: peer(9), Day: task.DayOf(noon) - daysAgo,
		Issued: noon.Unix(), Given: []task.Given{given}}}
}

// creditBy sums up the receipts of a submitter that are kept.
func creditBy(g *Got, by task.PeerID) (sum Amount) {
	for _, n := range g.Since("", 0) {
		if n.Submitter == by {
			sum.add(Sum([]Note{n}))
		}
	}
	return sum
}

// Keys for which this machine did less work each do not make a submitter's credit smaller, whatever their number,
// their claims, their days and the order in which receipts and work arrive.
func TestKeysDoNotShrinkAnothersCredit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g, honest := NewGot(peer(9), 4), peer(1)
		g.most, g.patrons = 40, NewPatrons(30)
		const work = time.Hour
		days := rapid.IntRange(1, 20).Draw(t, "days")
		spent := time.Duration(0)
		var steps []func()
		for d := range days {
			steps = append(steps, func() {
				if _, err := g.Take(receiptOf(honest, int64(d), task.Given{Tasks: 100, CPU: time.Minute}), noon); err != nil {
					t.Fatal(err)
				}
			})
		}
		for range rapid.IntRange(0, 300).Draw(t, "receipts") {
			by := stranger(rapid.IntRange(0, 80).Draw(t, "key"))
			ran := time.Duration(rapid.IntRange(0, int(20*time.Minute)).Draw(t, "work")) * time.Duration(rapid.IntRange(0, 1).Draw(t, "ran"))
			claim := task.Given{Project: "x", Tasks: uint64(rapid.IntRange(1, 1<<40).Draw(t, "tasks")), CPU: 2 * task.Day}
			ago := int64(rapid.IntRange(0, GotFor).Draw(t, "day"))
			steps = append(steps, func() {
				if g.patrons.Work(by)+ran < work && spent+ran < 30*work {
					spent += ran
					g.Ran(by, ran)
				}
				_, _ = g.Take(receiptOf(by, ago, claim), noon)
			})
		}
		g.Ran(honest, work)
		for _, step := range rapid.Permutation(steps).Draw(t, "order") {
			step()
		}
		if got := creditBy(g, honest).Tasks; got != uint64(100*days) {
			t.Fatalf("%d of %d tasks are left", got, 100*days)
		}
		if len(g.notes) > g.most {
			t.Fatalf("%d receipts", len(g.notes))
		}
	})
}

// 400 keys send receipts for eleven days each. The submitter of a month's work keeps all of its credit, and other
// members read its receipts first.
func TestManyKeysDoNotEvictASubmitter(t *testing.T) {
	g, honest := NewGot(peer(9), 4), peer(1)
	g.Ran(honest, time.Hour)
	for d := int64(1); d <= 30; d++ {
		if _, err := g.Take(receiptOf(honest, d, task.Given{Tasks: 100, CPU: time.Hour}), noon); err != nil {
			t.Fatal(err)
		}
	}
	for n := range 400 {
		g.Ran(stranger(n), time.Second)
		for d := range int64(11) {
			if _, err := g.Take(receiptOf(stranger(n), d, task.Given{Fuel: 1, CPU: task.Day}), noon); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got := creditBy(g, honest).Tasks; got != 3000 {
		t.Errorf("%d of 3000 tasks are left", got)
	}
	if shown := g.Shown(lab, 0); len(shown) != MostGot || shown[0].Submitter != honest || shown[29].Submitter != honest ||
		shown[0].Day != task.DayOf(noon)-1 {
		t.Errorf("of %d receipts another's is read first", len(shown))
	}
}

// A submitter of little work keeps a receipt beside one whose receipts fill the table.
func TestSmallSubmitterKeepsAReceipt(t *testing.T) {
	g := NewGot(peer(9), 4)
	g.most = 20
	g.Ran(peer(1), time.Hour)
	g.Ran(peer(2), time.Minute)
	for by, days := range map[byte]int64{1: 60, 2: 5} {
		for d := range days {
			if _, err := g.Take(receiptOf(peer(by), d, task.Given{Tasks: 1, CPU: time.Minute}), noon); err != nil {
				t.Fatal(err)
			}
		}
	}
	if small, big := creditBy(g, peer(2)).Tasks, creditBy(g, peer(1)).Tasks; small != 1 || big != 19 {
		t.Errorf("%d receipts of the small one, %d of the other", small, big)
	}
}

// Patrons keep each submitter with more than its share of all work, whatever the other keys and their order.
func TestPatronsKeepWhoWorkedMost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const most = 8
		p, really := NewPatrons(most), map[task.PeerID]time.Duration{}
		var all time.Duration
		for range rapid.IntRange(0, 400).Draw(t, "steps") {
			of := stranger(rapid.IntRange(0, 60).Draw(t, "key"))
			work := time.Duration(rapid.SampledFrom([]int{0, 0, 1, 1, 50}).Draw(t, "work"))
			p.Add(of, work)
			really[of] += work
			all += work
		}
		for of, work := range really {
			if work > all/most && !p.Has(of) {
				t.Fatalf("%v of %v is forgotten", work, all)
			}
			if p.Has(of) && (p.Work(of) < work || p.Work(of) > work+all/most) {
				t.Fatalf("%v of work count as %v, of %v in all", work, p.Work(of), all)
			}
		}
		if len(p.All()) > most {
			t.Fatalf("%d submitters", len(p.All()))
		}
	})
}

// Totals stay at the largest value: no claim makes a sum smaller.
func TestTotalsDoNotWrap(t *testing.T) {
	var all []*task.Thanks
	var notes []Note
	for d := range int64(3) {
		for by := byte(1); by <= 3; by++ {
			n := receiptOf(peer(by), d, task.Given{Project: "x", Tasks: 1 << 36, Fuel: 1<<63 - 1, CPU: 4000 * task.Day})
			all, notes = append(all, n.Thanks), append(notes, n)
		}
	}
	if r := Table(all, func(task.PeerID) int { return math.MaxInt }); r[0].Fuel != math.MaxUint64 || r[0].Tasks != 9<<36 {
		t.Errorf("the table has %+v", r[0])
	}
	if by := Projects(notes); len(by) != 3 || by[0].Fuel != math.MaxUint64 {
		t.Errorf("by project %+v", by)
	}
	if sum := Sum(notes); sum.Fuel != math.MaxUint64 || sum.CPU != 9*4000*task.Day {
		t.Errorf("in all %+v", sum)
	}
	rapid.Check(t, func(t *rapid.T) {
		amount := rapid.Custom(func(t *rapid.T) Amount {
			return Amount{rapid.Uint64().Draw(t, "tasks"), time.Duration(rapid.Int64().Draw(t, "cpu")), rapid.Uint64().Draw(t, "fuel")}
		})
		sum := amount.Draw(t, "a")
		sum.CPU = max(0, sum.CPU)
		before := sum
		sum.add(amount.Draw(t, "b"))
		if sum.Tasks < before.Tasks || sum.CPU < before.CPU || sum.Fuel < before.Fuel {
			t.Fatalf("%+v became %+v", before, sum)
		}
	})
}

// Workers of one short task each do not push out what a submitter owes a worker that did more.
func TestOwedKeepsWhoGaveMost(t *testing.T) {
	o := NewOwed(peer(1))
	o.Add(lab, task.Gift{Worker: peer(2), Given: task.Given{Tasks: 9, CPU: time.Hour}}, noon.Add(-task.Day))
	for n := range MostOwed + 100 {
		o.Add(lab, task.Gift{Worker: stranger(n), Given: task.Given{Tasks: 1, CPU: time.Second}}, noon)
	}
	if p := o.pages[Page{lab, peer(2), task.DayOf(noon) - 1}]; p == nil || len(o.pages) > MostOwed {
		t.Errorf("what an hour's work is owed is dropped, of %d pages", len(o.pages))
	}
}
