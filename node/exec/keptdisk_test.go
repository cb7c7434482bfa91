package exec

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"godwit/internal/roundtrip"
	"godwit/scheduler/message"
	"godwit/task"
)

// written waits until all is on the disk that is to be.
func (p *pair) written() {
	for k := &p.worker.kept; ; {
		k.disk.writes.Lock()
		key, value, err := k.record(k.runs[0], time.Now())
		saved, _ := p.w.pairs.Load(context.Background())
		k.disk.writes.Unlock()
		if err != nil || string(saved[key]) == string(value) || p.w.pairs.fails != nil {
			return
		}
	}
}

// begins has the worker's node begin anew on the disk that there is.
func (p *pair) begins() {
	p.t.Helper()
	if err := p.worker.Close(); err != nil {
		p.t.Fatal(err)
	}
	r, _ := newSandboxed(p.t)
	p.worker = p.w.executor(p.t, r)
}

// changed rewrites the one pair on the disk.
func (p *pair) changed(change func(*keptRecord)) {
	for key, value := range p.w.pairs.pairs {
		var rec keptRecord
		if err := task.Decode(value, &rec); err != nil {
			p.t.Fatal(err)
		}
		change(&rec)
		value, err := task.Encode(&rec)
		if err != nil {
			p.t.Fatal(err)
		}
		p.w.pairs.pairs[key] = value
	}
}

// States that a worker kept are there when its node begins anew, as far as they are whole, and parts
// of the task are run again from them as before. What is broken, late or released counts for lost,
// and nothing of it stays on the disk.
func TestKeptOutlivesTheNode(t *testing.T) {
	const some, none = 3, -1 // which state is lost, but for all that are there
	for name, tt := range map[string]struct {
		damage func(*pair)
		lost   int // a state; none: all are there
		err    error
	}{
		"well": {func(*pair) {}, none, nil},
		"twice": {func(p *pair) {
			p.begins()
		}, none, nil},
		"a tree is gone": {func(p *pair) { p.deletes(p.states()[some].CID) }, some, nil},
		"a page is gone": {func(p *pair) { p.deletes(p.pageOf(some)) }, some, nil},
		"all trees are gone": {func(p *pair) {
			for _, s := range p.states() {
				p.deletes(s.CID)
			}
		}, none, ErrLost},
		"a torn pair": {func(p *pair) {
			for key, value := range p.w.pairs.pairs {
				p.w.pairs.pairs[key] = value[:len(value)/2]
			}
		}, none, ErrLost},
		"of other states": {func(p *pair) { p.changed(func(r *keptRecord) { r.Kept[20] ^= 1 }) }, none, ErrLost},
		"a day old": {func(p *pair) {
			p.changed(func(r *keptRecord) { r.Until = time.Now().Unix() - 1 })
		}, none, ErrLost},
		"released": {func(p *pair) {
			_, _ = p.worker.Kept("lab", p.checks.Self, p.id, p.signed.Trail.Root, true)
		}, none, ErrLost},
	} {
		p := newPair(t)
		p.written()
		before := p.states()
		tt.damage(p)
		p.begins()
		kept, err := p.ask(p.checks.Self, p.signed.Trail.Root)
		if !errors.Is(err, tt.err) || (err == nil) != (tt.err == nil) {
			t.Fatalf("%s: %v", name, err)
		}
		if err != nil {
			if err := p.worker.Close(); err != nil {
				t.Fatal(err)
			}
			if n := len(p.w.pairs.pairs); n != 0 || p.worker.kept.bytes != 0 || len(p.worker.kept.roots()) != 0 {
				t.Errorf("%s: %d pairs are left, and %d bytes", name, n, p.worker.kept.bytes)
			}
			continue
		}
		if tt.lost != none {
			before[tt.lost].CID = ""
		}
		same := func(a, b task.KeptState) bool { return a.CID == b.CID && a.Fuel == b.Fuel }
		if !slices.EqualFunc(kept.States, before, same) {
			t.Errorf("%s: %+v, before %+v", name, kept.States, before)
		}
		if b := p.worker.kept.bytes; b <= 0 || b >= keptMost {
			t.Errorf("%s: it takes %d bytes", name, b)
		}
		ev := p.run(message.Part{First: some + 1, Last: some + 1}, false)
		want := some + 1
		if tt.lost == some {
			want = some // from the state before that
		}
		if ev.Unserved != "" || ev.Part.First != want || string(ev.Here.Trail.Last) != string(before[some+1].Hash) {
			t.Errorf("%s: %+v", name, ev)
		}
	}
}

