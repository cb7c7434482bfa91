package exec

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"godwit/task"
)

// A waiting task saves itself each interval of its waiting, time in which it
// stood still not counted, and when its state is wanted; another attempt waits
// what is left.
func TestSleepIsSaved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &Sleeper{}
		job := &Job{spec: &task.Job{Work: 100 * time.Second}}
		stop := make(chan struct{})
		var saves []time.Duration
		var state []byte
		take := func(b []byte, fuel uint64, cpu time.Duration) {
			saves, state = append(saves, cpu), b
			if time.Duration(fuel) != cpu {
				t.Errorf("after %v: fuel %d", cpu, fuel)
			}
		}
		s := &State{Every: 30 * time.Second, Stop: stop, OnCheckpoint: take, OnFrozen: take}
		time.AfterFunc(40*time.Second, r.Pause)
		time.AfterFunc(60*time.Second, r.Resume)
		time.AfterFunc(95*time.Second, func() { close(stop) })
		rep, err := r.Run(t.Context(), Run{Job: job, State: s})
		if err != nil || rep.Outcome != task.Interrupted || rep.CPU != 75*time.Second {
			t.Fatalf("it ended with %+v, %v", rep, err)
		}
		if want := []time.Duration{30 * time.Second, 60 * time.Second, 75 * time.Second}; !slices.Equal(saves, want) {
			t.Errorf("saved after %v, want %v", saves, want)
		}
		begun := time.Now()
		rep, err = r.Run(t.Context(), Run{Job: job, State: &State{From: state, OnCheckpoint: take, OnFrozen: take}})
		took := time.Since(begun)
		if err != nil || rep.Outcome != task.Completed || rep.CPU != 25*time.Second || took != rep.CPU {
			t.Errorf("the rest took %v: %+v, %v", took, rep, err)
		}
	})
}

// A state says only what a state of that task can say, whoever made it.
func TestWaitedState(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		work := time.Duration(rapid.Int64Range(0, int64(task.MaxDuration)).Draw(t, "work"))
		d := time.Duration(rapid.Int64Range(0, int64(work)).Draw(t, "waited"))
		if got, err := readWaited(waitedState(d), work); err != nil || got != d {
			t.Fatalf("%v became %v, %v", d, got, err)
		}
		b := rapid.SliceOfN(rapid.Byte(), 0, 32).Draw(t, "state")
		if rapid.Bool().Draw(t, "marked") {
			b = append([]byte(waitedMark), b...)
		}
		if got, err := readWaited(b, work); err == nil && (got < 0 || got > work || string(waitedState(got)) != string(b)) {
			t.Fatalf("%q of %v was read as %v", b, work, got)
		}
	})
	if _, err := readWaited(waitedState(2), 1); err == nil {
		t.Error("a state after more than the work was taken")
	}
	job := &Job{spec: &task.Job{Work: 1}}
	_, err := (&Sleeper{}).Run(context.Background(), Run{Job: job, State: &State{From: []byte("no")}})
	if err == nil {
		t.Error("a task went on from no state")
	}
}
