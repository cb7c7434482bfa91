package worker

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"godwit/overlay"
	"godwit/scheduler/durable"
	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
	"pgregory.net/rapid"
)

// keeper is a bench whose results are signed, and a disk.
type keeper struct {
	*bench
	disk   map[string][]byte
	timing message.Timing
	cfg    Config
}

func newKeeper(t *testing.T) *keeper {
	return &keeper{bench: newBench(t), disk: map[string][]byte{}, timing: message.DefaultTiming(), cfg: Default()}
}

func (k *keeper) step(ev message.Event) { k.bench.step(ev); k.carryOut() }

func (k *keeper) carryOut() { k.store(k.last) }

func (k *keeper) store(effects []message.Effect) {
	for _, e := range effects {
		if e, ok := e.(message.Persist); ok && e.Value == nil {
			delete(k.disk, e.Key)
		} else if ok {
			k.disk[e.Key] = e.Value
		}
	}
}

// run places a task and ends it with an output of the given size.
func (k *keeper) run(i uint64, bytes int64) {
	k.place(k.leases(5, i))
	k.carryOut()
	k.step(message.Prepared{ID: k.job, Job: k.spec})
	k.endSigned(i, task.Completed, bytes)
}

func (k *keeper) endSigned(i uint64, outcome task.Outcome, bytes int64) {
	k.Helper()
	r := task.Result{Task: k.task(i), Outcome: outcome}
	if bytes > 0 {
		r.Outputs = []task.Output{{Name: "stdout", CID: task.RawCID([]byte{byte(i)}), Size: bytes}}
	}
	key, _ := schedtest.Identity(1)
	if err := r.Sign(key); err != nil {
		k.Fatal(err)
	}
	k.step(message.Ended{Task: r.Task, Attempt: message.Attempt{Epoch: 5, Seq: i}, Result: r})
}

func (k *keeper) pass(d time.Duration) {
	k.now = k.now.Add(d)
	k.step(message.Wake{})
}

func (k *keeper) acknowledge(epoch uint64, tasks ...uint64) {
	a := &message.Ack{Epoch: epoch}
	for _, i := range tasks {
		a.Ended = append(a.Ended, message.AttemptName{Task: k.task(i), Attempt: message.Attempt{Epoch: 5, Seq: i}})
	}
	k.ack(a)
	k.carryOut()
}

// reboot starts the worker anew from its disk; a clean one says goodbye first.
func (k *keeper) reboot(clean bool) {
	k.Helper()
	if clean {
		k.store(k.w.Keep())
		if more := k.w.Keep(); len(more) > 0 {
			k.Errorf("kept twice: %v", more)
		}
	}
	_, self := schedtest.Identity(1)
	k.w = New(self, k.timing, k.cfg)
	if err := k.w.Restore(k.disk); err != nil {
		k.Error(err)
	}
	k.step(message.OwnerState{State: overlay.Available, Slots: 2})
}

func unackedTasks(w *Worker) []uint64 {
	var out []uint64
	for _, u := range w.results.all {
		out = append(out, u.ending.Result.Task.Index)
	}
	slices.Sort(out)
	return out
}

// TestWorkerKeepsResultsOverRestarts: what no leader has taken is on disk after
// ReportEvery, or at once at a clean stop, is told to whoever leads after a
// restart, and goes when it is acknowledged. What is acknowledged before never
// touches the disk.
func TestWorkerKeepsResultsOverRestarts(t *testing.T) {
	k := newKeeper(t)
	k.run(1, 0)
	k.acknowledge(5, 1)
	k.run(2, 0)
	if len(k.disk) > 0 {
		t.Fatalf("at once on disk: %v", slices.Sorted(maps.Keys(k.disk)))
	}
	at, ok := k.w.NextWake()
	if want := k.now.Add(k.timing.ReportEvery); !ok || at.After(want) {
		t.Errorf("wakes at %v, want by %v", at, want)
	}
	k.pass(k.timing.ReportEvery)
	if len(k.disk) != 1 {
		t.Fatalf("after %v on disk: %v", k.timing.ReportEvery, slices.Sorted(maps.Keys(k.disk)))
	}
	k.run(3, 0)
	k.reboot(true)
	k.want("after a clean stop", unackedTasks(k.w), []uint64{2, 3})
	k.run(4, 0) // has no leader, nor a lease: nothing happens
	k.want("still", unackedTasks(k.w), []uint64{2, 3})
	_, other := schedtest.Identity(9)
	k.leader = other
	k.step(message.LeaderChanged{Leader: other, Epoch: 6})
	_, ended, _, full := k.reports()
	k.want("told the new leader", ended, []uint64{2, 3})
	if !full {
		t.Error("the report was not full")
	}
	k.acknowledge(6, 2)
	k.reboot(false)
	k.want("after a crash", unackedTasks(k.w), []uint64{3})
	k.step(message.LeaderChanged{Leader: other, Epoch: 6})
	k.acknowledge(6, 3)
	if len(k.disk) > 0 || len(k.w.results.all) > 0 || k.w.results.kept != 0 || k.w.results.bytes != 0 {
		t.Errorf("left: %v", slices.Sorted(maps.Keys(k.disk)))
	}
}

