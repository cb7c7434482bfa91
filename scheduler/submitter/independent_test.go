package submitter

import (
	"strings"
	"testing"

	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// wentOn is a result whose run went on from what those workers left, by their numbers, the latest
// first. Node 0 leads; all of it is signed as it has to be.
func wentOn(t *testing.T, id task.TaskID, lease int, workers ...int) task.Result {
	t.Helper()
	leaderKey, leader := schedtest.Identity(0)
	var chain []task.Link
	for k := len(workers) - 1; k > 0; k-- {
		r := shown{worker: workers[k], lease: lease + k, outcome: task.Interrupted}.run(t, id, workers[k])
		key, _ := schedtest.Identity(workers[k])
		s := task.State{Task: id, Fuel: uint64(len(workers) - k), Hash: make([]byte, 32), Prior: task.PriorOf(chain)}
		v, err := task.Vouch(key, r.Receipt, s)
		if err != nil {
			t.Fatal(err)
		}
		chain = task.ChainOn(task.Link{Fuel: s.Fuel, Voucher: *v}, chain)
	}
	key, worker := schedtest.Identity(workers[0])
	receipt, err := task.NewReceipt(leaderKey, leader, id, worker,
		task.Receipt{Epoch: 1, Seq: uint64(lease)})
	if err != nil {
		t.Fatal(err)
	}
	r := task.Result{Task: id, Outcome: task.Completed, Receipt: receipt,
		Trail:   &task.Trail{Pass: 1, Fuel: 99, Began: chain},
		Outputs: []task.Output{{Name: "stdout", CID: task.RawCID([]byte("x")), Size: 1, Inline: []byte("x")}}}
	if err := r.Sign(key); err != nil {
		t.Fatal(err)
	}
	return r
}

// TestDependentResultsAreRefused: whatever a leader says, results count as agreeing only if no
// worker answers for two of them: who left a wrong state to both replicas makes them equal, and
// wrong. Nor can a leader that drops such a result say that the task failed.
func TestDependentResultsAreRefused(t *testing.T) {
	const refused = "a worker answers for two of the results"
	for name, tt := range map[string]struct {
		chains [][]int
		want   string
	}{
		"from the beginning":       {[][]int{{2}, {3}}, ""},
		"each from its own line":   {[][]int{{2, 4}, {3, 5, 6}}, ""},
		"both from a liar's state": {[][]int{{2, 66}, {3, 66}}, refused},
		"long after it":            {[][]int{{2, 4, 66}, {3, 5, 66}}, refused},
		"the liar, and from him":   {[][]int{{66}, {3, 66}}, refused},

		"one whose chain is too long": {[][]int{afterMany(2, task.MaxChain+1), {3}}, refused},
		"as long as it may be":        {[][]int{afterMany(2, task.MaxChain), {3}}, ""},
		"two of three are":            {[][]int{{2}, {3}, {4, 2}}, refused},
	} {
		s, id, leader := careful(t, func(j *task.Job) { j.Replicas, j.Retries = 2, 0 })
		sum := message.TaskSummary{Index: 1}
		for k, workers := range tt.chains {
			sum.Results = append(sum.Results, wentOn(t, task.TaskID{Job: id, Index: 1}, 10*k+1, workers...))
		}
		failed := sum
		failed.Failed, failed.Reason = true, "no two agree"
		if why := brought(t, s, id, leader, failed); (tt.want == "") != strings.Contains(why, "enough of its runs agree") &&
			len(tt.chains) == 2 {
			t.Errorf("%s, said to have failed: %q", name, why)
		}
		if why := brought(t, s, id, leader, sum); (why == "") != (tt.want == "") || !strings.Contains(why, tt.want) {
			t.Errorf("%s: %q, want %q", name, why, tt.want)
		}
	}
}

// afterMany is a worker that went on after so many others.
func afterMany(worker, others int) []int {
	out := []int{worker}
	for i := range others {
		out = append(out, 100+i)
	}
	return out
}
