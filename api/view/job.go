package view

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode"

	"godwit/scheduler/message"
	"godwit/task"
)

// A Timeline is who ran what when, of the newest attempts of a job.
type Timeline struct {
	From time.Time `json:"from,omitzero"`
	To   time.Time `json:"to,omitzero"`
	Rows []Lane    `json:"rows"` // by who began first
	More int       `json:"more"` // attempts that are known and not shown
}

// A Lane is a worker's.
type Lane struct {
	Worker task.PeerID `json:"worker"`
	Bars   []Bar       `json:"bars"`
}

// A Bar is an attempt.
type Bar struct {
	Task           uint64      `json:"task"`
	From           time.Time   `json:"from"`
	To             time.Time   `json:"to"`      // now, of one that runs
	Outcome        string      `json:"outcome"` // "running" while it does
	FromCheckpoint bool        `json:"from_checkpoint,omitempty"`
	MovedTo        task.PeerID `json:"moved_to,omitempty"`
}

const (
	// maxLanes and maxBars bound a timeline: 1,000 bars are 150 kB, and as many as a screen is wide.
	maxLanes = 100
	maxBars  = 1000
	running  = "running"
)

// NewTimeline makes a timeline of tasks in at most so many lanes; what runs is drawn until now.
func NewTimeline(tasks []message.TaskStatus, lanes int, now time.Time) Timeline {
	type bar struct {
		Bar
		worker task.PeerID
	}
	var all []bar
	for i := range tasks {
		for _, a := range tasks[i].Attempts {
			b := Bar{tasks[i].Index, a.Start.UTC(), a.End.UTC(), cmp.Or(a.Outcome, running), a.FromCheckpoint, a.MovedTo}
			if a.End.IsZero() {
				b.To = now.UTC()
			}
			b.To = maxTime(b.From, b.To)
			all = append(all, bar{b, a.Worker})
		}
	}
	slices.SortStableFunc(all, func(a, b bar) int { return b.To.Compare(a.To) }) // the newest first
	t := Timeline{Rows: []Lane{}}
	at := map[task.PeerID]int{}
	for i, b := range all {
		k, ok := at[b.worker]
		if !ok && len(t.Rows) == min(lanes, maxLanes) || i-t.More >= maxBars {
			t.More++
			continue
		}
		if !ok {
			k = len(t.Rows)
			at[b.worker] = k
			t.Rows = append(t.Rows, Lane{Worker: b.worker})
		}
		t.Rows[k].Bars = append(t.Rows[k].Bars, b.Bar)
		if t.From.IsZero() || b.From.Before(t.From) {
			t.From = b.From
		}
		t.To = maxTime(t.To, b.To)
	}
	for i := range t.Rows {
		slices.SortStableFunc(t.Rows[i].Bars, func(a, b Bar) int { return a.From.Compare(b.From) })
	}
	slices.SortStableFunc(t.Rows, func(a, b Lane) int { return a.Bars[0].From.Compare(b.Bars[0].From) })
	return t
}

// Brief is a job as a list has it: how it stands, and none of what it is made of.
func Brief(j message.JobStatus) message.JobStatus {
	j.Name, j.Reason, j.Error, j.Note = clean(j.Name), clean(j.Reason), clean(j.Error), clean(j.Note)
	j.Taken, j.Added, j.Stages, j.Checks, j.Loans, j.Failures, j.TasksList = nil, nil, nil, nil, nil, nil, nil
	return j
}

// Failures are the tasks of a job that failed, grouped by how.
type Failures struct {
	Groups []Failure `json:"groups"` // the largest first
	More   int       `json:"more"`   // groups that are not shown
	Looked uint64    `json:"looked"` // failed tasks that were looked at
	Failed uint64    `json:"failed"` // of the job
}

// A Failure is how some tasks failed, by the first of them.
type Failure struct {
	Reason   string        `json:"reason"`
	Outcome  string        `json:"outcome"`
	ExitCode uint32        `json:"exit_code"`
	Tasks    uint64        `json:"tasks"`
	First    uint64        `json:"first"`
	Peers    []task.PeerID `json:"peers"`  // of the first
	Stderr   string        `json:"stderr"` // its end, as far as it is kept
}

