package replication

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// A world is a leader, the followers that a network connects it to, and all that the leader's
// ledger ever said: what a follower has must be among it, and never go back.
type world struct {
	t       *rapid.T
	r       *Replicas
	now     time.Time
	epoch   uint64
	ledger  *ledger.Ledger
	jobs    []task.JobID
	fuel    uint64
	group   map[task.PeerID]*copyist
	history map[string][][]byte // the values that each key ever had, the last is now's
	asked   map[task.JobID]map[string]int
	kept    int       // promises
	nextDay time.Time // the tick that is set; zero for none
}

// A copyist is a follower: what it has outlives its sessions.
type copyist struct {
	peer     task.PeerID
	epoch    uint64
	session  uint64
	seq      uint64 // of the last copy that it has
	answered bool   // its Known was
	runs     bool   // it reads runs
	rows     message.RowReader
	pairs    map[string][]byte
	inbox    []message.Message // in order
	outbox   []message.Message
}

func (w *world) Ledger() *ledger.Ledger         { return w.ledger }
func (w *world) HeldBy(task.JobID, task.PeerID) {}
func (w *world) Seeks(task.PeerID) bool         { return false }
func (w *world) Outrun(from task.PeerID, epoch uint64) {
	w.t.Fatalf("%s outruns it by epoch %d", from, epoch)
}
func (w *world) TickAt(at time.Time)                  { w.nextDay = at }
func (w *world) LiveTasks(id task.JobID) []uint64     { return []uint64{0} }
func (w *world) Live(task.TaskID) []message.LiveLease { return []message.LiveLease{{Worker: "worker"}} }

func (w *world) Absorb(_ task.PeerID, p message.Pair) (task.JobID, error) {
	return "", fmt.Errorf("nobody told %s", p.Key)
}

func (w *world) Blocks(n message.HoldName) (message.Hold, bool) {
	return message.Hold{Name: n, CIDs: []task.CID{"block"}}, w.ledger.Jobs[n.Task.Job] != nil
}

func (w *world) Emit(e message.Effect) {
	send, ok := e.(message.Send)
	if !ok {
		return
	}
	if a := send.Message.Accepted; a != nil {
		w.isKept(a.Job)
		return
	}
	c := w.group[send.To]
	c.inbox = append(c.inbox, send.Message)
}

// isKept looks whether every follower that promises wait for has what was true when the
// promise was made, or what came after it.
func (w *world) isKept(id task.JobID) {
	w.kept++
	for _, p := range w.r.Group() {
		f := w.r.followers[p]
		if !f.gates() {
			continue
		}
		for key, version := range w.asked[id] {
			has := slices.IndexFunc(w.history[key], func(v []byte) bool { return bytes.Equal(v, w.group[p].pairs[key]) })
			if has < version {
				w.t.Fatalf("job %v is accepted, and %s has version %d of %s, want %d (%+v)", id, p, has, key, version,
					w.r.Followers())
			}
		}
	}
	delete(w.asked, id)
}

func newWorld(t *rapid.T, tb testing.TB) *world {
	w := &world{t: t, now: schedtest.Start, epoch: 3, ledger: ledger.New(), group: map[task.PeerID]*copyist{},
		history: map[string][][]byte{}, asked: map[task.JobID]map[string]int{}}
	key, _ := schedtest.Identity(3)
	for k := range byte(3) {
		rec := schedtest.Job(tb, key, 40, func(j *task.Job) { j.Nonce[0] = k })
		if _, err := w.ledger.Add(rec); err != nil {
			tb.Fatal(err)
		}
		w.jobs = append(w.jobs, rec.ID())
	}
	w.remember()
	timing := message.DefaultTiming()
	w.r = New("leader", &timing, w)
	w.r.At(w.now, w.epoch)
	var group []task.PeerID
	for k := range rapid.IntRange(1, 3).Draw(t, "followers") {
		p := task.PeerID(fmt.Sprint("f", k))
		w.group[p] = &copyist{peer: p, pairs: map[string][]byte{}}
		group = append(group, p)
	}
	w.r.GroupIs(group)
	w.settle(20)
	return w
}

// pairsOf is the durable form of a ledger of which all encodes.
func pairsOf(l *ledger.Ledger) map[string][]byte {
	pairs, err := l.Pairs()
	if err != nil {
		panic(err)
	}
	return pairs
}

// remember notes what the ledger says now.
func (w *world) remember() {
	for key, value := range pairsOf(w.ledger) {
		if h := w.history[key]; len(h) == 0 || !bytes.Equal(h[len(h)-1], value) {
			w.history[key] = append(h, value)
		}
	}
}

// flush ends a Step of the leader.
func (w *world) flush() {
	w.remember()
	w.r.ShareUrgent()
	w.r.SendCopies()
	w.r.SendPromises()
}

