package worker

import (
	"crypto/ed25519"
	"testing"

	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// signs has the keeper's worker sign its results, those of a submitter's jobs together or not, and counts how often
// it does.
func (k *keeper) signs(together func(task.PeerID) bool) *int {
	key, _ := schedtest.Identity(1)
	count := new(int)
	k.w.SignWith(Signing{Together: together, Sign: func(b []byte) []byte {
		*count++
		return ed25519.Sign(key, b)
	}})
	return count
}

// endsUnsigned has an attempt end whose result can be signed.
func (k *keeper) endsUnsigned(i uint64) {
	r := task.Result{Task: k.task(i), Outcome: task.Completed}
	if err := r.Signable(k.w.self); err != nil {
		k.Fatal(err)
	}
	k.step(message.Ended{Task: r.Task, Attempt: message.Attempt{Epoch: 5, Seq: i}, Result: r})
}

// verified returns the results that the last step told of, and fails where one is not signed.
func (k *keeper) verified() (out []task.Result) {
	k.Helper()
	for _, e := range k.last {
		if e, ok := e.(message.Send); ok && e.Message.Report != nil {
			for _, x := range e.Message.Report.Ended {
				out = append(out, x.Result)
			}
		} else if ok && e.Message.Progress != nil {
			for _, x := range e.Message.Progress.Tasks {
				out = append(out, x.Results...)
			}
		}
	}
	for i := range out {
		if err := out[i].Verify(); err != nil {
			k.Errorf("result %d: %v", out[i].Task.Index, err)
		}
	}
	return out
}

// busySigner has tasks 1 and 2 running and so many more waiting, and no leader to tell.
func busySigner(t *testing.T, together func(task.PeerID) bool) (k *keeper, count *int) {
	k = newKeeper(t)
	_, submitter := schedtest.Identity(1)
	k.place(k.leases(5, 1, 2, 3, 4))
	k.step(message.Prepared{ID: k.job, Job: k.spec, Submitter: submitter})
	return k, k.signs(together)
}

func everybody(task.PeerID) bool { return true }
func nobody(task.PeerID) bool    { return false }

// Results that nobody was told of are signed when they are told, with one signature where all read that, and once.
func TestResultsAreSignedWhenTheyAreTold(t *testing.T) {
	for name, c := range map[string]struct {
		together func(task.PeerID) bool
		want     int
	}{"together": {everybody, 1}, "each alone": {nobody, 3}, "nobody says": {nil, 3}} {
		k, count := busySigner(t, c.together)
		k.step(message.LeaderChanged{})
		for i := range uint64(3) {
			k.endsUnsigned(1 + i)
		}
		if len(k.verified()) > 0 || *count > 0 {
			t.Errorf("%s: without a leader %d were signed", name, *count)
		}
		for range 2 { // and told again as they are
			k.step(message.LeaderChanged{Leader: k.leader, Epoch: 5})
			if told := k.verified(); len(told) != 3 || *count != c.want || (len(told[0].Path) > 0) != (c.want == 1) {
				t.Errorf("%s: %d results with %d signatures, want 3 with %d", name, len(told), *count, c.want)
			}
			k.step(message.LeaderChanged{})
		}
	}
}

// A lone result is signed as nodes of before sign all, and whose submitter reads no others as well.
func TestSignedAlone(t *testing.T) {
	asked := false
	k, _ := busySigner(t, func(submitter task.PeerID) bool {
		_, self := schedtest.Identity(1)
		asked = submitter == self
		return asked
	})
	k.endsUnsigned(1)
	if told := k.verified(); len(told) != 1 || len(told[0].Path) > 0 || asked {
		t.Errorf("%+v, asked %v", told, asked)
	}
	k.step(message.LeaderChanged{})
	k.endsUnsigned(2)
	k.endsUnsigned(3)
	k.step(message.LeaderChanged{Leader: k.leader, Epoch: 5})
	if told := k.verified(); len(told) != 3 || !asked {
		t.Errorf("%d are told, asked about the submitter: %v", len(told), asked)
	}
}

// What is durable, or given to a submitter that asks, is signed, though nobody was told of it.
func TestKeptAndGivenAreSigned(t *testing.T) {
	k, count := busySigner(t, everybody)
	k.step(message.LeaderChanged{})
	for i := range uint64(3) {
		k.endsUnsigned(1 + i)
	}
	_, submitter := schedtest.Identity(1)
	k.step(&message.Received{From: submitter, Message: &message.Message{Got: &message.Got{Job: k.job, Asks: true}}})
	if told := k.verified(); len(told) != 3 || *count != 1 {
		t.Errorf("%d are given, with %d signatures", len(told), *count)
	}
	k, count = busySigner(t, everybody)
	k.step(message.LeaderChanged{})
	for i := range uint64(3) {
		k.endsUnsigned(1 + i)
	}
	k.pass(k.timing.ReportEvery)
	if *count != 1 {
		t.Errorf("what is made durable together has %d signatures", *count)
	}
	k.reboot(false) // which looks at all signatures
	if got := unackedTasks(k.w); len(got) != 3 {
		t.Errorf("after a restart there are %v", got)
	}
	k, _ = busySigner(t, everybody)
	k.step(message.LeaderChanged{})
	k.endsUnsigned(1)
	k.reboot(true)
	if got := unackedTasks(k.w); len(got) != 1 {
		t.Errorf("after a clean stop there are %v", got)
	}
}
