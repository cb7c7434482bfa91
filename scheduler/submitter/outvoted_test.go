package submitter

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"godwit/credibility"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// members is a map that knows who lends slots.
type members []task.PeerID

func (members) Network(task.PeerID) string { return "" }
func (m members) Workers() []task.PeerID   { return slices.Clone(m) }
func (m members) Peers() []task.PeerID     { return slices.Clone(m) }

// membersOf are the workers of a bench from one number to another.
func membersOf(from, to int) members {
	var out members
	for w := from; w <= to; w++ {
		_, id := schedtest.Identity(w)
		out = append(out, id)
	}
	slices.Sort(out)
	return out
}

// next is the number of a worker that may have a task, as a leader chooses; -1 for none.
func (b *leaderBench) next(i uint64, from, to int) int {
	for w := from; w <= to; w++ {
		_, id := schedtest.Identity(w)
		if a := b.again[i]; !b.barred(w, i) && !b.kept(id) && (len(a.Only) == 0 || slices.Contains(a.Only, id)) {
			return w
		}
	}
	return -1
}

// kept reports whether a worker is kept from the job.
func (b *leaderBench) kept(id task.PeerID) bool {
	return slices.Contains(b.s.audits.refused(b.s.jobs[b.id]), id)
}

// A few members are named that may run a task once more, drawn anew when nobody answered, and never one
// that has run it.
func TestRefereesAreDrawn(t *testing.T) {
	b := newLeaderBench(t, 1, "1e-3", false)
	b.s.cfg.Where = membersOf(1, 30)
	b.bring(2, 0, truth)
	for len(b.again) == 0 {
		b.wait()
	}
	first := b.again[0]
	_, signer := schedtest.Identity(2)
	if len(first.Only) != referees || slices.Contains(first.Only, signer) || slices.Contains(first.Only, b.self) {
		t.Fatalf("%+v", first)
	}
	w := b.next(0, 3, 30)
	b.bring(w, 0, truth)
	left := 0
	for _, id := range b.again[0].Only {
		if slices.Contains(first.Only, id) {
			left++
		}
	}
	if len(b.again[0].Only) != referees || left != referees-1 {
		t.Errorf("%v, then %v", first.Only, b.again[0].Only)
	}
	for out := 3; out < 30; out++ { // one that was not drawn has no say
		if _, id := schedtest.Identity(out); !slices.Contains(b.again[0].Only, id) && !b.barred(out, 0) {
			b.bring(out, 0, "wrong")
			break
		}
	}
	if p := b.s.jobs[b.id].checks.polls[0]; len(p.with) != 1 || len(p.against) != 0 {
		t.Errorf("%+v", p)
	}
	before := b.again[0].Only
	for n := 0; slices.Equal(before, b.again[0].Only); n++ {
		if n == 1000 {
			t.Fatal("nobody answers, and the same are asked for ever")
		}
		b.wait()
	}
}

// nets are members of which each second is in the network of the first.
type nets struct{ members }

func (n nets) Network(w task.PeerID) string {
	return map[bool]string{true: "198.51.0.0/16", false: "203.0.0.0/16"}[slices.Index(n.members, w)%2 == 0]
}

// Who compares is in another network than who ran the task, while there is somebody.
func TestRefereesAreFar(t *testing.T) {
	b := newLeaderBench(t, 1, "full", false)
	all := membersOf(2, 9)
	b.s.cfg.Where = nets{all}
	b.bring(2, 0, truth)
	for len(b.again) == 0 {
		b.wait()
	}
	at := nets{all}.Network(peerOf(2))
	for _, w := range b.again[0].Only {
		if (nets{all}).Network(w) == at {
			t.Errorf("%s is in the network of the worker", w)
		}
	}
	b = newLeaderBench(t, 1, "full", false)
	b.s.cfg.Where = village(all)
	b.bring(2, 0, truth)
	for len(b.again) == 0 {
		b.wait()
	}
	if len(b.again[0].Only) != referees {
		t.Errorf("all are in one network, and %v are drawn", b.again[0].Only)
	}
}

