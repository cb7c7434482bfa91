package replay

import (
	"context"
	"slices"
	"sync"
	"time"

	"godwit/api"
	"godwit/lab/testbed/clock"
	"godwit/lab/testbed/measure"
	"godwit/lab/testbed/plan"
	"godwit/scheduler/message"
	"godwit/task"
)

// Live gives access to a test-bed's run during and after its execution. Methods are safe for concurrent use.
type Live struct {
	r *replay

	mu       sync.Mutex
	statuses map[int]message.JobStatus // last known status of each job, by arrival number
	done     map[int]bool              // arrival numbers of completed jobs
	ended    time.Time                 // end of the run, zero during the run
	states   []string                  // server states at the end of the run
}

const (
	// readEvery is the interval between requests for the status of unfinished jobs, and mostRead the number of jobs that
	// are requested at once.
	readEvery = time.Second
	mostRead  = 256
)

// follow returns the Live of a run that starts.
func (r *replay) follow() *Live {
	return &Live{r: r, statuses: map[int]message.JobStatus{}, done: map[int]bool{}}
}

// Policy returns the name of the run's policies.
func (l *Live) Policy() string { return l.r.plan.Name() }

func (l *Live) over() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.ended.IsZero()
}

// read requests the status of unfinished jobs until ctx ends.
func (l *Live) read(ctx context.Context) {
	clients := map[string]*api.Client{}
	defer func() {
		for _, c := range clients {
			c.Close()
		}
	}()
	next := 0 // arrival number of the first job to request
	for at := time.Now().Add(readEvery); clock.SleepUntil(ctx, at); at = time.Now().Add(readEvery) {
		jobs := l.open()
		begin, _ := slices.BinarySearchFunc(jobs, next, func(j openJob, n int) int { return j.number - n })
		for i := range min(len(jobs), mostRead) {
			j := jobs[(begin+i)%len(jobs)]
			next = j.number + 1
			client := clients[j.player.setup.Dir]
			if client == nil {
				client = api.Dial(j.player.setup.Dir)
				clients[j.player.setup.Dir] = client
			}
			if st, err := client.Job(ctx, string(j.id)); err == nil { // a failed node is tried again in the next round
				l.note(j.number, st)
			}
		}
	}
}

// openJob is a job that is not known to be complete.
type openJob struct {
	number int
	id     task.JobID
	player *player
}

// open returns the unfinished jobs of running nodes in order of arrival.
func (l *Live) open() (jobs []openJob) {
	l.r.mu.Lock()
	defer l.r.mu.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, h := range l.r.handed {
		if h.id != "" && !l.done[i] && l.r.players[h.peer].up() != nil {
			jobs = append(jobs, openJob{i, h.id, l.r.players[h.peer]})
		}
	}
	return jobs
}

// note stores the status of a job.
func (l *Live) note(number int, st message.JobStatus) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.statuses[number] = st
	ended := 0
	for _, t := range st.TasksList {
		if slices.ContainsFunc(t.Attempts, func(a message.AttemptStatus) bool {
			return a.Outcome == task.Completed.String() && !a.End.IsZero()
		}) {
			ended++
		}
	}
	l.done[number] = st.Tasks.Total > 0 && uint64(ended) == st.Tasks.Total
}

// end marks the end of the run, after which servers cannot be controlled.
func (l *Live) end() {
	now := time.Now()
	states := l.r.states(now)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended.IsZero() {
		l.ended, l.states = now, states
	}
}

// take stores the final status of each job.
func (l *Live) take(jobs []message.JobStatus) {
	byID := map[task.JobID]message.JobStatus{}
	for _, j := range jobs {
		byID[j.ID] = j
	}
	l.r.mu.Lock()
	defer l.r.mu.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, h := range l.r.handed {
		if st, ok := byID[h.id]; ok {
			l.statuses[i] = st
		}
	}
}

// states returns the state of each server.
func (r *replay) states(now time.Time) (out []string) {
	for _, p := range r.players {
		out = append(out, p.state(now))
	}
	return out
}

// Snapshot returns the current results of the run. Job statuses are up to a second old.
func (l *Live) Snapshot() measure.Snapshot {
	r := l.r
	now := time.Now()
	if end := r.clock.Real(r.plan.Scenario.End); now.After(end) {
		now = end
	}
	states := r.states(now)
	r.mu.Lock()
	defer r.mu.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.ended.IsZero() {
		states = l.states
		if l.ended.Before(now) {
			now = l.ended
		}
	}
	unit := r.plan.Bed.Unit.Seconds()
	at := max(0, now.Sub(r.clock.Begun).Seconds()) * r.plan.Speedup / unit
	length := r.plan.Scenario.End.Sub(r.plan.Scenario.Start).Seconds() / unit
	out := l.count(now, unit).Snapshot(at, length, func(i int) string { return states[i] })
	out.Published = r.plan.Published
	return out
}

// count counts the tasks at a time. The caller holds both locks.
func (l *Live) count(now time.Time, unit float64) *measure.Counter {
	r := l.r
	server, class := map[task.PeerID]int{}, map[string]int{}
	var names, classes []string
	for i, p := range r.players {
		server[p.peer], names = i, append(names, p.planned.Host)
	}
	for k, c := range r.plan.Bed.Classes {
		class[c.Name], classes = k, append(classes, c.Name)
	}
	count := measure.NewCounter(r.plan.Placement, classes, names)
	for i, h := range r.handed {
		k := class[h.planned.Class]
		count.Arrive(k, h.planned.Tasks)
		for _, t := range l.times(i, &h.planned, now) {
			at, known := server[t.Server]
			if !known || t.State != measure.TaskRunning && t.Done.IsZero() {
				continue
			}
			count.Run(k, at)
			switch t.State {
			case measure.TaskDone:
				count.Finish(k, at, t.Done.Sub(t.Submitted).Seconds()*r.plan.Speedup/unit)
			case measure.TaskFailed:
				count.Fail(k, at)
			}
		}
	}
	return count
}

// times measures the tasks of a job. It returns nil if the status is unknown or temporarily inconsistent.
func (l *Live) times(number int, planned *plan.Job, until time.Time) []measure.TaskTimes {
	st, ok := l.statuses[number]
	if !ok {
		return nil
	}
	tasks, err := measure.Tasks(&measure.Run{From: l.r.clock.Begun, Until: until, Scale: l.r.plan.Speedup,
		Jobs: []measure.Job{{Class: planned.Class, Work: planned.Work, Status: st}}})
	if err != nil {
		return nil
	}
	return tasks
}
