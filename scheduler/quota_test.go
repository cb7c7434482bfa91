package scheduler

import (
	"strings"
	"testing"
	"time"

	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// heavy has a record take somewhat less than heavyBytes.
func heavy(j *task.Job) { j.Args = []string{strings.Repeat("x", heavyBytes-1000)} }

const heavyBytes = 900_000

// TestQuotas: what one submitter may have at the leader of an open overlay, and of a closed one.
func TestQuotas(t *testing.T) {
	for name, c := range map[string]struct {
		rules  Rules
		jobs   int
		change func(*task.Job)
		tasks  uint64
		want   int // jobs that are taken
		says   string
	}{
		"few":          {Rules{Open: true}, 90, nil, 10, 90, ""},
		"jobs":         {Rules{Open: true}, 130, nil, 10, maxJobsEach, "has 100 jobs"},
		"jobs, closed": {Rules{}, 130, nil, 10, 130, ""},
		"tasks":        {Rules{Open: true}, 3, nil, task.MaxTasks / 2, 2, "at most 1000000000000"},
		"bytes":        {Rules{Open: true}, 95, heavy, 10, maxRecordsEach / heavyBytes, "MiB of records"},
	} {
		p := newOpenPool(t, c.rules, 1, 1)
		for range c.jobs {
			p.submit(greedyOne, c.tasks, time.Hour, c.change)
		}
		if n := len(p.c.Jobs()); n != c.want {
			t.Errorf("%s: %d jobs are taken, want %d", name, n, c.want)
		}
		for _, said := range p.refused {
			if !strings.Contains(said, c.says) {
				t.Errorf("%s: a job is refused for %q, want %q", name, said, c.says)
			}
		}
		if len(p.refused) != c.jobs-c.want {
			t.Errorf("%s: %d jobs are refused, want %d", name, len(p.refused), c.jobs-c.want)
		}
	}
}

// TestFloorOfChecks: a job that has less checked than the rules want is refused.
func TestFloorOfChecks(t *testing.T) {
	floor := &task.Verify{Audits: 50_000}
	for text, says := range map[string]string{"off": "the job with off", "4%": "the job with 4%", "5%": "", "full": ""} {
		p := newOpenPool(t, Rules{Open: true, Verify: floor}, 1, 1)
		id := p.submit(greedyOne, 1, time.Hour, func(j *task.Job) {
			j.Verify, _ = task.ParseVerify(text)
		})
		if got := p.refused[id]; (got == "") != (says == "") || !strings.Contains(got, says) {
			t.Errorf("verify: %s is refused for %q", text, got)
		}
	}
}

// TestQuotaEnds: one of whose jobs one is over, or cancelled, may hand in another.
func TestQuotaEnds(t *testing.T) {
	p := newOpenPool(t, Rules{Open: true}, 1, 1)
	key, from := schedtest.Identity(greedyOne)
	var first task.JobID
	for range maxJobsEach {
		id := p.submit(greedyOne, 10, time.Hour, nil)
		if first == "" {
			first = id
		}
	}
	if p.submit(greedyOne, 10, time.Hour, nil); len(p.refused) != 1 {
		t.Fatal("one more than the quota is taken")
	}
	p.step(&message.Received{From: from, Message: &message.Message{Cancel: &message.Cancel{Job: first,
		Signature: task.SignCancel(first, key)}}})
	p.step(&message.Received{From: from, Message: &message.Message{Got: &message.Got{Job: first, Final: true,
		Signature: task.SignCancel(first, key)}}})
	p.c.table.jobs[first].told = true // whatever its submitter signs to say so
	if p.submit(greedyOne, 10, time.Hour, nil); len(p.refused) != 1 {
		t.Errorf("refused though one is over: %v", p.refused)
	}
	if p.c.table.heard != (pile{maxJobsEach, sumOf(p.c)}) || p.c.table.told != (pile{}) {
		t.Errorf("piles are %+v and %+v, want all %d in the first", p.c.table.heard, p.c.table.told, sumOf(p.c))
	}
}

// sumOf is the size of all records.
func sumOf(c *Coordinator) int64 {
	var sum int64
	for _, j := range c.table.jobs {
		sum += recordBytes(&j.ledger.Record)
	}
	return sum
}

// TestQuotaOfWhatIsTold: what others tell of a submitter's jobs is bounded, too, and takes no
// room from those who speak.
func TestQuotaOfWhatIsTold(t *testing.T) {
	p := newOpenPool(t, Rules{Open: true}, 2, 1)
	p.c.cfg.MaxJobs = 150
	for range 3 * maxJobsEach {
		p.tell(p.members[0], p.record(greedyOne, 10, time.Hour, nil))
	}
	if n := len(p.c.table.jobs); n != 2*maxJobsEach {
		t.Errorf("%d jobs of one are taken in, want as many as two sides of a split could have", n)
	}
	for k := range 3 * maxJobsEach {
		p.tell(p.members[0], p.record(100+k, 10, time.Hour, nil))
	}
	if n := len(p.c.table.jobs); n != 300 {
		t.Errorf("%d jobs are taken in, want 300", n)
	}
	honest := p.submit(honestOne, 10, time.Second, nil)
	if p.run(time.Minute); p.done[honest] != 10 {
		t.Errorf("%d of 10 tasks of the honest job are done: %s", p.done[honest], p.refused[honest])
	}
}

// TestRoomForNewcomers: a few that fill a leader leave room for who has nothing there yet.
func TestRoomForNewcomers(t *testing.T) {
	p := newOpenPool(t, Rules{Open: true}, 1, 1)
	p.c.cfg.MaxJobs = 160
	for k := range 4 {
		for range maxJobsEach {
			p.submit(100+k, 10, time.Hour, nil)
		}
	}
	if n := len(p.c.table.jobs); n > 143 {
		t.Errorf("four have %d jobs of 160", n)
	}
	if id := p.submit(honestOne, 10, time.Second, nil); p.refused[id] != "" {
		t.Errorf("a newcomer is refused: %s", p.refused[id])
	}
	if id := p.submit(honestOne, 10, time.Second, nil); p.refused[id] == "" {
		t.Error("his second job is taken")
	}
}
