package durable

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"godwit/task"
)

// Of a disk that breaks a million pairs alike a person is told the first few, by key, and
// how many there are; of one that broke nothing, nothing.
func TestErrors(t *testing.T) {
	broken := errors.New("it is torn")
	for _, n := range []int{0, 1, MaxErrors, MaxErrors + 1, 1000} {
		var errs Errors
		for i := range n {
			errs.Note("good", nil)
			errs.Note(fmt.Sprintf("key%d", i), broken)
		}
		err := errs.Join()
		if n == 0 {
			if err != nil {
				t.Errorf("nothing is broken, and the error is %v", err)
			}
			continue
		}
		lines := strings.Split(err.Error(), "\n")
		told := min(n, MaxErrors)
		if !errors.Is(err, broken) || lines[0] != "reading key0: it is torn" ||
			lines[told-1] != fmt.Sprintf("reading key%d: it is torn", told-1) {
			t.Errorf("%d are broken: %v", n, err)
		}
		switch {
		case n <= MaxErrors && len(lines) != n:
			t.Errorf("%d are broken, and %d are told of", n, len(lines))
		case n > MaxErrors && lines[len(lines)-1] != fmt.Sprintf("and %d more", n-MaxErrors):
			t.Errorf("%d are broken; at last it says %q", n, lines[len(lines)-1])
		}
		if strings.Contains(err.Error(), "good") {
			t.Errorf("what is not broken is told of: %v", err)
		}
	}
}

// Keys sort as jobs and then indices do, whatever the indices, and no two tasks share one.
func TestTaskKeysSort(t *testing.T) {
	index := rapid.OneOf(rapid.Uint64Range(0, 20), rapid.Uint64())
	id := rapid.Custom(func(t *rapid.T) task.TaskID {
		return task.TaskID{Job: rapid.SampledFrom([]task.JobID{"bafya", "bafyb"}).Draw(t, "job"),
			Index: index.Draw(t, "index")}
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := id.Draw(t, "a"), id.Draw(t, "b")
		want := cmp.Or(cmp.Compare(a.Job, b.Job), cmp.Compare(a.Index, b.Index))
		if got := cmp.Compare(TaskKey("s/t/", a), TaskKey("s/t/", b)); got != want {
			t.Fatalf("%v and %v sort as %d by their keys, want %d", a, b, got, want)
		}
		if !strings.HasPrefix(TaskKey("s/t/", a), "s/t/"+string(a.Job)+"/") {
			t.Fatalf("the key of %v is %q", a, TaskKey("s/t/", a))
		}
	})
}

// What is encoded reads as it was; what cannot be encoded is an error.
func TestEncode(t *testing.T) {
	type state struct {
		N uint64 `cbor:"1,keyasint"`
	}
	var got state
	b, err := Encode(&state{7})
	if err == nil {
		err = task.Decode(b, &got)
	}
	if err != nil || got.N != 7 {
		t.Errorf("%+v, %v", got, err)
	}
	for _, v := range []any{make(chan int), task.Time{Time: time.Unix(1<<50, 0)}} {
		if _, err := Encode(v); err == nil || !strings.HasPrefix(err.Error(), "scheduler: ") {
			t.Errorf("%T was encoded: %v", v, err)
		}
	}
}

// A set has each block once, in order, and one of nothing is empty.
func TestRootSet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var set RootSet
		model := map[task.CID]bool{}
		for range rapid.IntRange(0, 5).Draw(t, "adds") {
			cids := rapid.SliceOf(rapid.SampledFrom([]task.CID{"a", "b", "c", "d"})).Draw(t, "cids")
			set.Add(cids...)
			for _, c := range cids {
				model[c] = true
			}
		}
		got := set.Sorted()
		if len(got) != len(model) || !slices.IsSorted(got) {
			t.Fatalf("%v of %v", got, model)
		}
		for _, c := range got {
			if !model[c] {
				t.Fatalf("%v was not added", c)
			}
		}
	})
}

// A job needs its record, its module and its inputs: those that are not empty, each once,
// in order.
func TestJobBlocks(t *testing.T) {
	file := func(cid task.CID, size int64) task.FileRef { return task.FileRef{CID: cid, Size: size} }
	for _, tt := range []struct {
		inputs []task.FileRef
		want   string
	}{
		{nil, "job module"},
		{[]task.FileRef{file("b", 1), file("a", 2)}, "job module a b"},
		{[]task.FileRef{file("b", 1), file("empty", 0), file("b", 1)}, "job module b"},
	} {
		var got []string
		for _, c := range JobBlocks("job", &task.Job{Module: "module", Inputs: tt.inputs}) {
			got = append(got, string(c))
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("of inputs %v: %v, want %s", tt.inputs, got, tt.want)
		}
	}
}
