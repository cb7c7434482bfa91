package submitter

import (
	"strings"
	"testing"
	"time"

	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// A shown is a run as a leader shows it, by numbers: of a worker, under the lease of that number.
type shown struct {
	worker, lease int
	outcome       task.Outcome
	says          string
	by            int // who gave the lease; 0 leads
}

// run signs it; to is who had the lease.
func (r shown) run(t *testing.T, id task.TaskID, to int) task.Result {
	t.Helper()
	key, _ := schedtest.Identity(r.worker)
	leaderKey, leader := schedtest.Identity(r.by)
	_, worker := schedtest.Identity(to)
	receipt, err := task.NewReceipt(leaderKey, leader, id, worker, task.Receipt{Epoch: 1, Seq: uint64(r.lease)})
	if err != nil {
		t.Fatal(err)
	}
	res := task.Result{Task: id, Outcome: r.outcome, Receipt: receipt}
	if r.outcome == task.Completed {
		res.Outputs = []task.Output{{Name: "stdout", CID: task.RawCID([]byte(r.says)), Size: int64(len(r.says)),
			Inline: []byte(r.says)}}
	}
	if err := res.Sign(key); err != nil {
		t.Fatal(err)
	}
	return res
}

// careful is a submitter that asks for receipts, with a job, of another node as leader.
func careful(t *testing.T, change func(*task.Job)) (*Submitter, task.JobID, task.PeerID) {
	key, self := schedtest.Identity(1)
	_, leader := schedtest.Identity(0)
	_, former := schedtest.Identity(5)
	cfg := Default()
	cfg.Receipts = true
	s := New(self, message.DefaultTiming(), cfg, key)
	rec := schedtest.Job(t, key, 3, change)
	s.Step(schedtest.Start, message.LeaderChanged{Leader: former, Epoch: 1})
	s.Step(schedtest.Start, message.LeaderChanged{Leader: leader, Epoch: 2})
	s.Step(schedtest.Start, message.Offer{Record: rec})
	return s, rec.ID(), leader
}

// brought has a leader bring one end, and says why it is refused; "" if it is held.
func brought(t *testing.T, s *Submitter, id task.JobID, from task.PeerID, sum message.TaskSummary) (why string) {
	t.Helper()
	before, _ := s.Job(id)
	for _, e := range s.Step(schedtest.Start, &message.Received{From: from, Message: &message.Message{
		Progress: &message.Progress{Job: id, Tasks: []message.TaskSummary{sum}}}}) {
		if d, ok := e.(message.Decided); ok {
			why = d.Reason
		}
	}
	if after, _ := s.Job(id); (after.Held > before.Held) != (why == "") {
		t.Errorf("refused for %q, and %d are held after %d", why, after.Held, before.Held)
	}
	return why
}

// TestFailuresAreShown: that a task failed is believed when its runs show it: more failures of its
// own than retries, each of another lease, or as many runs as are made none of which agree. A
// leader cannot drop what a few workers said, nor count one failure twice.
func TestFailuresAreShown(t *testing.T) {
	const ran, fell, gone = task.Completed, task.Trapped, task.Interrupted
	for name, tt := range map[string]struct {
		replicas, retries int
		runs              []shown
		want              string
	}{
		"as often as it may":        {1, 1, []shown{{2, 1, fell, "", 0}, {3, 2, fell, "", 0}}, ""},
		"of one worker, two leases": {1, 1, []shown{{2, 1, fell, "", 0}, {2, 2, fell, "", 0}}, ""},
		"once too few":              {1, 1, []shown{{2, 1, fell, "", 0}}, "1 failures of the task's own and 0 runs"},
		"one twice": {1, 1, []shown{{2, 1, fell, "", 0}, {2, 1, fell, "", 0}},
			"1 failures"},
		"one lease, two workers": {1, 1, []shown{{2, 1, fell, "", 0}, {3, 1, task.TimedOut, "", 0}},
			"1 failures"},
		"two workers, with retries left": {1, 3, []shown{{2, 1, fell, "", 0}, {3, 2, fell, "", 0}}, ""},
		"one worker, with retries left": {1, 3, []shown{{2, 1, fell, "", 0}, {2, 2, fell, "", 0}, {2, 3, fell, "", 0}},
			"3 failures"},
		"two workers, otherwise": {1, 3, []shown{{2, 1, fell, "", 0}, {3, 2, task.OverQuota, "", 0}},
			"2 failures"},
		"two workers, by time": {1, 3, []shown{{2, 1, task.TimedOut, "", 0}, {3, 2, task.TimedOut, "", 0}},
			"2 failures"},
		"two workers, one lease":     {1, 3, []shown{{2, 1, fell, "", 0}, {3, 1, fell, "", 0}}, "1 failures"},
		"this machine, with retries": {1, 3, []shown{{1, 1, fell, "", 0}, {1, 2, fell, "", 0}}, ""},
		"this machine once":          {1, 3, []shown{{1, 1, fell, "", 0}, {1, 1, fell, "", 0}}, "1 failures"},
		"without retries":            {1, 0, []shown{{2, 1, fell, "", 0}}, ""},
		"stopped by hosts": {1, 0, []shown{{2, 1, gone, "", 0}, {3, 2, task.HostError, "", 0}},
			"0 failures"},
		"one of them by its host": {1, 1, []shown{{2, 1, fell, "", 0}, {3, 2, gone, "", 0}}, "1 failures"},
		"nobody signed it":        {1, 1, nil, "no worker signed"},
		"it completed": {1, 0, []shown{{2, 1, fell, "", 0}, {3, 2, ran, "x", 0}},
			"enough of its runs agree"},
		"two agree": {2, 0, []shown{{2, 1, ran, "x", 0}, {3, 2, ran, "y", 0}, {4, 3, ran, "x", 0}},
			"enough of its runs agree"},
		"no two agree": {2, 0, []shown{{2, 1, ran, "x", 0}, {3, 2, ran, "y", 0}, {4, 3, ran, "z", 0}}, ""},
		"no two agree yet": {2, 0, []shown{{2, 1, ran, "x", 0}, {3, 2, ran, "y", 0}},
			"2 runs that do not agree"},
		"one worker says three": {2, 0, []shown{{2, 1, ran, "x", 0}, {2, 2, ran, "y", 0}, {2, 3, ran, "z", 0}},
			"1 runs that do not"},
		"a retry is left": {2, 1, []shown{{2, 1, ran, "x", 0}, {3, 2, ran, "y", 0}, {4, 3, ran, "z", 0}},
			"3 runs that do not agree"},
		"a failure, and no agreement": {2, 1, []shown{{2, 1, fell, "", 0}, {3, 2, ran, "y", 0}},
			"1 failures of the task's own and 1 runs"},
	} {
		s, id, leader := careful(t, func(j *task.Job) { j.Replicas, j.Retries = tt.replicas, tt.retries })
		sum := message.TaskSummary{Index: 2, Failed: true, Reason: "it failed"}
		for _, r := range tt.runs {
			sum.Results = append(sum.Results, r.run(t, task.TaskID{Job: id, Index: 2}, r.worker))
		}
		if why := brought(t, s, id, leader, sum); (why == "") != (tt.want == "") || !strings.Contains(why, tt.want) {
			t.Errorf("%s: %q, want %q", name, why, tt.want)
		}
	}
}

// TestLeasesAreShown: a result counts with the receipt of a lease of its worker and its task. That
// it gave a lease itself a leader may say unsigned: nobody else could say it in its place.
func TestLeasesAreShown(t *testing.T) {
	own := shown{2, 1, task.Completed, "x", 0}
	good := shown{2, 1, task.Completed, "x", 5} // a former leader's
	unsigned := func(r *task.Result) {
		r.Receipt.Signature = make([]byte, len(r.Receipt.Signature))
	}
	for name, tt := range map[string]struct {
		change func(id task.TaskID, r *task.Result)
		want   string
	}{
		"with its lease":        {func(task.TaskID, *task.Result) {}, ""},
		"with the teller's own": {func(id task.TaskID, r *task.Result) { *r = own.run(t, id, 2) }, ""},
		"with the teller's word": {func(id task.TaskID, r *task.Result) {
			*r = own.run(t, id, 2)
			unsigned(r)
		}, ""},
		"with another leader's, unsigned": {func(_ task.TaskID, r *task.Result) { unsigned(r) }, "receipt"},
		"with one that no leader gives": {func(id task.TaskID, r *task.Result) {
			*r = own.run(t, id, 2)
			r.Receipt.Epoch = 0
		}, "out of bounds"},
		"without":        {func(_ task.TaskID, r *task.Result) { r.Receipt = nil }, "no receipt shows"},
		"with another's": {func(id task.TaskID, r *task.Result) { *r = good.run(t, id, 3) }, "receipt"},
		"with another task's": {func(id task.TaskID, r *task.Result) {
			id.Index++
			r.Receipt = good.run(t, id, 2).Receipt
		}, "receipt"},
		"with an output too many": {func(_ task.TaskID, r *task.Result) {
			r.Outputs = []task.Output{{Name: ".bashrc", CID: task.RawCID(nil)}}
		}, ".bashrc"},
	} {
		s, id, leader := careful(t, nil)
		of := task.TaskID{Job: id, Index: 1}
		r := good.run(t, of, 2)
		tt.change(of, &r)
		key, _ := schedtest.Identity(2)
		if err := r.Sign(key); err != nil {
			t.Fatal(err)
		}
		sum := message.TaskSummary{Index: 1, Results: []task.Result{r}}
		if why := brought(t, s, id, leader, sum); (why == "") != (tt.want == "") || !strings.Contains(why, tt.want) {
			t.Errorf("%s: %q, want %q", name, why, tt.want)
		}
		if sum.Failed = true; tt.want == "" {
			continue
		}
		if why := brought(t, s, id, leader, sum); !strings.Contains(why, tt.want) {
			t.Errorf("%s, said to have failed: %q, want %q", name, why, tt.want)
		}
	}
}

// TestOnlyTheLeaderIsHeard: what others than the leader say of a job changes nothing.
func TestOnlyTheLeaderIsHeard(t *testing.T) {
	s, id, leader := careful(t, nil)
	_, stranger := schedtest.Identity(66)
	sum := message.TaskSummary{Results: []task.Result{shown{2, 1, task.Completed, "x", 0}.run(t, task.TaskID{Job: id}, 2)}}
	for _, m := range []message.Message{
		{Progress: &message.Progress{Job: id, Tasks: []message.TaskSummary{sum},
			Summary: message.JobSummary{State: message.JobFailed, Total: 3}}},
		{Accepted: &message.Accepted{Job: id, Error: "no"}}, {Accepted: &message.Accepted{Job: id}},
	} {
		if effects := s.Step(schedtest.Start, &message.Received{From: stranger, Message: &m}); len(effects) != 0 {
			t.Errorf("a stranger's %s has it do %+v", m.Kind(), effects)
		}
	}
	if st, _ := s.Job(id); st.Held != 0 || st.Final || s.Accepted(id) {
		t.Errorf("after a stranger spoke: %+v", st)
	}
	if why := brought(t, s, id, leader, sum); why != "" {
		t.Errorf("the leader's word is refused: %s", why)
	}
	if at, ok := s.NextWake(); !ok || at.After(schedtest.Start.Add(time.Hour)) {
		t.Error("it asks no more")
	}
}