// village has all in one network.
type village members

func (village) Network(task.PeerID) string { return "198.51.0.0/16" }
func (n village) Workers() []task.PeerID   { return members(n).Workers() }
func (n village) Peers() []task.PeerID     { return members(n).Workers() }

// Who was outvoted has no say any more: not in what it had accepted before, nor later. It is not named.
func TestOutvotedHasNoSay(t *testing.T) {
	b := newInvitedBench(t, 3, "1e-3")
	b.s.cfg.Pool.Least = 1 // all is drawn
	b.bring(2, 0, truth)
	b.bring(9, 1, "wrong")
	b.bring(9, 2, truth)
	for len(b.again) < 3 {
		b.wait()
	}
	for w := 3; w < 6; w++ {
		b.bring(map[bool]int{true: 9, false: w}[w == 3], 0, truth) // it agrees, and is right
	}
	if c := b.allChecks(); c.Accepted != 1 {
		t.Fatalf("%+v", c)
	}
	for w := 2; w < 9 && len(b.lacks()) == 0; w++ {
		b.bring(w, 1, truth)
	}
	_, liar := schedtest.Identity(9)
	credit := b.s.audits.known(liar)
	if credit.Says(b.now) || credit.Faults > 0 || !b.kept(liar) {
		t.Errorf("%+v, kept away %v", credit, b.kept(liar))
	}
	if got := b.lacks(); !slices.Equal(got, []uint64{0, 1, 2}) {
		t.Errorf("given back are %v: what it made, and what was accepted by its word", got)
	}
	b.reborn(false)
	if credit := b.s.audits.known(liar); credit.Says(b.now) || !credit.Says(b.now.Add(credibility.HalfLife+time.Hour)) {
		t.Errorf("later %+v", credit)
	}
}

// What was accepted by the word of a teller is run again once others outvoted it: its word counts no more.
func TestOutvotedTeller(t *testing.T) {
	t.Run("a leader that hears each word", func(t *testing.T) { outvotedTeller(t, gotPause) })
	// It has tasks run again by those that may not, whose word counts nothing: its signer's alone is left then.
	t.Run("one that hears late", func(t *testing.T) { outvotedTeller(t, 0) })
}

func outvotedTeller(t *testing.T, apart time.Duration) {
	const tasks, worker, teller = 60, 2, 9
	b := newLeaderBench(t, tasks, "1e-2", false)
	b.apart = apart
	b.s.cfg.Strangers = credibility.Strangers{}
	b.knows(worker, 12)
	b.tried(b.tells(teller, 12, worker), true)
	for i := range uint64(tasks) {
		b.bring(worker, i, truth)
	}
	c, liar := b.s.jobs[b.id].checks, peerOf(teller)
	told := slices.Clone(*c.told[liar])
	if told.Count() == 0 {
		t.Fatal("nothing was accepted by its word")
	}
	for n := 0; ; n++ {
		if st, _ := b.s.Job(b.id); st.Settled() {
			break
		}
		if n == 5000 {
			t.Fatalf("it does not end: %+v", b.allChecks())
		}
		lacking := b.lacking()
		if len(lacking) == 0 {
			b.wait()
			continue
		}
		i := lacking[n%len(lacking)]
		if w := b.next(i, teller, teller); w > 0 && c.told[liar].Count() > 0 && told.Minus(only(i)).Count() == told.Count() {
			b.bring(w, i, "wrong")
		} else if w := b.next(i, 3, 8); w > 0 {
			b.bring(w, i, truth)
		}
		if left := *c.told[liar]; len(left) > 0 && !b.s.audits.abroad.says(liar) {
			t.Fatalf("%v stay accepted by its word, which is none", left)
		}
	}
	if b.s.audits.abroad.says(liar) || b.faults(teller)+b.faults(worker) > 0 || !b.s.audits.abroad.says(peerOf(worker)) {
		t.Errorf("it has a say: %v; faults %d, %d", b.s.audits.abroad.says(liar), b.faults(teller), b.faults(worker))
	}
}

