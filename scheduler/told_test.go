package scheduler

import (
	"slices"
	"strings"
	"testing"

	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// trap is a run of a task that failed by itself, signed by a worker of that number.
func trap(t *testing.T, worker int, id task.TaskID) task.Result {
	t.Helper()
	key, _ := schedtest.Identity(worker)
	r := task.Result{Task: id, Outcome: task.Trapped}
	if err := r.Sign(key); err != nil {
		t.Fatal(err)
	}
	return r
}

// failedOrDone is a row of a task with so many failures, each of another worker, and a run that
// completed or none.
func failedOrDone(t *testing.T, id task.TaskID, failures int, done bool) *ledger.Row {
	t.Helper()
	worker, _ := schedtest.Identity(9)
	row := &ledger.Row{}
	for n := range failures {
		row.AddResult(message.Attempt{Epoch: 1, Seq: uint64(n)}, trap(t, 20+n, id))
	}
	if done {
		row.AddResult(message.Attempt{Epoch: 1, Seq: 9}, schedtest.Result(t, worker, id, "x"))
	}
	return row
}

// covering is a copy of a job of six tasks, of which one run counts and two may fail: 0 failed
// and is delivered, 1 is done, 2 has failed for good, 3 failed once, of 4 and 5 nothing is known.
func covering(t *testing.T, rec task.Record) *ledger.Job {
	t.Helper()
	id := func(i uint64) task.TaskID { return task.TaskID{Job: rec.ID(), Index: i} }
	j, err := ledger.New().Add(rec)
	if err != nil {
		t.Fatal(err)
	}
	j.Facts = *said(t, rec.ID(), 1, 2, ledger.Set{{From: 0, To: 1}})
	j.Facts.Done, j.Facts.Failed = nil, j.Facts.Done
	j.Rows = map[uint64]*ledger.Row{0: failedOrDone(t, id(0), 3, false), 1: failedOrDone(t, id(1), 0, true),
		2: failedOrDone(t, id(2), 3, false), 3: failedOrDone(t, id(3), 1, false)}
	return j
}

// TestPairsCovered: which pairs of another's copy a copy has, or later than they are: only what
// is covered may be forgotten.
func TestPairsCovered(t *testing.T) {
	key, _ := schedtest.Identity(1)
	rec, other := schedtest.Job(t, key, 6, nil), schedtest.Job(t, key, 7, nil)
	j := covering(t, rec)
	id := func(i uint64) task.TaskID { return task.TaskID{Job: rec.ID(), Index: i} }
	rowOf := func(i uint64, failures int, done bool) *ledger.Row { return failedOrDone(t, id(i), failures, done) }
	pair := func(i uint64, row *ledger.Row) message.Pair {
		return message.Pair{Key: ledger.RowKey(id(i)), Value: schedtest.Encoded(t, row)}
	}
	facts := func(delivery uint64, held ledger.Set) message.Pair {
		return message.Pair{Key: ledger.FactsKey(rec.ID()),
			Value: schedtest.Encoded(t, said(t, rec.ID(), 1, delivery, held))}
	}
	saved := message.Checkpoint{CID: task.RawCID(nil), Fuel: 1}
	for name, tt := range map[string]struct {
		p    message.Pair
		want bool
	}{
		"the record":                        {message.Pair{Key: ledger.JobKey(rec.ID()), Value: rec.Encode()}, true},
		"another's record":                  {message.Pair{Key: ledger.JobKey(other.ID()), Value: other.Encode()}, false},
		"the same facts":                    {facts(2, ledger.Set{{From: 0, To: 1}}), true},
		"facts of an earlier delivery":      {facts(1, ledger.Set{{From: 0, To: 6}}), true},
		"facts of a later delivery":         {facts(3, nil), false},
		"one more delivered":                {facts(2, ledger.Set{{From: 0, To: 2}}), false},
		"facts that cannot be read":         {message.Pair{Key: ledger.FactsKey(rec.ID()), Value: []byte{1}}, false},
		"a cancel":                          {cancelOf(t, rec.ID()), false},
		"a row of a delivered task":         {pair(0, rowOf(0, 3, true)), true},
		"another run of a done task":        {pair(1, rowOf(1, 1, false)), true},
		"the same failures":                 {pair(2, rowOf(2, 3, false)), true},
		"a run of a task that failed here":  {pair(2, rowOf(2, 1, true)), false},
		"fewer failures":                    {pair(3, &ledger.Row{}), true},
		"more failures":                     {pair(3, rowOf(3, 2, false)), false},
		"a failure of an unknown task":      {pair(4, rowOf(4, 1, false)), false},
		"nothing of an unknown task":        {pair(4, &ledger.Row{}), true},
		"a line of log of an unknown task":  {pair(4, &ledger.Row{Log: make([]message.AttemptLog, 1)}), true},
		"other failures of a failed task":   {pair(2, rowOf(2, 5, false)), true},
		"a state of an unknown task":        {pair(5, &ledger.Row{Best: &saved}), false},
		"a row of a task that is not there": {pair(6, &ledger.Row{}), false},
		"a row that cannot be read":         {message.Pair{Key: ledger.RowKey(id(3)), Value: []byte{1}}, false},
		"of no kind":                        {message.Pair{Key: "x/" + string(rec.ID()), Value: nil}, false},
	} {
		if got := covers(j, tt.p); got != tt.want {
			t.Errorf("%s: covered is %v", name, got)
		}
		if covers(nil, tt.p) {
			t.Errorf("%s: covered by no copy", name)
		}
	}
	if got, want := keysOf(rec.ID(), j), []string{ledger.JobKey(rec.ID()), ledger.FactsKey(rec.ID()), ledger.RowKey(id(1)),
		ledger.RowKey(id(2)), ledger.RowKey(id(3))}; !slices.Equal(got, want) {
		t.Errorf("its keys are %v", got)
	}
	for _, k := range keysOf(rec.ID(), j) {
		if jobOfKey(k) != rec.ID() {
			t.Errorf("%s is of job %q", k, jobOfKey(k))
		}
	}
}

// cancelOf are facts of a job that its submitter cancelled.
func cancelOf(t *testing.T, id task.JobID) message.Pair {
	key, _ := schedtest.Identity(1)
	return message.Pair{Key: ledger.FactsKey(id), Value: schedtest.Encoded(t,
		&ledger.Facts{Cancel: task.SignCancel(id, key)})}
}

// TestRecordsTold: of what is said to be a job's record only that record is taken in, and only
// for the overlay's own jobs.
func TestRecordsTold(t *testing.T) {
	key, _ := schedtest.Identity(1)
	rec := schedtest.Job(t, key, 3, nil)
	foreign := schedtest.Job(t, key, 3, func(j *task.Job) { j.Overlay = "bafkqaaa" })
	forged := rec
	forged.Signature = slices.Clone(rec.Signature)
	forged.Signature[5]++
	cfg := Default()
	cfg.Overlay = "commons"
	for name, tt := range map[string]struct {
		id    task.JobID
		value []byte
		want  string
	}{
		"its own":         {rec.ID(), rec.Encode(), ""},
		"no record":       {rec.ID(), []byte{1, 2}, "decoding"},
		"another's":       {foreign.ID(), rec.Encode(), "the record is another job's"},
		"not signed":      {forged.ID(), forged.Encode(), "signature"},
		"of another pool": {foreign.ID(), foreign.Encode(), elsewhere},
	} {
		l := ledger.New()
		j, err := addRecord(&cfg, l, tt.id, tt.value)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", name, err)
		}
		if (j != nil) != (err == nil) || len(l.Jobs) != 0 && err != nil {
			t.Errorf("%s: the ledger has %d jobs", name, len(l.Jobs))
		}
		if err == nil {
			j.Facts.Expired = true
			if again, err := addRecord(&cfg, l, tt.id, tt.value); again != j || err != nil || !again.Facts.Expired {
				t.Errorf("%s: told again it is %v, %v", name, again, err)
			}
		}
	}
}

