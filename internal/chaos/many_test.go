package main

import (
	"os"
	"testing"
	"time"
)

// TestRanAgain: of the tasks that nodes had when they were killed, those count that no worker of
// before had ended, by when their next attempt began.
func TestRanAgain(t *testing.T) {
	at := time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)
	after := func(d time.Duration) time.Time { return at.Add(d) }
	gone := map[string]bool{"g": true}
	lost, worst, never := ranAgain([]taskView{
		{State: "done", Attempts: []attemptView{{Worker: "a", Start: after(-time.Minute), Outcome: "completed"}}},
		{State: "done", Attempts: []attemptView{{Worker: "g", End: after(-time.Second), Outcome: "lost"},
			{Worker: "a", Start: after(time.Hour)}}}, // before the kill
		{State: "done", Attempts: []attemptView{{Worker: "g", End: after(time.Second), Outcome: "lost"},
			{Worker: "a", Start: after(time.Second), Began: after(3 * time.Second)}}},
		{State: "done", Attempts: []attemptView{{Worker: "g", End: after(time.Second), Outcome: "lost"},
			{Worker: "a", Start: after(2 * time.Second)}}},
		{State: "waiting", Attempts: []attemptView{{Worker: "g", End: after(time.Second), Outcome: "lost"}}},
		{State: "done", Attempts: []attemptView{{Worker: "g", End: after(time.Second), Outcome: "lost"}}}, // it had told
	}, gone, at)
	if lost != 4 || worst != 3*time.Second || never != 1 {
		t.Errorf("%d lost, the last again after %v, %d never", lost, worst, never)
	}
}

// TestCostOf: what a process takes is read where the system tells it.
func TestCostOf(t *testing.T) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip(err)
	}
	before := costOf(os.Getpid())
	for begun := time.Now(); costOf(os.Getpid()).cpu < before.cpu+2*tick && time.Since(begun) < time.Minute; {
	}
	if after := costOf(os.Getpid()); after.cpu < before.cpu+2*tick || after.memory < mebibyte {
		t.Errorf("%+v after %+v", after, before)
	}
	if c := costOf(1 << 30); c != (processCost{}) {
		t.Errorf("a process that there is none of took %+v", c)
	}
}
