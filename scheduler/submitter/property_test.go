package submitter

import (
	"crypto/ed25519"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
	"pgregory.net/rapid"
)

// subBench is a submitter on a disk, and what its last Step did. Its leader is
// its own node, whose results it need not verify.
type subBench struct {
	tb      testing.TB
	s       *Submitter
	timing  message.Timing
	key     ed25519.PrivateKey
	self    task.PeerID
	now     time.Time
	disk    map[string][]byte
	fetches map[string]bool // unanswered
	writes  map[string]int  // of every result key
	last    []message.Effect
	lends   bool          // a core, from its start on
	apart   time.Duration // between what is brought: each is answered at once, then
}

func newSubBench(tb testing.TB) *subBench {
	key, self := schedtest.Identity(1)
	timing := message.DefaultTiming()
	b := &subBench{
		tb: tb, s: New(self, timing, Default(), key), timing: timing, key: key, self: self, now: schedtest.Start,
		disk: map[string][]byte{}, fetches: map[string]bool{}, writes: map[string]int{},
		lends: true, apart: gotPause,
	}
	b.begin()
	return b
}

// unlimited has the submitter check by the job's rule alone: limits and the least sample have tests of their own.
func (b *subBench) unlimited() *subBench {
	b.s.cfg.OwnRuns, b.s.cfg.FirstOfSource = 1000, 0
	return b
}

// begin tells the submitter what it hears first.
func (b *subBench) begin() {
	b.step(message.OwnerState{Slots: map[bool]int{true: 1}[b.lends]})
	before := b.last
	b.step(message.LeaderChanged{Leader: b.self, Epoch: 1})
	b.last = slices.Concat(before, b.last)
}

func (b *subBench) step(ev message.Event) {
	if m, ok := ev.(*message.Received); ok && m.Message.Progress != nil {
		b.now = b.now.Add(b.apart)
	}
	b.last = b.s.Step(b.now, ev)
	for _, e := range b.last {
		switch e := e.(type) {
		case message.Persist:
			if e.Value == nil {
				delete(b.disk, e.Key)
				continue
			}
			if strings.HasPrefix(e.Key, ResultsPrefix) {
				b.writes[e.Key]++
			}
			b.disk[e.Key] = e.Value
		case message.Fetch:
			if b.fetches[e.Key] {
				b.tb.Fatalf("%s is fetched while it is", e.Key)
			}
			b.fetches[e.Key] = true
		}
	}
}

// pass lets time pass, with every wake on the way.
func (b *subBench) pass(d time.Duration) {
	end := b.now.Add(d)
	for {
		at, ok := b.s.NextWake()
		if !ok || at.After(end) {
			break
		}
		if at.After(b.now) {
			b.now = at
		}
		b.step(message.Wake{})
	}
	b.now = end
}

func (b *subBench) restart() {
	b.s = New(b.self, b.timing, b.s.cfg, b.key)
	if err := b.s.Restore(schedtest.ScanOf(b.disk)); err != nil {
		b.tb.Fatal(err)
	}
	clear(b.fetches)
	b.begin()
}

func (b *subBench) offer(n uint64, nonce byte) task.JobID {
	rec := schedtest.Job(b.tb, b.key, n, func(j *task.Job) { j.Nonce = slices.Repeat([]byte{nonce}, 16) })
	b.step(message.Offer{Record: rec})
	return rec.ID()
}

func (b *subBench) say(m message.Message) { b.step(&message.Received{From: b.self, Message: &m}) }

// bring gives a Progress of the tasks named; version tells their results apart.
func (b *subBench) bring(id task.JobID, state string, version string, tasks ...uint64) {
	p := &message.Progress{Job: id, Summary: message.JobSummary{State: state}}
	for _, i := range tasks {
		p.Tasks = append(p.Tasks, summaryOf(id, i, version))
	}
	b.say(message.Message{Progress: p})
}