// A FailedTask is one.
type FailedTask struct {
	Index    uint64
	Reason   string
	Outcome  string
	ExitCode uint32
	Peers    []task.PeerID
	Stderr   []byte
}

const (
	// maxGroups bounds the groups, and maxStderr what is shown of standard error, in bytes.
	maxGroups = 20
	maxStderr = 4096
)

// NewFailures groups tasks that failed.
func NewFailures(tasks []FailedTask, failed uint64) Failures {
	f := Failures{Groups: []Failure{}, Looked: uint64(len(tasks)), Failed: max(failed, uint64(len(tasks)))}
	at := map[string]int{}
	for _, t := range tasks {
		key := t.Outcome + "\x00" + alike(t.Reason) + "\x00" + string(rune(t.ExitCode))
		k, ok := at[key]
		if !ok {
			k = len(f.Groups)
			at[key] = k
			f.Groups = append(f.Groups, Failure{Reason: clean(t.Reason), Outcome: t.Outcome, ExitCode: t.ExitCode,
				First: t.Index, Peers: t.Peers[:min(len(t.Peers), maxGroups)], Stderr: tail(t.Stderr)})
		}
		f.Groups[k].Tasks++
	}
	slices.SortStableFunc(f.Groups, func(a, b Failure) int { return cmp.Compare(b.Tasks, a.Tasks) })
	f.More = max(0, len(f.Groups)-maxGroups)
	f.Groups = f.Groups[:len(f.Groups)-f.More]
	for i := range f.Groups {
		if f.Groups[i].Peers == nil {
			f.Groups[i].Peers = []task.PeerID{}
		}
	}
	return f
}

// alike is a reason without its numbers: those of one kind differ in them.
func alike(s string) string {
	inNumber := false
	return strings.Map(func(r rune) rune {
		if !unicode.IsDigit(r) {
			inNumber = false
			return r
		}
		if inNumber {
			return -1
		}
		inNumber = true
		return '#'
	}, clean(s))
}

// tail is the end of what a task printed, a line a line.
func tail(b []byte) string {
	b = b[max(0, len(b)-maxStderr):]
	var out []string
	for line := range strings.SplitSeq(string(b), "\n") {
		out = append(out, task.Printable(strings.TrimSuffix(line, "\r"), maxStderr))
	}
	return strings.TrimSpace(strings.Join(out, "\n"))
}

// Stages are the parts of a job and what they wait for.
type Stages struct {
	Stages []Stage `json:"stages"` // those that read none first; empty of a job without stages
}

// A Stage is one of them.
type Stage struct {
	Name  string   `json:"name"`
	Needs []string `json:"needs"` // names of stages
	First uint64   `json:"first"` // the index of its first task
	Count uint64   `json:"count"` // of its tasks
	// Tasks counts them by state, as far as bins of the job tell: of a bin that two stages share
	// each has its part.
	Tasks message.TaskCounts `json:"tasks"`
}

// NewStages makes the graph of a job. g counts its tasks.
func NewStages(spec *task.Job, g *message.Grid) Stages {
	out := Stages{Stages: []Stage{}}
	for i := range spec.Stages {
		s := &spec.Stages[i]
		from, to := spec.StageRange(i)
		x := Stage{Name: clean(s.Name), Needs: []string{}, First: from, Count: to - from, Tasks: countIn(g, from, to)}
		for _, n := range s.Needs {
			x.Needs = append(x.Needs, clean(spec.Stages[n.Stage].Name))
		}
		out.Stages = append(out.Stages, x)
	}
	return out
}

// countIn counts the tasks from one index to another. A bin that is only in part among them gives its share.
// What other cells have counts as running.
func countIn(g *message.Grid, from, to uint64) message.TaskCounts {
	c := message.TaskCounts{Total: to - from}
	for k := from / g.PerBin; k < uint64(len(g.Bins)) && k*g.PerBin < to; k++ {
		begin, end := k*g.PerBin, min((k+1)*g.PerBin, g.Total)
		in, of := min(end, to)-max(begin, from), end-begin
		b := &g.Bins[k]
		c.Running, c.Done, c.Failed = c.Running+(b.Running+b.Lent)*in/of, c.Done+b.Done*in/of, c.Failed+b.Failed*in/of
	}
	c.Waiting = c.Total - min(c.Total, c.Running+c.Done+c.Failed)
	return c
}
