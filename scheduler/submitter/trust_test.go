package submitter

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

const (
	trustTasks  = 8
	firstOfPool = 2
	lastOfPool  = 12 // this one is honest
	itsLeader   = 30 // and the one after it leads next
)

// A trustBench is a submitter among members of which any lie, whose leader is another node that does what it likes.
type trustBench struct {
	*leaderBench
	rt      *rapid.T
	crew    crew
	leader  int
	epoch   uint64
	lends   bool
	liars   map[int]string        // how each lies
	refuse  map[int]bool          // who gives no states
	lieAt   map[uint64]int        // where those who agree are wrong in a task
	runs    map[string]movedRun   // by the last signature
	kept    map[int][]task.Result // what a leader acknowledged to a member and gave nobody
	copies  []task.Result         // of these what another coordinator has
	keptIn  map[uint64]uint64     // in which delivery a task's was
	hoards  bool
	forges  bool
	friends bool // the leader gives those who agree what they may have
	keeps   bool // the leader leases nothing
	trails  bool // the program leaves trails, and moves as it likes
}

func newTrustBench(t *testing.T, rt *rapid.T) *trustBench {
	verify := rapid.SampledFrom([]string{"full", "1e-3", "50%", "20%"}).Draw(rt, "verify")
	lends := rapid.Bool().Draw(rt, "lends")
	b := &trustBench{leaderBench: newLeaderBench(t, trustTasks, verify, lends), rt: rt, lends: lends, leader: itsLeader,
		epoch: 1, liars: map[int]string{}, refuse: map[int]bool{}, lieAt: map[uint64]int{}, runs: map[string]movedRun{},
		kept: map[int][]task.Result{}, keptIn: map[uint64]uint64{},
		trails: rapid.IntRange(0, 2).Draw(rt, "trails") > 0}
	for w := firstOfPool; w <= lastOfPool; w++ {
		b.crew.lends = append(b.crew.lends, w)
		k := rapid.IntRange(0, 7).Draw(rt, fmt.Sprintf("worker %d", w))
		if w == lastOfPool || k > 3 {
			continue
		}
		if b.liars[w] = []string{"agreed", "agreed", "alone", "auditor"}[k]; rapid.Bool().Draw(rt, "refuses") {
			b.refuse[w] = true
		}
	}
	b.crew.group = []int{itsLeader, itsLeader + 1, itsLeader + 2}
	b.sees(&b.crew)
	b.s.cfg.Unaided = true
	b.leads()
	return b
}

// leads has the leader be what it likes.
func (b *trustBench) leads() {
	b.hoards = rapid.Bool().Draw(b.rt, "hoards")
	b.forges = rapid.Bool().Draw(b.rt, "forges")
	b.friends = rapid.Bool().Draw(b.rt, "has friends")
	b.keeps = rapid.IntRange(0, 3).Draw(b.rt, "leases") == 0
	b.epoch++
	clear(b.keptIn)
	b.act(message.LeaderChanged{Leader: peerOf(b.leader), Epoch: b.epoch})
}

// reborn starts the node anew.
func (b *trustBench) reborn() {
	b.first = nil
	b.leaderBench.reborn(b.lends)
	b.act(message.LeaderChanged{Leader: peerOf(b.leader), Epoch: b.epoch})
}

// act takes a step, and has those who are asked bring what they have.
func (b *trustBench) act(ev message.Event) {
	b.leaderBench.act(ev)
	b.asked()
}

func (b *trustBench) asked() {
	for _, e := range b.last {
		s, is := e.(message.Send)
		if !is || s.Message.Got == nil || !s.Message.Got.Asks || rapid.IntRange(0, 3).Draw(b.rt, "is away") == 0 {
			continue
		}
		p := &message.Progress{Job: b.id, Summary: message.JobSummary{State: message.JobRunning}}
		for w, all := range b.kept {
			if peerOf(w) == s.To {
				p.Made = true
				p.Tasks = b.missing(all)
			}
		}
		if s.To == peerOf(itsLeader+2) {
			p.Tasks = b.missing(b.copies)
		}
		if len(p.Tasks) > 0 {
			b.act(&message.Received{From: s.To, Message: &message.Message{Progress: p}})
		}
	}
}