// summaryOf is the end of a task: every third has an output to fetch, every
// seventh failed.
func summaryOf(id task.JobID, i uint64, version string) message.TaskSummary {
	name := task.TaskID{Job: id, Index: i}
	if i%7 == 6 {
		return message.TaskSummary{Index: i, Failed: true, Reason: "no luck"}
	}
	r := task.Result{Task: name, Worker: "w", Outcome: task.Completed, Signature: []byte(version)}
	if i%3 == 0 {
		r.Outputs = []task.Output{{Name: "stdout", CID: task.RawCID(fmt.Append(nil, i, version)), Size: 1 << 20}}
	}
	return message.TaskSummary{Index: i, Results: []task.Result{r}}
}

// gots lists what the last Step told the leader of a job.
func (b *subBench) gots(id task.JobID) []*message.Got {
	var out []*message.Got
	for _, e := range b.last {
		if e, ok := e.(message.Send); ok && e.Message.Got != nil && e.Message.Got.Job == id {
			out = append(out, e.Message.Got)
		}
	}
	return out
}

// outage lets every fetch fail for some rounds.
func (b *subBench) outage(rounds int) {
	for range rounds {
		for _, key := range slices.Sorted(maps.Keys(b.fetches)) {
			delete(b.fetches, key)
			b.step(message.Fetched{Key: key, Err: "nobody has it"})
		}
		b.pass(b.timing.RetryMax)
	}
}

// onDisk returns the tasks of a job that have a result on the disk.
func (b *subBench) onDisk(id task.JobID) ledger.Set {
	var set ledger.Set
	for key := range b.disk {
		if strings.HasPrefix(key, ResultsPrefix+string(id)) {
			t, err := DecodeSummary(b.disk[key])
			if err != nil || ResultKey(id, t.Index) != key {
				b.tb.Fatalf("%s: %+v, %v", key, t, err)
			}
			set.Add(t.Index)
		}
	}
	return set
}

// TestSubmitterProperties: whatever a leader brings, whatever cannot be fetched
// and however often the node restarts, what the submitter says it holds is what
// is on its disk, each result was written once, and in the end it has all.
func TestSubmitterProperties(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		b := newSubBench(t)
		total := map[task.JobID]uint64{}
		forgotten := map[task.JobID]bool{}
		anyJob := func(rt *rapid.T) task.JobID {
			return rapid.SampledFrom(slices.Sorted(maps.Keys(total))).Draw(rt, "job")
		}
		for n := range rapid.IntRange(1, 3).Draw(rt, "jobs") {
			tasks := rapid.Uint64Range(1, 40).Draw(rt, "tasks")
			total[b.offer(tasks, byte(n))] = tasks
		}
		rt.Repeat(map[string]func(*rapid.T){
			"bring": func(rt *rapid.T) {
				id := anyJob(rt)
				tasks := rapid.SliceOfN(rapid.Uint64Range(0, total[id]), 0, 20).Draw(rt, "tasks")
				b.bring(id, message.JobRunning, rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "version"), tasks...)
			},
			"accept": func(rt *rapid.T) {
				retry := rapid.SampledFrom([]time.Duration{0, time.Second}).Draw(rt, "retry")
				a := &message.Accepted{Job: anyJob(rt), RetryAfter: retry}
				if retry > 0 {
					a.Error = "no room"
				}
				b.say(message.Message{Accepted: a})
			},
			"fetched": func(rt *rapid.T) {
				if keys := slices.Sorted(maps.Keys(b.fetches)); len(keys) > 0 {
					key := rapid.SampledFrom(keys).Draw(rt, "key")
					delete(b.fetches, key)
					b.step(message.Fetched{Key: key, Err: rapid.SampledFrom([]string{"", "nobody has it"}).Draw(rt, "err")})
				}
			},
			"outage": func(*rapid.T) { b.outage(lackAfter) },
			"pass": func(rt *rapid.T) {
				b.pass(time.Duration(rapid.IntRange(0, 60).Draw(rt, "seconds")) * time.Second)
			},
			"restart": func(rt *rapid.T) {
				before := slices.Clone(b.s.Jobs())
				b.restart()
				for i, st := range b.s.Jobs() {
					if was := before[i]; st.ID != was.ID || st.Held != was.Held || st.Final != was.Final ||
						st.Removed != was.Removed {
						rt.Fatalf("after the restart %+v, before %+v", st, was)
					}
				}
			},
			"remove": func(rt *rapid.T) {
				id := anyJob(rt)
				from := rapid.Uint64Range(0, total[id]).Draw(rt, "from")
				to := rapid.Uint64Range(from, total[id]+1).Draw(rt, "to")
				before, _ := b.s.Job(id)
				n, why := Removable(b.s, id, []message.Range{{From: from, To: to}})
				b.removes(id, from, to)
				after, _ := b.s.Job(id)
				if why == "" && after.Removed != before.Removed+n {
					rt.Fatalf("%d tasks can be removed; before %+v, after %+v", n, before, after)
				}
			},
			"leader": func(rt *rapid.T) {
				b.step(message.LeaderChanged{})
				b.step(message.LeaderChanged{Leader: b.self, Epoch: 1})
			},
			"forget": func(rt *rapid.T) {
				id := anyJob(rt)
				st, ok := b.s.Job(id)
				b.step(message.ForgetJob{Job: id})
				if ok && st.Final {
					forgotten[id] = true
				}
			},
			"": func(rt *rapid.T) { b.check(rt, total, forgotten) },
		})
		b.finishAll(rt, total, forgotten)
	})
}

