package measure

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
)

// run0 is when made runs begin; sec is so many seconds later.
var run0 = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

func sec(s float64) time.Time { return run0.Add(time.Duration(s * float64(time.Second))) }

// lease is an attempt from lease to end at a worker; NaN-free zeros leave out began and end.
func lease(worker task.PeerID, start, began, end float64, outcome string) message.AttemptStatus {
	a := message.AttemptStatus{Worker: worker, Start: sec(start), Outcome: outcome}
	if began != 0 {
		a.Began = sec(began)
	}
	if end != 0 {
		a.End = sec(end)
	}
	return a
}

// oneTask is a run of 100 s with a job of one task, submitted after a second.
func oneTask(state string, attempts ...message.AttemptStatus) *Run {
	st := message.JobStatus{ID: "j", Submitted: sec(1), Tasks: message.TaskCounts{Total: 1}}
	if state != "" {
		st.TasksList = []message.TaskStatus{{State: state, Attempts: attempts}}
	}
	return &Run{From: sec(0), Until: sec(100), Scale: 1, Jobs: []Job{{Class: "a", Work: time.Second, Status: st}}}
}

// moved is an attempt that went on elsewhere.
func moved(a message.AttemptStatus, to task.PeerID) message.AttemptStatus {
	a.Outcome, a.MovedTo = ledger.Moved, to
	return a
}

// beside is an attempt whose task ended elsewhere.
func beside(a message.AttemptStatus) message.AttemptStatus {
	a.Reason = message.DropSuperseded
	return a
}

// saved is an attempt that a checkpoint spared so many seconds.
func saved(a message.AttemptStatus, s float64) message.AttemptStatus {
	a.FromCheckpoint, a.SavedCPU = true, s
	return a
}