// TestWorkerObeysNoLowerEpochInAck: an outdated leader's thanks do not make a
// worker forget, nor does a stranger's, nor after a restart one older than the
// results here.
func TestWorkerObeysNoLowerEpochInAck(t *testing.T) {
	k := newKeeper(t)
	k.run(1, 0)
	k.acknowledge(4, 1)
	k.want("after an older epoch's", unackedTasks(k.w), []uint64{1})
	_, stranger := schedtest.Identity(7)
	k.step(&message.Received{From: stranger,
		Message: &message.Message{Ack: &message.Ack{Epoch: 9,
			Ended: []message.AttemptName{{Task: k.task(1), Attempt: message.Attempt{Epoch: 5, Seq: 1}}}}}})
	k.want("after a stranger's", unackedTasks(k.w), []uint64{1})
	k.reboot(true)
	k.step(message.LeaderChanged{Leader: k.leader, Epoch: 4})
	k.acknowledge(4, 1)
	k.place(k.leases(4, 8))
	k.want("after an older epoch's and a restart", unackedTasks(k.w), []uint64{1})
	k.want("its leases", heldTasks(k.w), nil)
}

// TestWorkerTakesNothingBeyondItsCap: with more results than it may keep a
// worker gives back what has not started, refuses politely, and goes on when it
// has room.
func TestWorkerTakesNothingBeyondItsCap(t *testing.T) {
	k := newKeeper(t)
	k.cfg.MaxUnackedBytes = 1000
	k.w.cfg = k.cfg
	k.place(k.leases(5, 1, 2, 3))
	k.step(message.Prepared{ID: k.job, Job: k.spec})
	k.endSigned(1, task.Completed, 999)
	k.want("started", k.started(), []uint64{3})
	k.place(k.leases(5, 4))
	k.endSigned(2, task.Completed, 1)
	k.want("started", k.started(), nil)
	const want = "the worker keeps 2 results of 1000 B that no coordinator has taken"
	refused := k.refusals()
	k.place(k.leases(5, 5))
	for _, r := range append(refused, k.refusals()...) {
		if !strings.Contains(r.Reason, "that no coordinator has taken") || r.RetryAfter != k.timing.RefusalPause {
			t.Errorf("refused with %+v, want %q", r, want)
		}
	}
	if len(refused) != 1 || refused[0].Task.Index != 4 || len(k.refusals()) != 1 {
		t.Errorf("gave back %+v, refused %+v", refused, k.refusals())
	}
	k.reboot(true)
	k.step(message.LeaderChanged{Leader: k.leader, Epoch: 5})
	k.place(k.leases(5, 6))
	if len(k.refusals()) != 1 {
		t.Error("after a restart it forgot what it keeps")
	}
	k.acknowledge(5, 1, 2)
	k.place(k.leases(5, 7))
	k.step(message.Prepared{ID: k.job, Job: k.spec})
	k.want("started with room again", k.started(), []uint64{7})
}

// refusals lists those that the last step reported.
func (b *bench) refusals() (out []message.Refusal) {
	for _, e := range b.last {
		if e, ok := e.(message.Send); ok {
			out = append(out, e.Message.Report.Refused...)
		}
	}
	return out
}