// TestRowsTold: whose runs in a row of another's copy are believed: signed, of that task, where
// they belong, with no output that the job does not name, and where receipts are asked for of
// who had the lease. What a copy has already is not looked at again.
func TestRowsTold(t *testing.T) {
	s := newSigning(t)
	id, spec := s.task(4), s.job.spec
	worker, _ := schedtest.Identity(9)
	good := schedtest.Result(t, worker, id, "x")
	other := schedtest.Result(t, worker, s.task(3), "x")
	leased := good
	leased.Receipt = s.lease(3, 9, id)
	if err := leased.Sign(worker); err != nil {
		t.Fatal(err)
	}
	stolen := good
	stolen.Receipt = s.lease(3, 10, id)
	if err := stolen.Sign(worker); err != nil {
		t.Fatal(err)
	}
	changed := good
	changed.CPU++
	extra := good
	extra.Outputs = []task.Output{{Name: ".bashrc", CID: task.RawCID(nil)}}
	if err := extra.Sign(worker); err != nil {
		t.Fatal(err)
	}
	failure := trap(t, 9, id)
	worse := failure
	worse.Message = "another"
	done := func(r task.Result) *ledger.Row { return &ledger.Row{Results: []task.Result{r}} }
	failed := func(r task.Result) *ledger.Row { return &ledger.Row{Failures: []ledger.Failure{{Result: r}}} }
	for name, tt := range map[string]struct {
		row            *ledger.Row
		ours           *ledger.Row
		want, receipts string
	}{
		"a run":                 {done(good), nil, "", "nothing shows"},
		"a run with its lease":  {done(leased), nil, "", ""},
		"with another's lease":  {done(stolen), nil, "", "receipt"},
		"a failure":             {failed(failure), nil, "", "nothing shows"},
		"known here":            {done(good), done(good), "", ""},
		"a failure known here":  {failed(failure), failed(failure), "", ""},
		"another known here":    {done(changed), done(good), "signature", "signature"},
		"of another task":       {done(other), nil, "a result of task", "a result of task"},
		"a failure as a run":    {done(failure), nil, "a result of task", "a result of task"},
		"a run as a failure":    {failed(good), nil, "a result of task", "a result of task"},
		"changed since":         {done(changed), nil, "signature", "signature"},
		"failed, changed since": {failed(worse), nil, "signature", "signature"},
		"more than was asked":   {done(extra), nil, ".bashrc", "nothing shows"},
	} {
		for receipts, want := range map[bool]string{false: tt.want, true: tt.receipts} {
			err := eachResult(tt.row, id, func(r *task.Result) error {
				if tt.ours.Has(r) {
					return nil
				}
				return verifyResult(r, spec, receipts, nil)
			})
			if !receipts {
				err = verifyRow(tt.row, tt.ours, spec, id)
			}
			if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%s, receipts asked for: %v: %v, want %q", name, receipts, err, want)
			}
		}
	}
}
