package scheduler

import (
	"strings"
	"testing"
	"time"

	"godwit/scheduler/message"
	"godwit/task"
)

const year = 365 * 24 * time.Hour

// forLong has tasks that may take years.
func forLong(j *task.Job) { greedily(j); j.Timeout = task.MaxDuration }

// unsaved is the same of tasks whose state is of no use to another attempt.
func unsaved(j *task.Job) { forLong(j); j.Checkpoint.Off = true }

// TestLongTasksOfOthers: an honest job that comes when others' tasks of a year hold every slot
// is through soon, and what was stopped for it goes on.
func TestLongTasksOfOthers(t *testing.T) {
	for name, c := range map[string]struct {
		rules  Rules
		greedy int // submitters
		slots  int // of each of two members
		change func(*task.Job)
		within time.Duration // 0: not at all
	}{
		"as it was":                {Rules{Open: true, Priorities: true}, 1, 2, forLong, 0},
		"one":                      {Rules{Open: true}, 1, 2, forLong, time.Minute},
		"one, unsaved":             {Rules{Open: true}, 1, 2, unsaved, time.Minute},
		"as many as slots":         {Rules{Open: true}, 4, 2, forLong, time.Minute},
		"as many, unsaved":         {Rules{Open: true}, 4, 2, unsaved, time.Minute},
		"more than slots":          {Rules{Open: true}, 12, 2, forLong, 2 * time.Minute},
		"more than slots, unsaved": {Rules{Open: true}, 12, 2, unsaved, 2 * time.Minute},
		"weighted":                 {Rules{Open: true, Fairness: "weighted"}, 4, 2, forLong, time.Minute},
	} {
		p := newOpenPool(t, c.rules, 2, c.slots)
		var greedy []task.JobID
		for k := range c.greedy {
			for range 3 {
				greedy = append(greedy, p.submit(100+k, 1000, year, c.change))
			}
			p.run(time.Second)
		}
		p.run(10 * time.Minute)
		honest, began := p.submit(honestOne, 6, 2*time.Second, nil), p.now
		for p.done[honest] < 6 && p.now.Before(began.Add(20*time.Minute)) {
			p.run(time.Second)
		}
		took := p.now.Sub(began)
		if c.within == 0 && p.done[honest] > 0 || c.within > 0 && took > c.within {
			t.Errorf("%s: %d of 6 tasks are done after %v, want all within %v", name, p.done[honest], took, c.within)
		}
		if p.run(time.Minute); p.runsOf(greedy...) != 4 {
			t.Errorf("%s: afterwards %d of 4 slots are used", name, p.runsOf(greedy...))
		}
		if p.lost > 0 && c.change != nil && !strings.Contains(name, "unsaved") {
			t.Errorf("%s: %d tasks were stopped with nothing saved", name, p.lost)
		}
	}
}

// TestRecallSays: why a task was stopped is told.
func TestRecallSays(t *testing.T) {
	p := newOpenPool(t, Rules{Open: true}, 1, 1)
	greedy := p.submit(greedyOne, 1, year, unsaved)
	p.run(time.Minute)
	p.submit(honestOne, 100, time.Hour, nil)
	p.run(time.Minute)
	const says = "its last attempt ended as recalled: its submitter has 1 of 1 slots, its share is 0.5, and another has " +
		"waited with 0"
	if said := whys(p.c, greedy, 0); !strings.Contains(said, says) {
		t.Errorf("it says %q, want %q", said, says)
	}
	st, _ := p.c.Job(greedy, message.Page{Limit: 1})
	if a := st.TasksList[0].Attempts; len(a) != 1 || a[0].Outcome != "recalled" {
		t.Errorf("its attempts: %+v", a)
	}
}

// TestRecallIsQuiet: shares that are met within a slot, and short tasks, are left alone.
func TestRecallIsQuiet(t *testing.T) {
	for name, c := range map[string]struct {
		submitters, slots int
		takes             time.Duration
	}{
		"odd":              {2, 3, year},
		"three of eight":   {3, 8, year},
		"alone":            {1, 8, year},
		"short":            {3, 8, 10 * time.Second},
		"short, very many": {30, 8, 5 * time.Second},
	} {
		p := newOpenPool(t, Rules{Open: true}, 1, c.slots)
		p.members[0].slots = 0 // all are there before the first slot is
		p.say(p.members[0])
		for k := range c.submitters {
			p.submit(100+k, 100_000, c.takes, unsaved)
		}
		p.members[0].slots = c.slots
		p.run(20 * time.Minute)
		if p.lost > 0 {
			t.Errorf("%s: %d tasks were stopped", name, p.lost)
		}
	}
}

// TestRecallEnds: tasks that take minutes and cannot be saved come to their end, however many
// submitters wait.
func TestRecallEnds(t *testing.T) {
	p := newOpenPool(t, Rules{Open: true}, 1, 2)
	var jobs []task.JobID
	for k := range 6 {
		jobs = append(jobs, p.submit(100+k, 2, 10*time.Minute, unsaved))
	}
	p.run(4 * time.Hour)
	for k, id := range jobs {
		if p.done[id] != 2 {
			t.Errorf("submitter %d: %d of 2 tasks of ten minutes are done after hours; %d were stopped", k, p.done[id], p.lost)
		}
	}
}

// TestRecallIsBounded: a large pool that one submitter fills is given to another bit by bit,
// and then half of it.
func TestRecallIsBounded(t *testing.T) {
	p := newOpenPool(t, Rules{Open: true}, 16, 4)
	greedy := p.submit(greedyOne, 10_000, year, forLong)
	p.run(2 * time.Minute)
	honest := p.submit(honestOne, 10_000, year, nil)
	was := p.runsOf(greedy)
	for range 60 {
		p.run(lookEvery)
		now := p.runsOf(greedy)
		if was-now > 64/recallPart {
			t.Fatalf("%d slots were taken back at once", was-now)
		}
		was = now
	}
	if n := p.runsOf(honest); n < 31 || n > 33 || p.lost > 0 {
		t.Errorf("the second submitter has %d of 64 slots, and %d tasks were stopped unsaved", n, p.lost)
	}
}

// TestNewcomersKeepNobodyWaiting: a stream of submitters that nobody knew has no more than its part.
func TestNewcomersKeepNobodyWaiting(t *testing.T) {
	p := newOpenPool(t, Rules{Open: true}, 1, 2)
	honest := p.submit(honestOne, 10_000, 20*time.Second, nil)
	for k := range 360 { // with three quarters of what both slots do
		p.submit(1000+k, 1, 15*time.Second, forLong)
		p.run(10 * time.Second)
	}
	if n := p.done[honest]; n < 80 {
		t.Errorf("in an hour of newcomers %d tasks of 20 s are done, for 90 there was time", n)
	}
}