// TestWorkerRefusalsNameATime: whoever is refused learns when to try again.
func TestWorkerRefusalsNameATime(t *testing.T) {
	tests := []struct {
		name  string
		until time.Duration // from now; 0 for unknown
		want  time.Duration
	}{
		{"unknown", 0, message.DefaultTiming().RefusalPause},
		{"known", 20 * time.Second, 20 * time.Second},
		{"far", 5 * time.Hour, message.DefaultTiming().RetryMax},
		{"past", -time.Second, message.DefaultTiming().RefusalPause},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := busy(t)
			o := message.OwnerState{State: overlay.UserPresent, Reason: "the disk is full"}
			if tt.until != 0 {
				o.Until = b.now.Add(tt.until)
			}
			b.step(o)
			refused := b.refusals()
			b.place(b.leases(5, 9))
			refused = append(refused, b.refusals()...)
			if len(refused) != 3 {
				t.Fatalf("refused %+v, want two given back and one new", refused)
			}
			for _, r := range refused {
				if r.RetryAfter != tt.want || r.Reason != "the disk is full" {
					t.Errorf("got %+v, want %v", r, tt.want)
				}
			}
			o.Until = b.now.Add(time.Minute)
			b.step(o)
			if len(b.last) > 0 {
				t.Errorf("another end of the same state was worth a report: %+v", b.last)
			}
		})
	}
}

// TestWorkerRunsNothingTwice: a lease of a task whose result is here is answered
// with the result.
func TestWorkerRunsNothingTwice(t *testing.T) {
	k := newKeeper(t)
	k.run(1, 0)
	k.reboot(true)
	k.step(message.LeaderChanged{Leader: k.leader, Epoch: 6})
	again := message.Attempt{Epoch: 6, Seq: 1}
	k.place(&message.Place{Epoch: 6, Leases: []message.Lease{{Task: k.task(1), Attempt: again}}})
	k.carryOut()
	k.want("started", k.started(), nil)
	_, ended, _, _ := k.reports()
	k.want("reported", ended, []uint64{1})
	k.ack(&message.Ack{Epoch: 6, Ended: []message.AttemptName{{Task: k.task(1), Attempt: again}}})
	k.carryOut()
	if len(k.disk) > 0 || len(k.w.results.all) > 0 {
		t.Errorf("left %v", slices.Sorted(maps.Keys(k.disk)))
	}
}

// TestWorkerRestoreDamaged: what cannot be read or is another's is told, and
// deleted; the rest is reported.
func TestWorkerRestoreDamaged(t *testing.T) {
	k := newKeeper(t)
	for i := range uint64(5) {
		k.run(i, 0)
	}
	k.store(k.w.Keep())
	keys := slices.Sorted(maps.Keys(k.disk))
	k.disk[keys[0]] = []byte("damaged")
	k.disk[keys[1]] = k.disk[keys[2]]
	k.disk[keys[3]] = append([]byte(nil), k.disk[keys[3]]...)
	k.disk[keys[3]][len(k.disk[keys[3]])-1] ^= 1 // in the signature
	k.disk["s/t/other"] = []byte("none of its business")
	_, self := schedtest.Identity(1)
	k.w = New(self, k.timing, k.cfg)
	err := k.w.Restore(k.disk)
	for _, n := range []int{0, 1, 3} {
		if err == nil || !strings.Contains(err.Error(), keys[n]) {
			t.Errorf("error %v does not name %s", err, keys[n])
		}
	}
	k.want("restored", unackedTasks(k.w), []uint64{2, 4})
	k.step(message.Wake{})
	if want := []string{"s/t/other", keys[2], keys[4]}; !slices.Equal(slices.Sorted(maps.Keys(k.disk)), want) {
		t.Errorf("on disk are %v, want %v", slices.Sorted(maps.Keys(k.disk)), want)
	}
}

