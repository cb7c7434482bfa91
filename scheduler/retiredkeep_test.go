package scheduler

import (
	"slices"
	"strings"
	"testing"
	"time"

	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// TestNeedless: whose copy nobody needs any more, and why: the submitter's signature counts, where
// there are such, and this node's clock; what a leader says of a deadline or of deliveries does not.
func TestNeedless(t *testing.T) {
	key, _ := schedtest.Identity(1)
	const hour = time.Hour
	all, some := ledger.Set{{From: 0, To: 3}}, ledger.Set{{From: 0, To: 2}}
	for name, tt := range map[string]struct {
		facts    func(id task.JobID) *ledger.Facts
		deadline time.Duration
		after    time.Duration
		signed   string // why, where submitters sign
		unsigned string
	}{
		"nothing is known": {func(task.JobID) *ledger.Facts { return &ledger.Facts{} }, 0, 1000 * hour, "", ""},
		"cancelled": {func(id task.JobID) *ledger.Facts { return &ledger.Facts{Cancel: task.SignCancel(id, key)} }, 0, 0,
			"its submitter has ended it", "its submitter has ended it"},
		"said to have expired": {func(task.JobID) *ledger.Facts { return &ledger.Facts{Expired: true} }, hour, 0, "", ""},
		"all of it, signed": {func(id task.JobID) *ledger.Facts { return said(t, id, 1, 0, all) }, 0, 0,
			"its submitter holds all of it", "its submitter holds all of it"},
		"all of it, not signed": {func(task.JobID) *ledger.Facts { return &ledger.Facts{Done: all} }, 0, 0,
			"", "its submitter holds all of it"},
		"a part of it": {func(id task.JobID) *ledger.Facts { return said(t, id, 1, 0, some) }, 0, 0, "", ""},
		"a part of it twice": {func(task.JobID) *ledger.Facts { return &ledger.Facts{Done: some, Failed: some} }, 0, 0,
			"", ""},
		"some failed": {func(task.JobID) *ledger.Facts {
			return &ledger.Facts{Done: some, Failed: ledger.Set{{From: 2, To: 3}}}
		}, 0, 0, "", "its submitter holds all of it"},
		"past its deadline": {func(task.JobID) *ledger.Facts { return &ledger.Facts{} }, hour, retiredLife, "", ""},
		"long past its deadline": {func(task.JobID) *ledger.Facts { return &ledger.Facts{} }, hour, retiredLife + hour,
			"its deadline is long past", "its deadline is long past"},
	} {
		for signed, want := range map[bool]string{true: tt.signed, false: tt.unsigned} {
			k := newKeeper(t)
			k.r.cfg.Signed = signed
			rec := numbered(t, 1, func(j *task.Job) { j.Deadline = tt.deadline })[0]
			j, err := ledger.New().Add(rec)
			if err != nil {
				t.Fatal(err)
			}
			j.Facts = *tt.facts(rec.ID())
			k.r.now = schedtest.Start.Add(tt.after)
			if got := k.r.needless(j); got != want {
				t.Errorf("%s, where submitters sign is %v: %q, want %q", name, signed, got, want)
			}
		}
	}
}

// TestRetiredBytes: retired copies take no more bytes than two leaders' results may; those that
// were there before a flood stay.
func TestRetiredBytes(t *testing.T) {
	jobs := numbered(t, 6, nil)
	_, honest := schedtest.Identity(5)
	k := newKeeper(t)
	k.meets(honest, 10, true)
	k.copies(jobs...)
	k.r.readAll()
	k.r.cfg.MaxUndelivered = int64(bytesOf(k.r.ledger.Jobs[jobs[0].ID()])) * 2 // two sides: four jobs
	gone := func(rec task.Record) {
		k.now = k.now.Add(time.Second)
		k.hear(honest, message.Message{Copy: &message.Copy{Epoch: 10, Session: k.r.session.id, Seq: k.r.session.taken + 1,
			Gone: []task.JobID{rec.ID()}}})
	}
	for n, rec := range jobs {
		gone(rec)
		if want := 6 - max(0, n-3); len(k.r.ledger.Jobs) != want {
			t.Errorf("after %d are retired %d jobs are there, want %d", n+1, len(k.r.ledger.Jobs), want)
		}
	}
	for n, rec := range jobs {
		if there := k.r.ledger.Jobs[rec.ID()] != nil; there != (n < 4) {
			t.Errorf("job %d, retired as such, is there: %v", n, there)
		}
	}
	if n := k.kept(jobs); n != 4 {
		t.Errorf("%d jobs are on the disk, want 4", n)
	}
}

// TestRetiredSince: a copy is as old as its first retirement, by whichever leader, until it is
// gone: who has it kept and retires it again does not make it new, nor does a restart.
func TestRetiredSince(t *testing.T) {
	jobs := numbered(t, 1, nil)
	id := jobs[0].ID()
	k := retiredBy(t, jobs)
	first := k.r.retired.jobs[id]
	_, liar := schedtest.Identity(66)
	if first.Since != k.now.UnixMilli() || first.By != liar {
		t.Fatalf("it is retired as %+v", first)
	}
	k.pass(time.Hour)
	_, next := schedtest.Identity(7)
	k.meets(next, 25, false)
	if again := k.r.retired.jobs[id]; again.Since != first.Since || again.By != next {
		t.Errorf("retired by a second it is as of %d, by %s", again.Since, again.By)
	}
	k.meets(next, 30, true)
	if len(k.r.retired.jobs) != 0 {
		t.Fatal("what a leader has it keep is retired")
	}
	k.meets(liar, 40, false)
	if again := k.r.retired.jobs[id]; again.Since != first.Since {
		t.Errorf("retired again it is as of %d, want %d", again.Since, first.Since)
	}
	k.meets(next, 50, false)
	if again := k.r.retired.jobs[id]; again.Since != first.Since || again.By != next {
		t.Errorf("retired by another it is as of %d, by %s", again.Since, again.By)
	}
	want := k.r.retired.jobs[id]
	k.restart()
	if again := k.r.retired.jobs[id]; again != want {
		t.Errorf("after a restart it is retired as %+v, want %+v", again, want)
	}
}

// TestRetiredDamaged: what cannot be read of which copies are retired makes them current; what is
// said of a job that is not there is nothing.
func TestRetiredDamaged(t *testing.T) {
	jobs := numbered(t, 3, nil)
	k := retiredBy(t, jobs)
	k.disk[retiredKey+string(jobs[0].ID())] = []byte{0xff}
	k.disk[retiredKey+"unknown"] = k.disk[retiredKey+string(jobs[1].ID())]
	k.restart()
	if n := len(k.r.retired.jobs); n != 2 || k.r.retired.has(jobs[0].ID()) || len(k.r.ledger.Jobs) != 3 {
		t.Errorf("%d of %d jobs are retired", n, len(k.r.ledger.Jobs))
	}
	whole, part := k.r.ledger.Digest(), k.r.Digest()
	if one := k.r.retired.without(k.r.ledger); len(one.Jobs) != 1 || one.Digest() != part || part == whole {
		t.Errorf("%d jobs are current", len(one.Jobs))
	}
}

// TestLeadsWithRetired: who leads next does it with what it was told to forget, and no trace is
// left that it was.
func TestLeadsWithRetired(t *testing.T) {
	jobs := numbered(t, 3, nil)
	k := retiredBy(t, jobs)
	if k.r.Digest() == k.r.ledger.Digest() {
		t.Fatal("nothing is retired")
	}
	c, effects := k.r.Lead(k.now, 50)
	k.carry(effects)
	if n := len(c.Jobs()); n != 3 {
		t.Errorf("it leads with %d of 3 jobs", n)
	}
	if keys := slices.DeleteFunc(sortedKeysOf(k.disk), func(key string) bool {
		return !strings.HasPrefix(key, retiredKey)
	}); len(keys) > 0 {
		t.Errorf("on its disk is %v", keys)
	}
}

func sortedKeysOf(disk map[string][]byte) (keys []string) {
	for key := range disk {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