func TestMeasureTasks(t *testing.T) {
	const done = "completed"
	type parts struct{ waiting, communication, execution, response float64 } // -1: none
	for _, test := range []struct {
		name     string
		run      *Run
		state    string
		server   task.PeerID
		want     parts
		attempts int
		timedOut int
		moves    int
		lost     float64
	}{
		{"in one piece", oneTask("done", lease("x", 3, 3.5, 8, done)), TaskDone, "x", parts{2, .5, 4.5, 7}, 1, 0, 0, 0},
		{"nothing known", oneTask(""), taskWaiting, "", parts{-1, -1, -1, -1}, 0, 0, 0, 0},
		{"never sent", oneTask("waiting"), taskWaiting, "", parts{-1, -1, -1, -1}, 0, 0, 0, 0},
		{"still running", oneTask("running", lease("x", 3, 0, 0, "")), TaskRunning, "x", parts{2, -1, -1, -1}, 1, 0, 0, 0},
		{"its worker's word is lost", oneTask("done", lease("x", 3, 0, 8, done)), TaskDone, "x", parts{2, -1, -1, 7}, 1, 0,
			0, 0},
		{"ended after the run", oneTask("done", lease("x", 3, 4, 108, done)), TaskRunning, "x", parts{2, 1, -1, -1}, 1, 0, 0,
			0},
		{"sent after the run", oneTask("done", lease("x", 101, 102, 108, done)), taskWaiting, "", parts{-1, -1, -1, -1}, 0,
			0, 0, 0},
		{"lost once", oneTask("done", lease("x", 2, 0, 6, "lost"), lease("y", 7, 7.5, 9, done)), TaskDone, "y",
			parts{6, .5, 1.5, 8}, 2, 0, 0, 4},
		{"lost, and goes on", oneTask("done", lease("x", 2, 0, 6, "lost"), saved(lease("y", 7, 7.5, 9, done), 3)), TaskDone,
			"y", parts{6, .5, 1.5, 8}, 2, 0, 0, 1},
		{"lost, and waits", oneTask("waiting", lease("x", 2, 0, 6, "lost")), taskWaiting, "x", parts{-1, -1, -1, -1}, 1, 0,
			0, 4},
		{"took too long", oneTask("done", lease("x", 2, 0, 6, ledger.Overdue), lease("y", 7, 7.5, 9, done)), TaskDone, "y",
			parts{6, .5, 1.5, 8}, 2, 1, 0, 4},
		{"refused and recalled", oneTask("done", lease("x", 2, 0, 3, "refused"),
			message.AttemptStatus{Worker: "v", Start: sec(4), End: sec(5), Outcome: "superseded", Reason: message.DropMoved},
			message.AttemptStatus{Worker: "z", Start: sec(3), End: sec(4), Outcome: "superseded",
				Reason: message.DropRecall},
			lease("y", 7, 7.5, 9, done)), TaskDone, "y", parts{6, .5, 1.5, 8}, 1, 0, 0, 0},
		{"moved twice", oneTask("done", moved(lease("x", 2, 3, 6, ""), "y"), moved(lease("y", 6, 6.1, 8, ""), "x"),
			lease("x", 8, 8.1, 12, done)),
			TaskDone, "x", parts{1, 1, 9, 11}, 3, 0, 2, 0},
		{"moved, then lost, then there again", oneTask("done", moved(lease("x", 2, 3, 6, ""), "y"),
			lease("y", 6, 0, 8, "lost"), lease("y", 9, 9.5, 12, done)),
			TaskDone, "y", parts{8, .5, 2.5, 11}, 3, 0, 0, 6},
		{"lost, then moved", oneTask("done", lease("z", 1, 0, 2, "lost"), moved(lease("x", 2, 3, 6, ""), "y"),
			lease("y", 6, 6.1, 12, done)),
			TaskDone, "y", parts{1, 1, 9, 11}, 3, 0, 1, 1},
		{"two copies, the later ahead", oneTask("done", beside(lease("x", 2, 0, 9, "superseded")),
			lease("y", 5, 6, 9, done)), TaskDone, "y", parts{4, 1, 3, 8}, 2, 0, 0, 7},
		{"two copies, both to their end", oneTask("done", lease("x", 2, 3, 10, done), lease("y", 5, 6, 9, done)), TaskDone,
			"y", parts{4, 1, 3, 8}, 2, 0, 0, 8},
		{"two copies that run", oneTask("running", lease("x", 2, 0, 0, ""), lease("y", 5, 0, 0, "")), TaskRunning, "y",
			parts{4, -1, -1, -1}, 2, 0, 0, 0},
		{"failed for good", oneTask("failed", lease("x", 2, 0, 3, "trapped"), lease("y", 5, 6, 9, "trapped")), TaskFailed,
			"y", parts{4, 1, 3, 8}, 2, 0, 0, 1},
		{"all at once", oneTask("done", lease("x", 1, 1, 1, done)), TaskDone, "x", parts{0, 0, 0, 0}, 1, 0, 0, 0},
		{"a clock that two read", oneTask("done", lease("x", .9995, 3, 8, done)), TaskDone, "x", parts{0, 2, 5, 7}, 1, 0, 0,
			0},
	} {
		t.Run(test.name, func(t *testing.T) {
			tasks, err := Tasks(test.run)
			if err != nil || len(tasks) != 1 {
				t.Fatalf("%d tasks, %v; want one", len(tasks), err)
			}
			m := &tasks[0]
			got := parts{seen(m.waiting), seen(m.communication), seen(m.execution), seen(m.response)}
			if got != test.want {
				t.Errorf("parts %v, want %v", got, test.want)
			}
			if m.State != test.state || m.Server != test.server {
				t.Errorf("it is %s on %q, want %s on %q", m.State, m.Server, test.state, test.server)
			}
			if m.Attempts != test.attempts || m.TimedOut != test.timedOut || m.Moves != test.moves ||
				m.Lost.Seconds() != test.lost {
				t.Errorf("%d attempts, %d timed out, %d moves, %v lost; want %d, %d, %d, %gs", m.Attempts, m.TimedOut, m.Moves,
					m.Lost, test.attempts, test.timedOut, test.moves, test.lost)
			}
		})
	}
}

// seen is a part in seconds, -1 where it is not known.
func seen(part func() (time.Duration, bool)) float64 {
	d, ok := part()
	if !ok {
		return -1
	}
	return d.Seconds()
}