// missing are those of some results that the submitter does not hold.
func (b *trustBench) missing(of []task.Result) (out []message.TaskSummary) {
	for _, r := range of {
		if !b.s.jobs[b.id].have.Contains(r.Task.Index) {
			out = append(out, message.TaskSummary{Index: r.Task.Index, Results: []task.Result{r}})
		}
	}
	return out
}

// right is what each task puts out.
func (b *trustBench) right() string {
	if !b.trails {
		return truth
	}
	end := movedRun{lie: -1}.states([32]byte{}, 0, movedParts-1)[movedParts-1]
	return fmt.Sprintf("%x", end[:4])
}

// lies reports whether a worker lies this time.
func (b *trustBench) lies(w int, again bool) bool {
	return b.liars[w] != "" && (again || b.liars[w] != "auditor") && rapid.IntRange(0, 2).Draw(b.rt, "lies") > 0
}

// wrongIn is where a worker goes wrong in a leg of a task.
func (b *trustBench) wrongIn(w int, i uint64, first, last int) int {
	if b.liars[w] != "agreed" {
		return first + w%(last-first+1)
	}
	if at, is := b.lieAt[i]; !is || at < first || at > last {
		b.lieAt[i] = rapid.IntRange(first, last).Draw(b.rt, "wrong in")
	}
	return b.lieAt[i]
}

// makes is a worker's result, of a run that others began where it moved.
func (b *trustBench) makes(w int, i uint64) task.Result {
	again := b.s.jobs[b.id].have.Contains(i)
	if !b.trails {
		says := truth
		if b.lies(w, again) {
			says = map[bool]string{true: "agreed", false: fmt.Sprint("wrong ", w)}[b.liars[w] == "agreed"]
		}
		return b.ran(w, i, says)
	}
	m := movedRun{lie: -1, stayed: again || rapid.Bool().Draw(b.rt, "stays")}
	m.workers[0] = w
	others := slices.DeleteFunc(slices.Clone(b.crew.lends), func(o int) bool { return o == w })
	copy(m.workers[1:], rapid.Permutation(others).Draw(b.rt, "ran it before")[:2])
	for leg, by := range m.workers {
		if leg > 0 && m.stayed || m.lie >= 0 || !b.lies(by, again) {
			continue
		}
		first, last := m.span(leg)
		m.lie = b.wrongIn(by, i, first, last)
	}
	r := m.signs(b.auditBench, i)
	b.runs[string(r.Signature)] = m
	return r
}

// leases has a worker run a task, whose leader does with the result what it likes.
func (b *trustBench) leases(w int, i uint64) {
	r := b.makes(w, i)
	if b.hoards && rapid.IntRange(0, 3).Draw(b.rt, "keeps") > 0 {
		if b.kept[w] = append(b.kept[w], r); rapid.Bool().Draw(b.rt, "has a copy") {
			b.copies = append(b.copies, r)
		}
		b.keptIn[i] = b.delivery
		return
	}
	if b.forges && rapid.IntRange(0, 2).Draw(b.rt, "changes it") == 0 {
		r.Outputs = slices.Clone(r.Outputs)
		text := []byte("forged")
		r.Outputs[0] = task.Output{Name: r.Outputs[0].Name, Inline: text, CID: task.RawCID(text), Size: int64(len(text))}
	}
	b.act(&message.Received{From: peerOf(b.leader), Message: &message.Message{Progress: &message.Progress{Job: b.id,
		Summary: message.JobSummary{State: message.JobRunning, Total: trustTasks, Running: 1},
		Tasks:   []message.TaskSummary{{Index: i, Results: []task.Result{r}}}}}})
}

// runsAgain runs one of the tasks that run again here.
func (b *trustBench) runsAgain() {
	b.mix(b.rt)
	a := b.audits[0]
	if b.givenUp(a) {
		b.audits = b.audits[1:]
		return
	}
	if !b.trails {
		b.answer(b.says(truth))
		b.asked()
		return
	}
	held := b.held(a.Task.Index)
	m, known := b.runs[string(held.Results[0].Signature)]
	if !known {
		b.rt.Fatalf("task %d runs again, held is what nobody made", a.Task.Index)
	}
	ev := b.comesOf(m)
	for _, key := range OtherKeys(a.Task) {
		if value := b.disk[key]; value != nil {
			r, err := DecodeOther(value)
			if err != nil {
				b.tb.Fatal(err)
			}
			ev.Others = append(ev.Others, r)
		}
	}
	if p := a.Part; p != nil && b.refuse[m.workers[p.Leg]] && ev.Unserved == "" {
		ev.Unserved, ev.Refused, ev.Asked, ev.Passed = "it gives no states", true, p.Leg, nil
		ev.Here = task.Result{Task: a.Task, Outcome: task.Interrupted}
	}
	b.act(ev)
}