// Nobody is left to ask: the machine runs the task itself at once, though it lends nothing, and says so.
func TestNobodyIsLeft(t *testing.T) {
	b := newLeaderBench(t, 1, "1e-3", false)
	b.s.cfg.Where = membersOf(2, 3)
	b.bring(2, 0, "wrong")
	for len(b.again) == 0 {
		b.wait()
	}
	b.bring(3, 0, truth)
	if len(b.audits) != 1 || !b.audits[0].Alone {
		t.Fatalf("%+v run here", b.audits)
	}
	b.answer(b.says(truth))
	b.answer(b.says(truth))
	if c := b.allChecks(); c.Wrong != 1 || b.faults(2) != 1 || b.faults(3) != 0 || !c.Delivered {
		t.Errorf("%+v, faults %d and %d", c, b.faults(2), b.faults(3))
	}
}

// A machine that never lends a core comes to the end of a job whose results are checked, however many
// lie, alike or each for itself, though the leader lets them look at each other's work: it runs itself
// what nobody else can. Nobody honest is named, and what was run here is right.
func TestLendsNothingProperty(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		const tasks, first, last = 8, 2, 9
		b := newLeaderBench(t, tasks, rapid.SampledFrom([]string{"full", "1e-3"}).Draw(rt, "verify"), false)
		b.s.cfg.Where = membersOf(first, last)
		liars := map[int]string{}
		for w := first; w <= last; w++ {
			if k := rapid.IntRange(0, 4).Draw(rt, fmt.Sprintf("worker %d", w)); k < 2 {
				liars[w] = []string{"agreed", fmt.Sprintf("wrong %d", w)}[k]
			}
		}
		routed := rapid.Bool().Draw(rt, "the leader is with the liars")
		says := func(w int) string {
			if liars[w] != "" && rapid.IntRange(0, 2).Draw(rt, "lies") > 0 {
				return liars[w]
			}
			return truth
		}
		for n := 0; ; n++ {
			if st, _ := b.s.Job(b.id); st.Settled() {
				break
			}
			if n == 20_000 {
				rt.Fatalf("%+v waits for %v, to be run here %d", b.allChecks(), b.again, len(b.audits))
			}
			lacking := b.lacking()
			switch k := rapid.IntRange(0, 9).Draw(rt, "next"); {
			case k == 0 && n < 300:
				b.reborn(false)
				b.s.cfg.Where = membersOf(first, last)
			case k < 7 && len(lacking) > 0:
				i := rapid.SampledFrom(lacking).Draw(rt, "task")
				w := b.next(i, rapid.IntRange(first, last).Draw(rt, "from"), last)
				if w < 0 {
					w = b.next(i, first, last)
				}
				if w < 0 { // all are kept away: another comes
					w = last + 1
				}
				for l := first; l <= last && routed && n < 300; l++ { // whoever was drawn
					if liars[l] == "agreed" && !b.barred(l, i) {
						w = l
					}
				}
				b.bring(w, i, says(w))
			case len(b.audits) > 0:
				if !b.audits[0].Alone {
					rt.Fatal("it is to wait for a core that is never lent")
				}
				b.answer(b.says(truth))
			default:
				b.wait()
			}
		}
		for w := first; w <= last; w++ {
			if b.faults(w) > 0 && liars[w] == "" {
				rt.Errorf("the honest worker %d is named", w)
			}
		}
		c := b.s.jobs[b.id].checks
		for i := range uint64(tasks) {
			if text := string(b.held(i).Results[0].Outputs[0].Inline); c.right.Contains(i) || c.wrong.Contains(i) {
				if text != truth {
					rt.Errorf("task %d was run here, and is %q", i, text)
				}
			}
		}
	})
}