// check looks at what must always hold.
func (b *subBench) check(rt *rapid.T, total map[task.JobID]uint64, forgotten map[task.JobID]bool) {
	for id := range total {
		st, ok := b.s.Job(id)
		if ok == forgotten[id] {
			rt.Fatalf("job there: %v, forgotten: %v", ok, forgotten[id])
		}
		held := b.s.Held(id)
		if ok && !slices.Equal(held, b.onDisk(id)) {
			rt.Fatalf("holds %v, on disk are %v", held, b.onDisk(id))
		}
		for _, g := range b.gots(id) {
			switch {
			case forgotten[id]:
				if !g.Final {
					rt.Fatalf("a forgotten job goes on: %+v", g)
				}
			case len(ledger.Set(g.Have).Minus(held)) > 0:
				rt.Fatalf("said that it has %v, it has %v", g.Have, held)
			case ledger.Set(g.Lacking).Minus(g.Have).Count() != ledger.Set(g.Lacking).Count():
				rt.Fatalf("lacks what it has: %+v", g)
			case g.Final && !st.Final:
				rt.Fatalf("said that a job was over that is not: %+v", st)
			}
		}
		if ok && st.Final && held.Count() != total[id] {
			rt.Fatalf("over with %v of %d", held, total[id])
		}
	}
	for key, n := range b.writes {
		if n > 1 {
			rt.Fatalf("%s was written %d times", key, n)
		}
	}
}

// finishAll lets a good leader bring what is missing.
func (b *subBench) finishAll(rt *rapid.T, total map[task.JobID]uint64, forgotten map[task.JobID]bool) {
	for _, id := range slices.Sorted(maps.Keys(total)) {
		var all []uint64
		for i := range total[id] {
			all = append(all, i)
		}
		for range 100 {
			if st, ok := b.s.Job(id); !ok || st.Final {
				break
			}
			b.bring(id, message.JobRunning, "a", all...)
			for _, key := range slices.Sorted(maps.Keys(b.fetches)) {
				delete(b.fetches, key)
				b.step(message.Fetched{Key: key})
			}
			b.pass(time.Minute)
		}
		st, ok := b.s.Job(id)
		if ok && !st.Final {
			rt.Fatalf("not over: %+v", st)
		}
		b.step(message.ForgetJob{Job: id})
		forgotten[id] = true
	}
	b.check(rt, total, forgotten)
	b.pass(rememberForgotten + time.Hour)
	if len(b.disk) > 0 || len(b.s.forgotten) > 0 || len(b.s.fetches) > 0 {
		rt.Fatalf("everything was forgotten, and there are left %v", slices.Sorted(maps.Keys(b.disk)))
	}
}