// runsFirst runs the task here of which nothing came.
func (b *trustBench) runsFirst() {
	e := b.first[0]
	b.first = b.first[1:]
	here := schedtest.Result(b.tb, b.key, e.Task, b.right())
	if rapid.IntRange(0, 3).Draw(b.rt, "its owner comes") == 0 {
		here = task.Result{Task: e.Task, Outcome: task.Interrupted}
	}
	b.act(message.Audited{Task: e.Task, First: true, Here: here})
}

// whom is who gets a task of the leader. A good one heeds who may have it, and finds nobody for some; -1.
func (b *trustBench) whom(i uint64, good bool) int {
	if good {
		return b.next(i, firstOfPool, lastOfPool)
	}
	w := rapid.IntRange(firstOfPool, lastOfPool).Draw(b.rt, "by")
	for l := firstOfPool; b.friends && l < lastOfPool; l++ {
		if b.liars[l] == "agreed" && !b.barred(l, i) {
			w = l
		}
	}
	return w
}

// goesOn does what comes next. The later it is the better the leader leases, though it may hoard for ever.
func (b *trustBench) goesOn(n int) {
	lacking := slices.DeleteFunc(b.lacking(), func(i uint64) bool { // it has what it keeps
		in, kept := b.keptIn[i]
		return kept && in == b.delivery && n < 2000
	})
	switch k := rapid.IntRange(0, 13).Draw(b.rt, "next"); {
	case k == 0:
		b.reborn()
	case k == 1 && n < 200:
		b.lends = !b.lends
		b.act(message.OwnerState{Slots: map[bool]int{true: 1}[b.lends]})
	case k == 2:
		b.rests()
	case k == 3 && n < 400:
		b.leader = itsLeader + (b.leader-itsLeader+1)%2
		b.leads()
	case len(b.first) > 0 && k < 6:
		b.runsFirst()
	case k < 10 && len(lacking) > 0 && !b.keeps:
		i := rapid.SampledFrom(lacking).Draw(b.rt, "task")
		if w := b.whom(i, n >= 400); w >= 0 {
			b.leases(w, i)
			return
		}
		b.rests()
	case len(b.audits) > 0:
		b.runsAgain()
	default:
		if n > 1000 && !b.lends {
			b.lends = true
			b.act(message.OwnerState{Slots: 1})
		}
		b.rests()
	}
}

func (b *trustBench) rests() {
	b.rest(&b.lends)
	b.asked()
}

// Whatever workers lie of, alike or each for itself, in tasks that moved between liars and others, as auditors or
// in what they serve, whatever leaders hoard, change, lease to nobody or give to their friends, however often they
// change and the node is killed: nobody honest is named, what was run again here is right, what is final is right,
// nothing that a leader changed is held, and nothing waits for ever.
func TestTrustProperty(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		b := newTrustBench(t, rt)
		for n := 0; ; n++ {
			st, _ := b.s.Job(b.id)
			if st.Settled() && b.s.jobs[b.id].checks.redo.Count() == 0 {
				break
			}
			if n == 20_000 {
				rt.Fatalf("%+v waits for %v, to be run here %d", st.Checks, b.again, len(b.audits))
			}
			b.goesOn(n)
		}
		for w := firstOfPool; w <= lastOfPool; w++ {
			if b.faults(w) > 0 && b.liars[w] == "" {
				rt.Errorf("the honest worker %d is named", w)
			}
		}
		b.endsRight()
	})
}

// endsRight looks at what is held in the end.
func (b *trustBench) endsRight() {
	c := b.s.jobs[b.id].checks
	for i := range uint64(trustTasks) {
		text, stands := string(b.held(i).Results[0].Outputs[0].Inline), b.standings(i)[0]
		switch {
		case text == "forged":
			b.rt.Errorf("of task %d is held what a leader made of it", i)
		case text == b.right():
		case c.right.Contains(i) || c.wrong.Contains(i):
			b.rt.Errorf("task %d was run again here, and is %q", i, text)
		case stands == message.StandingFinal:
			b.rt.Errorf("task %d is final, and is %q", i, text)
		}
	}
}