func (w *world) job() (*ledger.Job, bool) {
	j := w.ledger.Jobs[rapid.SampledFrom(w.jobs).Draw(w.t, "job")]
	return j, j != nil
}

// change has a task of a job saved anew, or delivered.
func (w *world) change(t *rapid.T) {
	w.t = t
	j, ok := w.job()
	if !ok {
		return
	}
	i := uint64(rapid.IntRange(0, 3).Draw(t, "task"))
	w.fuel++
	if rapid.Bool().Draw(t, "facts") {
		j.Facts.Done.Add(10 + w.fuel%30)
		w.r.Changed(Key{Job: j.Record.ID(), Kind: Facts})
	} else {
		j.Row(i).Save(&message.Checkpoint{CID: task.RawCID([]byte{byte(w.fuel)}), Fuel: w.fuel, CPU: time.Second})
		if rapid.Bool().Draw(t, "encoded") {
			w.r.RowChanged(task.TaskID{Job: j.Record.ID(), Index: i}, encodedRow(t, j.Row(i)))
		} else {
			w.r.Changed(Key{j.Record.ID(), i, Row})
		}
	}
	w.flush()
}

func encodedRow(t *rapid.T, row *ledger.Row) []byte {
	value, err := row.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// accept promises that a job is held, as it is now.
func (w *world) accept(t *rapid.T) {
	w.t = t
	j, ok := w.job()
	if !ok {
		return
	}
	id := j.Record.ID()
	if w.asked[id] != nil {
		return
	}
	if rapid.Bool().Draw(t, "blocks") {
		w.r.Hold(message.HoldName{Task: task.TaskID{Job: id}, Kind: message.HoldJob}, true)
	}
	w.asked[id] = map[string]int{}
	w.remember()
	mine := pairsOf(&ledger.Ledger{Jobs: map[task.JobID]*ledger.Job{id: j}})
	for key := range mine {
		w.asked[id][key] = len(w.history[key]) - 1
	}
	w.r.Accept(id, "owner", nil)
	w.flush()
}

// forget takes a job out of the ledger.
func (w *world) forget(t *rapid.T) {
	w.t = t
	j, ok := w.job()
	if !ok || w.asked[j.Record.ID()] != nil || rapid.IntRange(0, 5).Draw(t, "rarely") > 0 {
		return
	}
	delete(w.ledger.Jobs, j.Record.ID())
	w.r.Changed(Key{Job: j.Record.ID(), Kind: Gone})
	w.flush()
}

func (w *world) anyone(t *rapid.T) *copyist {
	w.t = t
	return w.group[rapid.SampledFrom(slices.Sorted(maps.Keys(w.group))).Draw(t, "follower")]
}

// wait lets time pass, and whoever waits for it look.
func (w *world) wait(d time.Duration) {
	w.now = w.now.Add(d)
	w.r.At(w.now, w.epoch)
	if !w.nextDay.IsZero() && !w.now.Before(w.nextDay) {
		w.nextDay = time.Time{}
		w.r.Tick()
	}
	w.flush()
	for _, p := range slices.Sorted(maps.Keys(w.group)) {
		if c := w.group[p]; c.session > 0 && !c.answered {
			c.tell()
		}
	}
}

// hear delivers the first message to the leader, or loses it.
func (w *world) hear(c *copyist, lost bool) {
	if len(c.outbox) == 0 {
		return
	}
	m := c.outbox[0]
	if c.outbox = c.outbox[1:]; lost {
		return
	}
	switch {
	case m.Known != nil:
		w.r.Known(c.peer, m.Known)
	case m.Copied != nil:
		w.r.Copied(c.peer, m.Copied)
	}
	w.flush()
}

// take delivers the first message to a follower, or loses it. fails says that it cannot
// fetch blocks.
func (c *copyist) take(lost, fails bool) {
	if len(c.inbox) == 0 {
		return
	}
	m := c.inbox[0]
	if c.inbox = c.inbox[1:]; lost {
		return
	}
	switch {
	case m.Wanted != nil && m.Wanted.Epoch > c.epoch:
		c.epoch = m.Wanted.Epoch
		c.begin()
	case m.Wanted != nil && m.Wanted.Session == 0 && m.Wanted.Epoch == c.epoch && c.answered:
		c.begin()
	case m.Wanted != nil && m.Wanted.Session == c.session && m.Wanted.Epoch == c.epoch:
		c.answered = true
	case m.Copy != nil && m.Copy.Session == c.session && m.Copy.Epoch == c.epoch:
		c.answered = true
		c.copy(m.Copy, fails)
	}
}

// begin begins a session: it tells what it has.
func (c *copyist) begin() {
	c.session, c.seq, c.answered, c.rows = c.session+1, 0, false, message.RowReader{}
	c.tell()
}

func (c *copyist) tell() {
	l, err := ledger.Load(c.pairs, nil)
	if err != nil {
		panic(err)
	}
	// In every other session it is of a version that reads no runs.
	k := &message.Known{Epoch: c.epoch, Session: c.session, Seq: 1, Last: true, Runs: c.session%2 == 0}
	c.runs = k.Runs
	for _, id := range slices.Sorted(maps.Keys(l.Jobs)) {
		k.Jobs = append(k.Jobs, message.JobDigest{Job: id, Digest: message.ShortDigest(l.Jobs[id])})
	}
	c.outbox = append(c.outbox, message.Message{Known: k})
}

func (c *copyist) copy(m *message.Copy, fails bool) {
	answer := &message.Copied{Epoch: c.epoch, Session: c.session, Gap: m.Seq > c.seq+1}
	if m.Seq == c.seq+1 {
		c.seq++
		for _, p := range m.Pairs {
			c.pairs[p.Key] = p.Value
		}
		if len(m.Runs) > 0 && !c.runs {
			panic("it is told runs, and reads none")
		}
		keep := func(id task.TaskID, row []byte) { c.pairs[ledger.RowKey(id)] = row }
		if err := c.rows.Read(m.Runs, m.Names, keep); err != nil {
			panic(err)
		}
		for _, id := range m.Gone {
			maps.DeleteFunc(c.pairs, func(key string, _ []byte) bool { return bytes.Contains([]byte(key), []byte(id)) })
		}
		for _, h := range m.Hold {
			held := message.HeldBlocks{Name: h.Name}
			if fails {
				held.Err = "nobody has it"
			}
			answer.Held = append(answer.Held, held)
		}
	}
	answer.Seq = c.seq
	c.outbox = append(c.outbox, message.Message{Copied: answer})
}

// Whatever the network loses, whoever begins anew and however often the leader's term does,
// no promise leaves before those that it waits for have what it rests on; and once nothing is
// lost, all have the leader's ledger, and all that was promised is kept.
func TestPromisesRestOnCopies(tt *testing.T) {
	rapid.Check(tt, func(t *rapid.T) {
		w := newWorld(t, tt)
		t.Repeat(map[string]func(*rapid.T){
			"change": w.change, "accept": w.accept, "forget": w.forget,
			"hear": func(t *rapid.T) {
				c := w.anyone(t)
				w.hear(c, rapid.IntRange(0, 7).Draw(t, "luck") == 0)
			},
			"take": func(t *rapid.T) {
				c := w.anyone(t)
				c.take(rapid.IntRange(0, 7).Draw(t, "luck") == 0, rapid.IntRange(0, 3).Draw(t, "blocks") == 0)
			},
			"begin anew": func(t *rapid.T) {
				if c := w.anyone(t); c.epoch > 0 {
					c.begin()
				}
			},
			"suspect": func(t *rapid.T) {
				w.r.Suspect(w.anyone(t).peer, "it is silent")
				w.flush()
			},
			"new term": func(t *rapid.T) {
				w.t = t
				if rapid.IntRange(0, 5).Draw(t, "rarely") == 0 {
					w.epoch++
					w.r.At(w.now, w.epoch)
					w.r.Begin()
					w.flush()
				}
			},
			"wait": func(t *rapid.T) {
				w.t = t
				w.wait(time.Duration(rapid.IntRange(0, 2000).Draw(t, "ms")) * time.Millisecond)
			},
		})
		w.t = t
		w.settle(150)
	})
}

// settle has everything arrive for so many ticks, after which nothing is to be said, and
// looks at what came of it. Blocks that failed often are asked for again after a minute.
func (w *world) settle(ticks int) {
	for range ticks {
		w.r.FollowFirst()
		for _, p := range slices.Sorted(maps.Keys(w.group)) {
			c := w.group[p]
			for n := 0; len(c.inbox)+len(c.outbox) > 0; n++ {
				if n > 10_000 {
					w.t.Fatalf("%s and the leader never have said all", p)
				}
				c.take(false, false)
				w.hear(c, false)
			}
		}
		w.wait(TickEvery)
	}
	if promises, orders := w.r.Waiting(); promises > 0 || orders > 0 || len(w.asked) > 0 {
		w.t.Fatalf("%d promises and %d orders wait, %d jobs are not accepted", promises, orders, len(w.asked))
	}
	want := pairsOf(w.ledger)
	for _, f := range w.r.Followers() {
		if !f.InSync || f.Behind != 0 || f.Rejoining {
			w.t.Fatalf("%+v", f)
		}
		if got := w.group[f.Peer].pairs; !maps.EqualFunc(got, want, bytes.Equal) {
			w.t.Fatalf("%s has %d pairs, the leader %d", f.Peer, len(got), len(want))
		}
	}
}