// On a disk that takes nothing states are kept until the node ends.
func TestKeptOnAFullDisk(t *testing.T) {
	p := newPair(t)
	p.written()
	p.w.pairs.pairs, p.w.pairs.fails = nil, errNoSpace
	p.worker.saveKept(p.worker.kept.runs[0])
	if _, err := p.ask(p.checks.Self, p.signed.Trail.Root); err != nil {
		t.Error(err)
	}
	p.begins()
	if _, err := p.ask(p.checks.Self, p.signed.Trail.Root); err != ErrLost {
		t.Error(err)
	}
}

// What a start finds counts within the one budget.
func TestKeptIsBoundedAfterAStart(t *testing.T) {
	p := newPair(t)
	p.written()
	k, all := &p.worker.kept, p.worker.kept.bytes
	pairs, _ := p.w.pairs.Load(t.Context())
	again := &keeping{most: all / 2}
	for key, value := range pairs {
		r, err := decodeKept(key, value)
		if err != nil {
			t.Fatal(err)
		}
		again.runs = append(again.runs, r)
		if found(again, r) {
			t.Error("what was not looked at is told of")
		}
		of := k.runs[0]
		again.seen(r, slices.Clone(of.states), len(of.states), func(h [32]byte) int64 { return of.pages[h].bytes })
	}
	if again.bytes > all/2 || len(again.runs) != 1 || len(again.roots()) == 0 || len(again.roots()) >= len(k.roots()) {
		t.Errorf("%d bytes of %d, %d states of %d", again.bytes, all, len(again.roots()), len(k.roots()))
	}
}

// states are those that the worker names.
func (p *pair) states() []task.KeptState {
	kept, err := p.ask(p.checks.Self, p.signed.Trail.Root)
	if err != nil {
		p.t.Fatal(err)
	}
	return kept.States
}

func (p *pair) deletes(c task.CID) {
	if err := p.w.blocks.Delete(p.t.Context(), c); err != nil {
		p.t.Fatal(err)
	}
}

// pageOf is a block that the n-th state alone has.
func (p *pair) pageOf(n int) task.CID {
	in := map[task.CID]int{}
	var own []task.CID
	for i, s := range p.states() {
		links, err := p.w.blocks.Tree(p.t.Context(), s.CID)
		if err != nil {
			p.t.Fatal(err)
		}
		for _, l := range links {
			if in[l.CID]++; i == n && l.Name != manifestName {
				own = append(own, l.CID)
			}
		}
	}
	for _, c := range own {
		if in[c] == 1 {
			return c
		}
	}
	p.t.Fatal("no page is of that state alone")
	return ""
}

// FuzzKeptRecord: whatever a disk holds, it is refused or read as it is written.
func FuzzKeptRecord(f *testing.F) {
	other := task.Boundary{Fuel: 2 * step, State: [32]byte{9}} // of which no state is kept
	k := &keeping{most: keptMost}
	r := k.begin(keptRun{task: task.TaskID{Job: "bafy", Index: 3}, of: "lab", submitter: "12D3", spacing: 4})
	keeps(k, r, 2, keptPage)
	k.end(r, []task.Boundary{r.states[0].Boundary, other}, time.Unix(1e9, 0))
	key, value, err := k.record(r, time.Now())
	if err != nil || !strings.HasPrefix(key, "bafy/3/") {
		f.Fatal(key, err)
	}
	if back, err := decodeKept(key, value); err != nil || back.until != time.Unix(1e9, 0).Add(keptFor) ||
		len(back.states) != 2 || back.states[1].cid != "" || back.states[0].cid == "" || !back.unseen {
		f.Fatalf("%+v, %v", back, err)
	}
	f.Add(value)
	f.Fuzz(func(t *testing.T, b []byte) {
		var rec keptRecord
		if task.Decode(b, &rec) != nil {
			return
		}
		kept, err := task.DecodeKept(rec.Kept)
		if err != nil {
			return
		}
		if len(rec.Told) > 0 {
			if kept, err = task.DecodeKept(rec.Told[0]); err != nil {
				return
			}
		}
		key := keyOfKept(task.TaskID{Job: rec.Job, Index: rec.Index}, task.TrailRoot(kept.Boundaries()))
		r, err := decodeKept(key, b)
		if err != nil {
			return
		}
		roundtrip.Check(t, r, func(r *keptRun) ([]byte, error) {
			_, value, err := (&keeping{runs: []*keptRun{r}}).record(r, time.Now())
			return value, err
		}, func(b []byte) (*keptRun, error) { return decodeKept(key, b) })
		if _, err := decodeKept(fmt.Sprint(key, "0"), b); err == nil {
			t.Error("it is read under another key")
		}
	})
}

// found reports whether a keeping has a run by what was first told of it.
func found(k *keeping, r *keptRun) bool {
	of, _ := k.find(r.task, r.told[0].root, time.Now())
	return of != nil
}