func TestMeasureTasksRefusesDisorder(t *testing.T) {
	for name, test := range map[string]struct {
		run  *Run
		want string
	}{
		"sent before it was submitted": {oneTask("done", lease("x", .5, 3, 8, "completed")),
			"task j/0 was sent 500ms before it was submitted"},
		"done before it was started": {oneTask("done", lease("x", 2, 9, 8, "completed")),
			"task j/0 was done 1s before it was started"},
		"done before it was sent": {oneTask("done", lease("x", 9, 0, 8, "completed")),
			"task j/0 was done 1s before it was sent"},
	} {
		if _, err := Tasks(test.run); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
}

// TestMeasureTasksLeavesOutOthers: jobs of before and after the run are not measured.
func TestMeasureTasksLeavesOutOthers(t *testing.T) {
	r := oneTask("done", lease("x", 3, 4, 8, "completed"))
	for _, at := range []float64{-1, 100, 200} {
		j := r.Jobs[0]
		j.Status.Submitted = sec(at)
		r.Jobs = append(r.Jobs, j)
	}
	if tasks, err := Tasks(r); err != nil || len(tasks) != 1 {
		t.Errorf("%d tasks (%v), want one", len(tasks), err)
	}
}

// drawRun makes a run with jobs of all sorts: attempts that are lost, moved, refused,
// superseded, copied, and at the same times.
func drawRun(t *rapid.T) *Run {
	r := &Run{From: run0, Until: sec(60), Scale: rapid.Float64Range(0.1, 1000).Draw(t, "scale")}
	peers := []task.PeerID{"w", "x", "y", "z"}
	for _, p := range peers[:3] {
		r.Servers = append(r.Servers, Server{Name: "host " + string(p), Peer: p})
	}
	r.Classes = []Class{{Name: "a"}, {Name: "b"}}
	for k := range rapid.IntRange(0, 6).Draw(t, "jobs") {
		at := rapid.Int64Range(0, int64(50*time.Second)).Draw(t, "submitted")
		st := message.JobStatus{ID: task.JobID("job" + string(rune('a'+k))), Submitted: run0.Add(time.Duration(at))}
		for i := range rapid.IntRange(1, 3).Draw(t, "tasks") {
			one := message.TaskStatus{Index: uint64(i), State: rapid.SampledFrom([]string{"done", "running", "waiting",
				"failed"}).Draw(t, "state")}
			now := at
			for range rapid.IntRange(0, 4).Draw(t, "attempts") {
				later := func(name string) time.Time {
					now += rapid.Int64Range(0, int64(20*time.Second)).Draw(t, name)
					return run0.Add(time.Duration(now))
				}
				a := message.AttemptStatus{Worker: rapid.SampledFrom(peers).Draw(t, "worker"), Start: later("start")}
				if rapid.Bool().Draw(t, "told") {
					a.Began = later("began")
				}
				a.Outcome = rapid.SampledFrom([]string{"completed", "lost", "refused", "superseded", "moved", "trapped",
					"timed-out", "overdue", ""}).Draw(t, "outcome")
				if a.Outcome != "" {
					a.End = later("end")
				}
				if a.Outcome == ledger.Moved {
					a.MovedTo = rapid.SampledFrom(peers).Draw(t, "to")
				}
				if a.SavedCPU = float64(rapid.IntRange(0, 5).Draw(t, "saved")); rapid.Bool().Draw(t, "copy") {
					now = at // the next runs beside it
				}
				one.Attempts = append(one.Attempts, a)
			}
			st.TasksList = append(st.TasksList, one)
		}
		st.Tasks.Total = uint64(len(st.TasksList))
		r.Jobs = append(r.Jobs, Job{Class: rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "class"), Work: time.Second,
			Status: st})
	}
	return r
}

// TestPartsAddUp: whatever became of a task, its parts add up to its response, to the
// nanosecond and, in the exports, to the last decimal; none is negative, and nothing is
// counted twice.
func TestPartsAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawRun(t)
		tasks, err := Tasks(r)
		if err != nil {
			t.Fatal(err)
		}
		want := 0
		for _, j := range r.Jobs {
			want += int(j.Status.Tasks.Total)
		}
		if len(tasks) != want {
			t.Fatalf("%d tasks of %d", len(tasks), want)
		}
		for i := range tasks {
			m := &tasks[i]
			w, sent := m.waiting()
			c, started := m.communication()
			e, ended := m.execution()
			all, ok := m.response()
			if ok && sent && started && ended && w+c+e != all || w < 0 || c < 0 || e < 0 || m.Lost < 0 {
				t.Fatalf("%+v: %v, %v and %v are not %v", m, w, c, e, all)
			}
			if (m.State == TaskDone || m.State == TaskFailed) != !m.Done.IsZero() {
				t.Fatalf("%s with an end at %v", m.State, m.Done)
			}
			us := []int64{r.micros(m.Submitted), r.micros(m.Sent), r.micros(m.Started), r.micros(m.Done)}
			if us[1]-us[0]+us[2]-us[1]+us[3]-us[2] != us[3]-us[0] {
				t.Fatalf("%v do not add up", us)
			}
		}
		rows := Classes(r, tasks)
		all, sum := rows[len(rows)-1], ClassRow{}
		for _, row := range rows[:len(rows)-1] {
			sum.Arrived, sum.Done, sum.Failed = sum.Arrived+row.Arrived, sum.Done+row.Done, sum.Failed+row.Failed
		}
		if sum.Arrived != all.Arrived || sum.Done != all.Done || sum.Failed != all.Failed || all.Arrived != len(tasks) {
			t.Fatalf("classes have %+v, all %+v", sum, all)
		}
		for _, e := range eventsOf(r, tasks) {
			if e.At.Before(r.From) || e.At.After(r.Until) {
				t.Fatalf("%+v is not of the run", e)
			}
		}
	})
}