// TestWorkerRoots: blocks are named while they are needed, and no longer.
func TestWorkerRoots(t *testing.T) {
	k := newKeeper(t)
	output := task.RawCID([]byte{1})
	from := &message.Checkpoint{CID: task.RawCID([]byte("from")), Fuel: 1}
	saved := message.Checkpoint{CID: task.RawCID([]byte("saved")), Fuel: 2}
	want := func(when string, cids ...task.CID) {
		t.Helper()
		slices.Sort(cids)
		if got := k.w.Roots(); !slices.Equal(got, cids) {
			t.Errorf("%s: got %v, want %v", when, got, cids)
		}
	}
	p := k.leases(5, 1, 2)
	p.Leases[1].From = from
	k.place(p)
	k.step(message.Prepared{ID: k.job, Job: k.spec})
	want("running", task.CID(k.job), from.CID)
	k.step(message.Checkpointed{Task: k.task(2), Attempt: message.Attempt{Epoch: 5, Seq: 2}, Checkpoint: saved})
	want("saved", task.CID(k.job), saved.CID)
	k.endSigned(1, task.Completed, 10)
	k.endSigned(2, task.Interrupted, 0)
	want("ended", task.CID(k.job), output, saved.CID)
	k.acknowledge(5, 1, 2)
	want("acknowledged", task.CID(k.job))
	k.pass(k.cfg.KeepJob)
	want("released")
}

// TestWorkerKeepProperties: whatever is acknowledged and however often the
// worker restarts, cleanly or not, its books agree with its disk, and no result
// that was kept is lost before it is acknowledged.
func TestWorkerKeepProperties(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		k := newKeeper(t)
		next, epoch := uint64(0), uint64(5)
		acked := map[uint64]bool{}
		rt.Repeat(map[string]func(*rapid.T){
			"run": func(rt *rapid.T) {
				k.run(next, rapid.Int64Range(0, 3).Draw(rt, "bytes"))
				next++
			},
			"acknowledge": func(rt *rapid.T) {
				var some []uint64
				for _, i := range unackedTasks(k.w) {
					if rapid.Bool().Draw(rt, "acknowledged") {
						some, acked[i] = append(some, i), true
					}
				}
				k.acknowledge(epoch, some...)
			},
			"pass": func(rt *rapid.T) {
				k.pass(time.Duration(rapid.IntRange(0, 5000).Draw(rt, "ms")) * time.Millisecond)
			},
			"restart": func(rt *rapid.T) {
				clean := rapid.Bool().Draw(rt, "clean")
				before := unackedTasks(k.w)
				kept := k.w.results.kept
				k.reboot(clean)
				after := unackedTasks(k.w)
				if clean && !slices.Equal(before, after) || !clean && len(after) != kept {
					rt.Fatalf("clean %v: %v before, %d of them kept, %v after", clean, before, kept, after)
				}
				k.step(message.LeaderChanged{Leader: k.leader, Epoch: epoch})
			},
			"": func(rt *rapid.T) {
				var bytes int64
				for n, u := range k.w.results.all {
					bytes += u.bytes
					_, onDisk := k.disk[u.key]
					if inFront := n < k.w.results.kept; inFront != onDisk {
						rt.Fatalf("result %d of %d kept; on disk: %v", n, k.w.results.kept, onDisk)
					}
					if acked[u.ending.Result.Task.Index] {
						rt.Fatalf("task %d came back after it was acknowledged", u.ending.Result.Task.Index)
					}
				}
				if bytes != k.w.results.bytes || len(k.disk) != k.w.results.kept {
					rt.Fatalf("%d bytes, counted %d; %d kept, %d on disk", bytes, k.w.results.bytes, k.w.results.kept, len(k.disk))
				}
			},
		})
	})
}

// FuzzWorkerRestore feeds the durable form, of which a disk may make anything.
func FuzzWorkerRestore(f *testing.F) {
	key, self := schedtest.Identity(1)
	rec := schedtest.Job(f, key, 1, nil)
	r := task.Result{Task: task.TaskID{Job: rec.ID()}, Outcome: task.Completed}
	if err := r.Sign(key); err != nil {
		f.Fatal(err)
	}
	e := message.Ending{Attempt: message.Attempt{Epoch: 1, Seq: 2}, Result: r}
	value, err := durable.Encode(&e)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(endingKey(&e), value)
	f.Fuzz(func(t *testing.T, key string, value []byte) {
		w := New(self, message.DefaultTiming(), Default())
		if err := w.Restore(map[string][]byte{key: value}); err == nil && len(w.results.all) > 0 &&
			endingKey(&w.results.all[0].ending) != key {
			t.Error("it was taken from another's key")
		}
		w.Step(schedtest.Start, message.LeaderChanged{Leader: "leader", Epoch: 1})
	})
}
