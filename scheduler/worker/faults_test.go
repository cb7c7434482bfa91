package worker

import (
	"strings"
	"testing"
	"time"

	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// TestFaults: what a submitter says of a result of this worker is remembered for its owner, over
// restarts, once and not for ever; what is said of another's, or was never signed here, is not.
func TestFaults(t *testing.T) {
	k := newKeeper(t)
	_, submitter := schedtest.Identity(4)
	says := func(i uint64, by int, why string, change func(*task.Result)) {
		key, _ := schedtest.Identity(by)
		r := task.Result{Task: k.task(i), Outcome: task.Completed}
		if err := r.Sign(key); err != nil {
			t.Fatal(err)
		}
		if change != nil {
			change(&r)
		}
		k.step(&message.Received{From: submitter, Message: &message.Message{Wrong: &message.Wrong{Result: r, Why: why}}})
	}
	says(1, 2, "another's", nil)
	says(1, 1, "never signed", func(r *task.Result) { r.Outcome = task.Trapped })
	if f := k.w.Faults(k.now); len(f) > 0 || len(k.disk) > 0 {
		t.Fatalf("%+v, on disk %d", f, len(k.disk))
	}
	says(1, 1, "stdout has \x1b[31mother bytes here", nil)
	says(1, 1, "again", nil)
	k.reboot(false)
	f := k.w.Faults(k.now)
	if len(f) != 1 || f[0].Task != k.task(1) || f[0].By != submitter || !strings.Contains(f[0].Why, "other bytes") ||
		strings.Contains(f[0].Why, "\x1b") {
		t.Fatalf("%+v", f)
	}
	for i := range uint64(3 * maxFaults) {
		says(i, 1, "more", nil)
	}
	if f := k.w.Faults(k.now); len(f) != maxFaults || f[maxFaults-1].Task != k.task(3*maxFaults-1) {
		t.Errorf("%d are remembered, the last %+v", len(f), f[len(f)-1])
	}
	if f := k.w.Faults(k.now.Add(faultAge + time.Second)); len(f) > 0 {
		t.Errorf("a month later %d are told of", len(f))
	}
	k.disk[workerFaults] = []byte("no faults")
	if err := New(k.w.self, k.timing, k.cfg).Restore(k.disk); err == nil {
		t.Error("what cannot be read is not told")
	}
}
